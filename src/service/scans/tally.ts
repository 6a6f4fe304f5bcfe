import type { OfferPayability } from '../../scanner/model/payability.ts';
import type { CheckResult, ScanReport } from '../../scanner/model/report.ts';
import { findKnownAsset } from '../../scanner/parse/x402/assets.ts';
import { isKnownNetwork, toCaip2 } from '../../scanner/parse/x402/networks.ts';
import { findSchemeRow, SCHEMES } from '../../scanner/parse/x402/schemes.ts';
import { toOfferPrice } from '../../scanner/report/answer-line.ts';
import { ORIGINS_COUNTER, type Tally } from '../store/statistics.ts';
import { toPayableState } from './finished-scan.ts';

/** Replaces every unknown name. Otherwise an origin could publish any text as a name. */
const OTHER = 'other';

const KNOWN_SCHEMES: ReadonlySet<string> = new Set(SCHEMES.map(({ scheme }) => scheme));

/**
 * The counters that a host raises on a day: "origins", "grade A", "payable default", "check P1 pass",
 * "scheme exact", "network eip155:8453", "asset 0x…", "price 0.05".
 */
export function toTally(report: ScanReport): Tally {
  const offers = (report.payability ?? []).flatMap((resource) => resource.offers);
  const price = findMedianPrice(offers);
  const names = [
    ORIGINS_COUNTER,
    `grade ${report.grade}`,
    `payable ${toPayableState(report)}`,
    ...report.results.map((result) => `check ${result.id} ${toCounterStatus(result)}`),
    ...offers.flatMap((offer) => [
      `scheme ${toKnownScheme(offer)}`,
      `network ${toKnownNetwork(offer)}`,
      `asset ${toKnownAsset(offer)}`,
    ]),
    ...(price === null ? [] : [`price ${price}`]),
  ];
  // A host raises each counter at most once a day.
  return [...new Set(names)];
}

function toCounterStatus({ basis, status }: CheckResult) {
  return basis === 'not_determined' ? 'notDetermined' : status;
}

function toKnownScheme({ scheme }: OfferPayability): string {
  return scheme !== null && KNOWN_SCHEMES.has(scheme) ? scheme : OTHER;
}

function toKnownNetwork({ network }: OfferPayability): string {
  return network !== null && isKnownNetwork(network) ? toCaip2(network) : OTHER;
}

function toKnownAsset({ network, asset }: OfferPayability): string {
  if (network === null || asset === null) return OTHER;
  return findKnownAsset(network, asset)?.asset ?? OTHER;
}

/** Returns the host's median price, so that a host with many resources counts as one price. */
function findMedianPrice(offers: readonly OfferPayability[]): number | null {
  const prices = offers
    .filter(({ scheme, network }) => findSchemeRow(scheme ?? '', network ?? '')?.amount === 'price')
    .map((offer) => toOfferPrice(offer)?.dollars ?? 0)
    .filter((dollars) => dollars > 0)
    .toSorted((a, b) => a - b);
  const middle = prices[Math.floor((prices.length - 1) / 2)];
  // Two digits keep the error below 5 %.
  return middle === undefined ? null : Number(middle.toPrecision(2));
}
