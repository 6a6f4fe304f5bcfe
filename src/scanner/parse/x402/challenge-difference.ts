import { type JsonValue, showJson } from '../json/json.ts';
import type { Challenge, Offer } from './challenge.ts';
import { isSameAddress } from './namespaces.ts';
import { toCaip2 } from './networks.ts';

type ChallengeDifference = {
  /** True if the terms of the payment differ: scheme, amount, asset, payTo or network. */
  readonly inTerms: boolean;
  /** Describes the difference, safe for evidence. */
  readonly text: string;
};

/** The comparison of offers with equal terms takes quadratic time. */
const MAX_EQUAL_TERMS = 8;

/**
 * Compares the challenges in the header and the body of one answer; returns null if they agree. It ignores the order
 * of offers, the member `error`, and members that only one challenge has. A v1 body may have fewer offers than the
 * header, because it serves older clients.
 */
export function findChallengeDifference(
  header: Challenge,
  body: Challenge,
): ChallengeDifference | null {
  const [bodyOnly] = findMissingOffers(header, body);
  const [headerOnly] = findMissingOffers(body, header);
  if (bodyOnly !== undefined) {
    const text = `only the body asks for ${formatTerms(bodyOnly)} (${bodyOnly.pointer})`;
    // A body that only adds offers does not contradict the header, unless the header offers nothing.
    return { inTerms: headerOnly !== undefined || header.offers.length === 0, text };
  }
  if (body.version === 1) return null;
  if (body.offers.length !== header.offers.length) {
    const text = `${header.offers.length} offers, ${body.offers.length} in the body`;
    return { inTerms: false, text };
  }
  if (headerOnly !== undefined) {
    const text = `only the header asks for ${formatTerms(headerOnly)} (${headerOnly.pointer})`;
    return { inTerms: false, text };
  }
  // Only common members are compared, so these two are left out of one side.
  const { error: _, accepts: __, ...bodyMembers } = body.value;
  const headerOffers = groupByTerms(header.offers);
  const pointer =
    findDifference(header.value, bodyMembers, '') ??
    body.offers
      .map((offer) => compareOffer(headerOffers.get(toKey(offer)) ?? [], offer))
      .find((difference) => difference !== null);
  return pointer === undefined ? null : { inTerms: false, text: `${pointer} differs in the body` };
}

/** Returns the offers of `other` with terms that `challenge` does not offer. */
function findMissingOffers(challenge: Challenge, other: Challenge): readonly Offer[] {
  const keys = new Set(challenge.offers.map(toKey));
  return other.offers.filter((offer) => !keys.has(toKey(offer)));
}

function groupByTerms(offers: readonly Offer[]): ReadonlyMap<string, readonly Offer[]> {
  const groups = new Map<string, Offer[]>();
  for (const offer of offers) {
    const key = toKey(offer);
    const group = groups.get(key) ?? [];
    if (group.length < MAX_EQUAL_TERMS) groups.set(key, [...group, offer]);
  }
  return groups;
}

/** The candidates have the terms of the offer. Returns null if a candidate equals the offer in all members. */
function compareOffer(candidates: readonly Offer[], offer: Offer): string | null {
  const differences = candidates.map(({ entry }) =>
    findDifference(entry, offer.entry, offer.pointer),
  );
  return differences.includes(null) ? null : (differences[0] ?? null);
}

/** Offers with equal terms have the same key. EVM addresses are in lower case. */
function toKey({ scheme, network, asset, payTo, amount }: Offer): string {
  const caip2 = toCaip2(network);
  const isEvm = typeof caip2 === 'string' && caip2.startsWith('eip155:');
  const [assetKey, recipientKey] = [asset, payTo].map((value) =>
    isEvm && typeof value === 'string' ? value.toLowerCase() : value,
  );
  return JSON.stringify([scheme, caip2, amount, assetKey, recipientKey]);
}

function formatTerms({ scheme, network, asset, payTo, amount }: Offer): string {
  const chain = showJson(toCaip2(network));
  const [token, recipient] = [showJson(asset), showJson(payTo)];
  return `${showJson(amount)} of ${token} to ${recipient} on ${chain} by ${showJson(scheme)}`;
}

/** Returns the pointer of the first common member whose values differ; null if all common members are equal. */
function findDifference(
  left: JsonValue | undefined,
  right: JsonValue | undefined,
  pointer: string,
): string | null {
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) {
    return isSame(left, right) ? null : pointer;
  }
  if (Array.isArray(left) && Array.isArray(right) && left.length !== right.length) return pointer;
  for (const [member, leftValue] of Object.entries(left)) {
    if (!Object.hasOwn(right, member)) continue;
    const rightValue: JsonValue | undefined = Reflect.get(right, member);
    const difference = findDifference(leftValue, rightValue, `${pointer}/${member}`);
    if (difference !== null) return difference;
  }
  return null;
}

/** A text that begins with "0x" may be an address, so its case does not count. */
function isSame(left: JsonValue | undefined, right: JsonValue | undefined): boolean {
  if (typeof left !== 'string' || typeof right !== 'string') return left === right;
  return isSameAddress(left, right);
}
