import type { CheckResult, ScanReport } from '../model/report.ts';

type Sentence = (host: string, evidence: string) => string;

const PAYMENT_UNASKED = 'No: nothing here asked for a payment.';

/** Reasons that no request could be made, by P1's outcome. */
const UNREACHABLE: Readonly<Record<string, Sentence>> = {
  dns: (host) => `${host} does not resolve`,
  refused: (host) => `${host} refuses connections`,
  silent: (host) => `${host} does not answer in time`,
  'only-5xx': (host) => `${host} answers nothing but server errors`,
  'blocked-address': (host) => `${host} resolves to an address that is not public`,
  'tls-expired': (host) => `the certificate of ${host} has expired`,
  'tls-self-signed': (host) => `the certificate of ${host} is self-signed`,
  'tls-wrong-host': (host) => `the certificate of ${host} names another host`,
  'tls-unknown-issuer': (host) => `the certificate of ${host} has an unknown issuer`,
  'tls-other': (host) => `${host} speaks no TLS that clients accept`,
};

/** Summaries of requests and answers, by P2's outcome. */
const UNCHALLENGED: Readonly<Record<string, Sentence>> = {
  'none-found': (host, evidence) =>
    evidence.startsWith('nothing declares a paid path')
      ? `Not known: nothing on ${host} declares a paid path.`
      : `Not known: ${evidence}.`,
  'made-up': (_, evidence) => `Not known: ${evidence}.`,
  'other-methods': (_, evidence) => `Not known: ${evidence}.`,
  'tools-uncalled': (_, evidence) => `Not known: ${evidence}.`,
  'validates-only': (_, evidence) => `Not known: input is checked before payment (${evidence}).`,
  'other-protocol': (_, evidence) => `No: ${evidence}.`,
  undecodable: (_, evidence) =>
    `No: a 402 without a challenge that clients can read (${evidence}).`,
  'no-402': (_, evidence) => `No: nothing here asked for a payment (${evidence}).`,
};

/** The answer line of a report without a challenge. */
export function unseenAnswer({ origin, results = [] }: Partial<ScanReport>): string {
  const host = URL.parse(origin ?? '')?.host ?? 'the origin';
  const find = (id: string): CheckResult | undefined => results.find((one) => one.id === id);
  const [reached, challenged] = [find('P1'), find('P2')];
  if (reached?.status === 'fail') {
    const why = UNREACHABLE[reached.outcome]?.(host, reached.evidence);
    return `Not known: ${why ?? `${host} could not be reached`}.`;
  }
  const answer = UNCHALLENGED[challenged?.outcome ?? '']?.(host, challenged?.evidence ?? '');
  return answer ?? PAYMENT_UNASKED;
}
