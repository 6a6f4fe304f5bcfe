import { type JsonValue, showJson } from '../json/json.ts';
import type { Challenge, Offer } from './challenge.ts';
import { isSameAddress } from './namespaces.ts';
import { toCaip2 } from './networks.ts';

export type ChallengeDifference = {
  /** True for scheme, amount, asset, payTo or network, which decide the payment. */
  readonly inTerms: boolean;
  /** Safe for evidence. */
  readonly text: string;
};

/** Offers compared on equal terms; real sellers send fewer, and more would take quadratic time. */
const MAX_ALIKE = 8;

/**
 * Null when both agree. The order of entries is ignored, and a v1 body may have fewer entries, because it
 * serves older clients. When only one of the two has additional offers, the shared ones are compared.
 * Members that only one has are ignored, and so is `error`.
 */
export function findChallengeDifference(
  header: Challenge,
  body: Challenge,
): ChallengeDifference | null {
  const offers = byTerms(header.offers);
  const [foreign] = findMissingOffers(header, body);
  const [hidden] = findMissingOffers(body, header);
  if (foreign !== undefined) {
    const text = `only the body asks for ${formatTerms(foreign)} (${foreign.pointer})`;
    return { inTerms: hidden !== undefined || header.offers.length === 0, text };
  }
  if (body.version === 1) return null;
  if (body.offers.length !== header.offers.length) {
    const text = `${header.offers.length} offers, ${body.offers.length} in the body`;
    return { inTerms: false, text };
  }
  const { error: _, accepts: __, ...top } = body.value;
  const pointer =
    difference(header.value, top, '') ??
    body.offers
      .map((offer) => closest(offers.get(toKey(offer)) ?? [], offer))
      .find((one) => one !== null);
  return pointer === undefined
    ? null
    : { inTerms: false, text: `${pointer} is another in the body` };
}

/** Returns the offers of `other` whose terms `one` lacks. */
export function findMissingOffers(one: Challenge, other: Challenge): readonly Offer[] {
  const known = new Set(one.offers.map(toKey));
  return other.offers.filter((offer) => !known.has(toKey(offer)));
}

function byTerms(offers: readonly Offer[]): ReadonlyMap<string, readonly Offer[]> {
  const known = new Map<string, Offer[]>();
  for (const offer of offers) {
    const terms = toKey(offer);
    const alike = known.get(terms) ?? [];
    if (alike.length < MAX_ALIKE) known.set(terms, [...alike, offer]);
  }
  return known;
}

/** Offers on equal terms may differ in `extra`; one equal offer is enough. */
function closest(known: readonly Offer[], offer: Offer): string | null {
  const differences = known.map(({ entry }) => difference(entry, offer.entry, offer.pointer));
  return differences.includes(null) ? null : (differences[0] ?? null);
}

/** Offers are compared by this key; EVM addresses in lower case. */
function toKey({ scheme, network, asset, payTo, amount }: Offer): string {
  const on = typeof network === 'string' ? toCaip2(network) : network;
  const isEvm = typeof on === 'string' && on.startsWith('eip155:');
  const [what, whom] = [asset, payTo].map((value) =>
    isEvm && typeof value === 'string' ? value.toLowerCase() : value,
  );
  return JSON.stringify([scheme, on, amount, what, whom].map((value) => value ?? null));
}

/** Formats the terms for evidence. */
function formatTerms({ scheme, network, asset, payTo, amount }: Offer): string {
  const on = typeof network === 'string' ? toCaip2(network) : network;
  const [how, where, what, whom, much] = [scheme, on, asset, payTo, amount].map((value) =>
    showJson(value),
  );
  return `${much} of ${what} to ${whom} on ${where} by ${how}`;
}

/** Returns the pointer of the first unequal member that both have. */
function difference(
  one: JsonValue | undefined,
  other: JsonValue | undefined,
  pointer: string,
): string | null {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) {
    return isSame(one, other) ? null : pointer;
  }
  if (Array.isArray(one) && Array.isArray(other) && one.length !== other.length) return pointer;
  for (const [member, value] of Object.entries(one)) {
    if (!Object.hasOwn(other, member)) continue;
    const inner: JsonValue | undefined = Reflect.get(other, member);
    const deeper = difference(value, inner, `${pointer}/${member}`);
    if (deeper !== null) return deeper;
  }
  return null;
}

function isSame(one: JsonValue | undefined, other: JsonValue | undefined): boolean {
  if (typeof one !== 'string' || typeof other !== 'string') return one === other;
  return isSameAddress(one, other);
}
