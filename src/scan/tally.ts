import type { OfferPayability } from '../model/payability.ts';
import type { CheckResult, ScanReport } from '../model/report.ts';
import { findKnownAsset } from '../parse/x402/assets.ts';
import { isKnownNetwork, toCaip2 } from '../parse/x402/networks.ts';
import { findSchemeRow, SCHEMES } from '../parse/x402/schemes.ts';
import { ORIGINS_COUNTER, type Tally } from '../store/statistics.ts';
import { toOfferPrice } from '../words/answer-line.ts';
import { payableState } from './finished-scan.ts';

/** Stands for whatever the catalog does not know: names that an origin makes up are not for the public. */
const OTHER = 'other';

const KNOWN_SCHEMES: ReadonlySet<string> = new Set(SCHEMES.map(({ scheme }) => scheme));

/**
 * The counters that a host raises on a day: "origins", "grade A", "payable default", "check P1 pass",
 * "scheme exact", "network eip155:8453", "asset 0x…", "price 0.05".
 */
export function toTally(report: ScanReport): Tally {
  const offers = (report.payability ?? []).flatMap((resource) => resource.offers);
  const price = middlePrice(offers);
  const names = [
    ORIGINS_COUNTER,
    `grade ${report.grade}`,
    `payable ${payableState(report)}`,
    ...report.results.map((result) => `check ${result.id} ${standingOf(result)}`),
    ...offers.flatMap((offer) => [
      `scheme ${schemeOf(offer)}`,
      `network ${networkOf(offer)}`,
      `asset ${assetOf(offer)}`,
    ]),
    ...(price === null ? [] : [`price ${price}`]),
  ];
  // An offer counts once for a host and day under each of its names.
  return [...new Set(names)];
}

function standingOf({ basis, status }: CheckResult) {
  return basis === 'not_determined' ? 'notDetermined' : status;
}

function schemeOf({ scheme }: OfferPayability): string {
  return scheme !== null && KNOWN_SCHEMES.has(scheme) ? scheme : OTHER;
}

function networkOf({ network }: OfferPayability): string {
  return network !== null && isKnownNetwork(network) ? toCaip2(network) : OTHER;
}

function assetOf({ network, asset }: OfferPayability): string {
  if (network === null || asset === null) return OTHER;
  return findKnownAsset(network, asset)?.asset ?? OTHER;
}

/** The middle one of what the host asks for, so that a host with many resources has one price as any other. */
function middlePrice(offers: readonly OfferPayability[]): number | null {
  const prices = offers
    .filter(({ scheme, network }) => findSchemeRow(scheme ?? '', network ?? '')?.amount === 'price')
    .map((offer) => toOfferPrice(offer)?.dollars ?? 0)
    .filter((dollars) => dollars > 0)
    .toSorted((a, b) => a - b);
  const middle = prices[Math.floor((prices.length - 1) / 2)];
  // Two digits are exact to 5 %.
  return middle === undefined ? null : Number(middle.toPrecision(2));
}
