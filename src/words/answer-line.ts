import {
  type OfferPayability,
  type PayableBy,
  REFUSED_WHOLE_PREFIX,
  type ResourcePayability,
  SIGNED_UNSOUND_PREFIX,
} from '../model/payability.ts';
import type { CheckResult, ScanReport } from '../model/report.ts';
import { findKnownAsset } from '../parse/x402/assets.ts';
import { formatMoreSoldCount } from '../parse/x402/more-sold.ts';
import { toNetworkName } from '../parse/x402/networks.ts';

export type PayabilityReport = Pick<ScanReport, 'payability' | 'payableBy'> &
  Partial<Pick<ScanReport, 'origin' | 'results' | 'otherWays'>>;

/** Checks that locate faults of a challenge: first its terms, then its header. */
const CHALLENGE_CHECKS = ['P3', 'P4'];

/**
 * One line of plain text. The client's message in it may quote the origin (cleaned, short), so the line
 * is escaped like all evidence.
 */
export function toAnswerLine(report: PayabilityReport): string {
  const { payability, payableBy, otherWays = [], results } = report;
  if (payability === null)
    return 'Not known: this scan is from before the scanner asked who can pay.';
  if (payableBy === null) return unseenAnswer(report);
  const more = formatMoreSoldCount(otherWays, payability);
  const answer = x402Answer(payability, payableBy, results);
  return more === null ? answer : `${answer} (${more})`;
}

function x402Answer(
  payability: readonly ResourcePayability[],
  payableBy: PayableBy,
  results: ScanReport['results'] = [],
): string {
  const byDefault = payability.filter((one) => one.payableBy === 'default');
  const count = `${byDefault.length} of ${payability.length} ${plural(payability.length)}`;
  if (byDefault.length > 0) {
    const terms = `default clients can pay ${count}${cheapest(byDefault)}`;
    return byDefault.length === payability.length ? `Yes: ${terms}` : `Partly: ${terms}`;
  }
  const words = toWords(payability);
  const said = words === null ? 'nothing' : JSON.stringify(words);
  if (payableBy === 'settings') return `Only with settings: ${settingsText(words)}`;
  if (payableBy === 'unknown') {
    const isRefused = payability.some(({ offers }) =>
      offers.some(({ verdict }) => verdict === 'refuses'),
    );
    if (!isRefused) {
      return 'Not known: no official client here has the schemes and networks that are offered.';
    }
    return `Not known: the specification allows this offer and the official client refuses it with ${said}`;
  }
  if (words !== null && isOwn(words)) return `No: ${words}`;
  const fault = findFault(results) ?? `default clients can pay ${count}`;
  return `No: ${fault}, the official client says ${said}`;
}

function settingsText(words: string | null): string {
  if (words?.startsWith(SIGNED_UNSOUND_PREFIX))
    return `of the offer that they take first, ${words}`;
  return `default clients refuse, the official client says ${JSON.stringify(words ?? 'nothing')}`;
}

/** Finds the first place that a failed check names: "GET /a /accepts/0/extra/version: missing". */
function findFault(results: ScanReport['results']): string | null {
  for (const check of CHALLENGE_CHECKS) {
    const failed = results.find(
      ({ id, status, basis }) => id === check && status === 'fail' && basis === 'measured',
    );
    // The line ends with the client's message, so evidence is cut before it.
    const [first] = failed?.evidence.replace(/^\d+ of \d+: /, '').split(/; | \(the official/) ?? [];
    if (first !== undefined) return first;
  }
  return null;
}

/** Returns true for words of ours, which name the member; the others are a client's. */
function isOwn(words: string): boolean {
  return words.startsWith(SIGNED_UNSOUND_PREFIX) || words.startsWith(REFUSED_WHOLE_PREFIX);
}

function plural(count: number): string {
  return count === 1 ? 'resource' : 'resources';
}

function toWords(payability: readonly ResourcePayability[]): string | null {
  const of = ({ offers, words }: ResourcePayability): string | null =>
    words?.startsWith(REFUSED_WHOLE_PREFIX)
      ? words
      : (offers.find(({ verdict, words: own }) => verdict !== 'signs' && own !== null)?.words ??
        words);
  return payability.map(of).find((words) => words !== null) ?? null;
}

/** Formats the cheapest offer in a dollar asset: ", from $0.01, USDC on Base". */
function cheapest(resources: readonly ResourcePayability[]): string {
  const priced = resources
    .flatMap(({ offers }) => offers)
    .filter(({ verdict }) => verdict === 'signs')
    .flatMap((offer) => toOfferPrice(offer) ?? [])
    .toSorted((one, other) => one.dollars - other.dollars);
  const [first] = priced;
  return first === undefined ? '' : `, from $${formatDollars(first.dollars)}, ${first.name}`;
}

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
function unseenAnswer({ origin, results = [] }: Partial<ScanReport>): string {
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

export type OfferPrice = {
  readonly dollars: number;
  /** "USDC on Base". */
  readonly name: string;
};

/** Null when the asset is unknown or the amount is invalid. */
export function toOfferPrice({ network, asset, amount }: OfferPayability): OfferPrice | null {
  const known = network !== null && asset !== null ? findKnownAsset(network, asset) : null;
  if (known === null || network === null || amount === null || !/^[0-9]{1,40}$/.test(amount)) {
    return null;
  }
  const dollars = Number(amount) / 10 ** known.decimals;
  return { dollars, name: `${known.symbol} on ${toNetworkName(network)}` };
}

/** Formats at least two decimal places, and all that the price has: "0.01", "0.0025". */
export function formatDollars(dollars: number): string {
  const exact = dollars.toFixed(6).replace(/0+$/, '');
  const [whole = '0', parts = ''] = exact.split('.');
  return `${whole}.${parts.padEnd(2, '0')}`;
}
