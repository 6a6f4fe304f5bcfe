/** The answer line of a report without a challenge: P1 or P2 says why nobody can pay, or why that is not known. */
import type { CheckResult, ScanReport } from '../model/report.ts';

type SentenceMaker = (host: string, evidence: string) => string;

const NO_PAYMENT_ASKED = 'No: nothing here asked for a payment.';

/** Reasons why the origin could not be scanned, by the outcome of P1. */
const UNREACHABLE_REASONS: Readonly<Record<string, SentenceMaker>> = {
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

const sayUnreadable: SentenceMaker = (_, evidence) =>
  `No: the seller asks for a payment in a form that clients do not read (${evidence}).`;

/** Answer lines for reports without a challenge, by the outcome of P2. */
const NO_CHALLENGE_LINES: Readonly<Record<string, SentenceMaker>> = {
  'none-found': (host, evidence) =>
    evidence.startsWith('nothing declares a paid path')
      ? `Not known: nothing on ${host} declares a paid path.`
      : `Not known: ${evidence}.`,
  'rate-limited': (host, evidence) =>
    `Not known: ${host} limits how often it may be asked (${evidence}).`,
  unread: (host, evidence) =>
    `Not known: not every document of ${host} could be read (${evidence}).`,
  'made-up': (_, evidence) => `Not known: ${evidence}.`,
  'other-methods': (_, evidence) => `Not known: ${evidence}.`,
  'tools-uncalled': (_, evidence) => `Not known: ${evidence}.`,
  'validates-only': (_, evidence) => `Not known: input is checked before payment (${evidence}).`,
  'other-protocol': (_, evidence) => `No: ${evidence}.`,
  'other-status': sayUnreadable,
  'other-header': sayUnreadable,
  'raw-json': sayUnreadable,
  base64url: sayUnreadable,
  nested: sayUnreadable,
  'not-a-challenge': sayUnreadable,
  undecodable: sayUnreadable,
  'no-terms': (_, evidence) => `No: a 402 without terms, so nobody can pay (${evidence}).`,
  'every-path': (host) =>
    `Not known: every path of ${host} asks for a payment, and none says what it sells.`,
  unpaid: (_, evidence) => `No: paid routes answer without a payment (${evidence}).`,
  'no-402': (_, evidence) => `No: nothing here asked for a payment (${evidence}).`,
};

export function answerWithoutChallenge({ origin, results = [] }: Partial<ScanReport>): string {
  const host = URL.parse(origin ?? '')?.host ?? 'the origin';
  const findCheck = (checkId: string): CheckResult | undefined =>
    results.find(({ id }) => id === checkId);
  const [p1, p2] = [findCheck('P1'), findCheck('P2')];
  if (p1?.status === 'fail') {
    const reason = UNREACHABLE_REASONS[p1.outcome]?.(host, p1.evidence);
    return `Not known: ${reason ?? `${host} could not be reached`}.`;
  }
  const answer = NO_CHALLENGE_LINES[p2?.outcome ?? '']?.(host, p2?.evidence ?? '');
  return answer ?? NO_PAYMENT_ASKED;
}
