import type { JsonValue } from '../json/json.ts';
import { showJson } from '../json/show-json.ts';
import type { Challenge, Offer } from './challenge.ts';
import { caip2 } from './networks.ts';

export type ChallengeDifference = {
  /** Scheme, amount, asset, payTo or network: what is paid, and to whom. */
  readonly inTerms: boolean;
  /** Fit for evidence. */
  readonly text: string;
};

/** Offers on the same terms that are told apart: real sellers send fewer, and more would cost the square. */
const MAX_ALIKE = 8;

/**
 * Null where they agree. Entries may stand in any order; a v1 body is for old clients and may have
 * fewer of them. Where one of the two has offers that the other lacks, and not the other way, the
 * shared ones agree. What else only one of the two has is no difference, and `error` is not compared.
 */
export function challengeDifference(
  header: Challenge,
  body: Challenge,
): ChallengeDifference | null {
  const offers = byTerms(header.offers);
  const [foreign] = foreignOffers(header, body);
  const [hidden] = foreignOffers(body, header);
  if (foreign !== undefined) {
    const text = `only the body asks for ${termsOf(foreign)} (${foreign.pointer})`;
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
      .map((offer) => closest(offers.get(keyOf(offer)) ?? [], offer))
      .find((one) => one !== null);
  return pointer === undefined
    ? null
    : { inTerms: false, text: `${pointer} is another in the body` };
}

/** The offers of `other` whose terms `one` does not have. */
export function foreignOffers(one: Challenge, other: Challenge): readonly Offer[] {
  const known = new Set(one.offers.map(keyOf));
  return other.offers.filter((offer) => !known.has(keyOf(offer)));
}

function byTerms(offers: readonly Offer[]): ReadonlyMap<string, readonly Offer[]> {
  const known = new Map<string, Offer[]>();
  for (const offer of offers) {
    const terms = keyOf(offer);
    const alike = known.get(terms) ?? [];
    if (alike.length < MAX_ALIKE) known.set(terms, [...alike, offer]);
  }
  return known;
}

/** Offers on the same terms may differ in `extra`: one that is equal is enough. */
function closest(known: readonly Offer[], offer: Offer): string | null {
  const differences = known.map(({ entry }) => difference(entry, offer.entry, offer.pointer));
  return differences.includes(null) ? null : (differences[0] ?? null);
}

/** The terms, by which offers are compared: an EVM address is the same in any case. */
function keyOf({ scheme, network, asset, payTo, amount }: Offer): string {
  const on = typeof network === 'string' ? caip2(network) : network;
  const isEvm = typeof on === 'string' && on.startsWith('eip155:');
  const [what, whom] = [asset, payTo].map((value) =>
    isEvm && typeof value === 'string' ? value.toLowerCase() : value,
  );
  return JSON.stringify([scheme, on, amount, what, whom].map((value) => value ?? null));
}

/** The terms for evidence. */
function termsOf({ scheme, network, asset, payTo, amount }: Offer): string {
  const on = typeof network === 'string' ? caip2(network) : network;
  const [how, where, what, whom, much] = [scheme, on, asset, payTo, amount].map((value) =>
    showJson(value),
  );
  return `${much} of ${what} to ${whom} on ${where} by ${how}`;
}

/** Pointer of the first member that both have and that is not equal. */
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
    const found = difference(value, inner, `${pointer}/${member}`);
    if (found !== null) return found;
  }
  return null;
}

/** An EVM address is the same in any case. */
function isSame(one: JsonValue | undefined, other: JsonValue | undefined): boolean {
  if (typeof one !== 'string' || typeof other !== 'string' || !one.startsWith('0x')) {
    return one === other;
  }
  return one.toLowerCase() === other.toLowerCase();
}
