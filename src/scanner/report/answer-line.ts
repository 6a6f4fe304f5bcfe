import {
  type OfferPayability,
  type OfferVerdict,
  type PayableBy,
  REFUSED_WHOLE_PREFIX,
  type ResourcePayability,
  SIGNED_OTHER_METHOD,
  SIGNED_UNSOUND_PREFIX,
} from '../model/payability.ts';
import type { ScanReport } from '../model/report.ts';
import { groupThousands } from '../parse/x402/amount.ts';
import { findKnownAsset } from '../parse/x402/assets.ts';
import { toNetworkName } from '../parse/x402/networks.ts';
import { formatMoreSoldCount } from '../parse/x402/other-protocol.ts';

export type PayabilityReport = Pick<ScanReport, 'payability' | 'payableBy'> &
  Partial<Pick<ScanReport, 'origin' | 'results' | 'otherWays'>>;

/**
 * Answers in one line of plain text who can pay. The line may quote a client's message, and this message may quote the
 * origin. Callers must therefore escape the line.
 */
export function toAnswerLine(report: PayabilityReport): string {
  const { payability, payableBy, otherWays = [], results } = report;
  if (payability === null)
    return 'Not known: this scan is from before the scanner asked who can pay.';
  const hasOffers = payability.some(({ offers }) => offers.length > 0);
  if (payableBy === null || (payableBy === 'unknown' && !hasOffers)) {
    return answerWithoutChallenge(report);
  }
  const moreSold = formatMoreSoldCount(otherWays, payability);
  const answer = answerForX402(payability, payableBy, results);
  return moreSold === null ? answer : `${answer} (${moreSold})`;
}

function answerForX402(
  payability: readonly ResourcePayability[],
  payableBy: PayableBy,
  results: ScanReport['results'] = [],
): string {
  const payable = payability.filter((resource) => resource.payableBy === 'default');
  const noun = payability.length === 1 ? 'resource' : 'resources';
  const count = `${payable.length} of ${payability.length} ${noun}`;
  if (payable.length > 0) {
    const terms = `default clients can pay ${count}${formatCheapest(payable)}`;
    if (payable.length === payability.length) return `Yes: ${terms}`;
    const others = payability.filter((resource) => !payable.includes(resource));
    const otherPrice = formatHighPrice(others);
    if (otherPrice === null) return `Partly: ${terms}`;
    const verb = others.length === 1 ? 'asks' : 'ask';
    return `Partly: ${terms}; ${others.length} more ${verb} ${otherPrice}`;
  }
  const highPrice = formatHighPrice(payability);
  const priceNote = highPrice === null ? '' : ` (it asks ${highPrice})`;
  const message = findMessage(payability);
  const quoted = message === null ? 'nothing' : JSON.stringify(message);
  if (payableBy === 'settings') {
    const price = highPrice === null ? '' : `asks ${highPrice}, and `;
    return `Only with settings: ${price}${formatSettings(message)}`;
  }
  if (payableBy === 'unknown') {
    const verdicts = payability.flatMap(({ offers }) => offers.map(({ verdict }) => verdict));
    if (!verdicts.includes('refuses'))
      return `Not known: no official client here pays by the schemes, networks and transfer methods that are offered${priceNote}.`;
    return `Not known: the specification allows this offer and the official client refuses it with ${quoted}${priceNote}`;
  }
  if (message !== null && isOurMessage(message)) return `No: ${message}${priceNote}`;
  const fault = findFault(results) ?? `default clients can pay ${count}`;
  return `No: ${fault}, the official client says ${quoted}${priceNote}`;
}

function formatSettings(message: string | null): string {
  if (message !== null && isOurMessage(message))
    return `default clients take an offer first that cannot be settled: ${message}`;
  return `default clients refuse, the official client says ${JSON.stringify(message ?? 'nothing')}`;
}

/** Begins a client's message in evidence (`quoteClient` of parse/x402/offer-evidence.ts). */
const CLIENT_NOTE = ' (the official';
/** The checks whose evidence names a fault of a challenge. */
const CHALLENGE_CHECKS = ['P3', 'P4'];

/** Finds the first fault in the evidence of a failed check: "GET /a /accepts/0/extra/version: missing". */
function findFault(results: ScanReport['results']): string | null {
  for (const check of CHALLENGE_CHECKS) {
    const failed = results.find(
      ({ id, status, basis }) => id === check && status === 'fail' && basis === 'measured',
    );
    if (failed === undefined) continue;
    // The client's message stands beside the fault that it names. It is cut off, because the answer line has it.
    const [first = '', ...others] = failed.evidence.replace(/^\d+ of \d+: /, '').split('; ');
    const meant = [first, ...others].find((text) => text.includes(CLIENT_NOTE)) ?? first;
    const request = meant.startsWith('/') ? (/^[A-Z]+ \S+ /.exec(first)?.[0] ?? '') : '';
    return request + meant.split(CLIENT_NOTE, 1)[0];
  }
  return null;
}

/** Returns true for a message of the scanner, and false for a message of a client. */
function isOurMessage(message: string): boolean {
  return [SIGNED_UNSOUND_PREFIX, SIGNED_OTHER_METHOD, REFUSED_WHOLE_PREFIX].some((prefix) =>
    message.startsWith(prefix),
  );
}

/** Finds the first reason why a resource is not payable, in the words of the scanner or of a client. */
function findMessage(payability: readonly ResourcePayability[]): string | null {
  const toMessage = ({ offers, words }: ResourcePayability): string | null =>
    words?.startsWith(REFUSED_WHOLE_PREFIX)
      ? words
      : (offers.find((offer) => offer.verdict !== 'signs' && offer.words !== null)?.words ?? words);
  return payability.map(toMessage).find((message) => message !== null) ?? null;
}

/** Formats the cheapest offer in a dollar asset: ", from $0.01, USDC on Base". */
function formatCheapest(resources: readonly ResourcePayability[]): string {
  const lowest = findCheapest(resources, ['signs']);
  return lowest === null ? '' : `, from ${formatPrice(lowest.price)}`;
}

/** Finds the cheapest offer with one of these verdicts; null if none is in an asset whose price is known. */
export function findCheapest(
  resources: readonly ResourcePayability[],
  verdicts: readonly OfferVerdict[],
) {
  const [lowest = null] = resources
    .flatMap(({ offers }) => offers)
    .filter(({ verdict }) => verdicts.includes(verdict))
    .flatMap((offer) => {
      const price = toOfferPrice(offer);
      return price === null ? [] : [{ offer, price }];
    })
    .toSorted((left, right) => left.price.dollars - right.price.dollars);
  return lowest;
}

/** Default clients refuse to pay more for one call (spend controls of @x402/core). */
const DEFAULT_LIMIT_DOLLARS = 1;

/** "$10,000.00", or "$5.00 to $10,000.00" over several resources; null unless every known price is over the limit. */
function formatHighPrice(resources: readonly ResourcePayability[]): string | null {
  const lowest = resources.flatMap(({ offers }) => {
    const dollars = offers.flatMap((offer) => toOfferPrice(offer)?.dollars ?? []);
    return dollars.length === 0 ? [] : [Math.min(...dollars)];
  });
  const [low, high] = [Math.min(...lowest), Math.max(...lowest)];
  if (lowest.length === 0 || low <= DEFAULT_LIMIT_DOLLARS) return null;
  const range = low === high ? [low] : [low, high];
  return range.map((dollars) => `$${formatDollars(dollars)}`).join(' to ');
}

/** Returns the price and "USDC on Base"; null if the asset is unknown or the amount is invalid. */
export function toOfferPrice({
  network,
  asset,
  amount,
}: Pick<OfferPayability, 'network' | 'asset' | 'amount'>) {
  const token = network !== null && asset !== null ? findKnownAsset(network, asset) : null;
  if (token === null || network === null || amount === null || !/^[0-9]{1,40}$/.test(amount))
    return null;
  const dollars = Number(amount) / 10 ** token.decimals;
  return { dollars, name: `${token.symbol} on ${toNetworkName(network)}` };
}

/** "$0.01, USDC on Base"; null if the asset is unknown or the amount is invalid. */
export function formatOfferPrice(offer: Parameters<typeof toOfferPrice>[0]): string | null {
  const price = toOfferPrice(offer);
  return price === null ? null : formatPrice(price);
}

function formatPrice({ dollars, name }: NonNullable<ReturnType<typeof toOfferPrice>>): string {
  return `$${formatDollars(dollars)}, ${name}`;
}

/** Formats two to six decimal places: "0.01", "0.0025", "10,000.00". */
export function formatDollars(dollars: number): string {
  const exact = dollars.toFixed(6).replace(/0+$/, '');
  const [whole = '0', fraction = ''] = exact.split('.');
  return `${groupThousands(whole)}.${fraction.padEnd(2, '0')}`;
}

type SentenceMaker = (host: string, evidence: string) => string;

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

const sayNotKnown: SentenceMaker = (_, evidence) => `Not known: ${evidence}.`;
const sayUnreadable: SentenceMaker = (_, evidence) =>
  `No: the seller asks for a payment in a form that clients do not read (${evidence}).`;

/** Answer lines for reports without a challenge, by the outcome of P2. */
const NO_CHALLENGE_LINES: Readonly<Record<string, SentenceMaker>> = {
  'none-found': (host, evidence) =>
    evidence.startsWith('nothing declares a paid path')
      ? `Not known: nothing on ${host} declares a paid path.`
      : `Not known: ${evidence}.`,
  'no-application': (host) => `No: no application runs at ${host}.`,
  closed: sayNotKnown,
  'rate-limited': (host, evidence) =>
    `Not known: ${host} limits how often it may be asked (${evidence}).`,
  unread: (host, evidence) =>
    `Not known: not every document of ${host} could be read (${evidence}).`,
  'made-up': sayNotKnown,
  'other-methods': sayNotKnown,
  'tools-uncalled': sayNotKnown,
  'validates-only': (_, evidence) => `Not known: input is checked before payment (${evidence}).`,
  'other-protocol': (_, evidence) => `No: ${evidence}.`,
  'other-status': sayUnreadable,
  'other-header': sayUnreadable,
  'raw-json': sayUnreadable,
  base64url: sayUnreadable,
  nested: sayUnreadable,
  'not-a-challenge': sayUnreadable,
  undecodable: sayUnreadable,
  'own-terms': sayUnreadable,
  page: sayUnreadable,
  'no-terms': (_, evidence) => `No: a 402 without terms, so nobody can pay (${evidence}).`,
  'every-path': (host) =>
    `Not known: every path of ${host} asks for a payment, and none says what it sells.`,
  unpaid: (_, evidence) => `No: paid routes answer without a payment (${evidence}).`,
  'no-402': (_, evidence) => `No: nothing here asked for a payment (${evidence}).`,
};

function answerWithoutChallenge({ origin, results = [] }: Partial<ScanReport>): string {
  const host = URL.parse(origin ?? '')?.host ?? 'the origin';
  const [p1, p2] = ['P1', 'P2'].map((checkId) => results.find(({ id }) => id === checkId));
  if (p1?.status === 'fail') {
    const reason = UNREACHABLE_REASONS[p1.outcome]?.(host, p1.evidence);
    return `Not known: ${reason ?? `${host} could not be reached`}.`;
  }
  const answer = NO_CHALLENGE_LINES[p2?.outcome ?? '']?.(host, p2?.evidence ?? '');
  return answer ?? 'No: nothing here asked for a payment.';
}
