/** Schemas for the answers of indexes, chains and listings. They validate cached answers and recordings. */
import { type Static, type TSchema, Type } from 'typebox';
import { count, list, nullable, oneOf, shape, text } from './shapes.ts';

const nullableText = nullable(text);
const nullableInstant = nullable(Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}T' }));

/** The answer of an index, a chain or a listing about this origin. */
export type Lookup<T> =
  /** `asOf` is the time of the source's answer (ISO 8601). The answer may come from our cache. */
  | {
      readonly state: 'seen';
      readonly source: string;
      readonly asOf: string;
      /** Seconds from `asOf` to this scan. A window such as "within 30 days" ends at `asOf`. */
      readonly ageSec: number;
      readonly data: T;
    }
  | { readonly state: 'off'; readonly why: 'offline' | 'switched-off' }
  | { readonly state: 'failed'; readonly source: string; readonly detail: string };

export function lookup<T extends TSchema>(data: T) {
  return Type.Unsafe<Lookup<Static<T>>>(
    Type.Union([
      Type.Object({ state: Type.Literal('seen'), source: text, asOf: text, ageSec: count, data }),
      Type.Object({ state: Type.Literal('off'), why: oneOf(['offline', 'switched-off']) }),
      Type.Object({ state: Type.Literal('failed'), source: text, detail: text }),
    ]),
  );
}

/** A chain node's facts about an offer. */
const offerOnChain = shape({
  /** CAIP-2 */
  network: text,
  asset: text,
  payTo: text,
  /** True without a request if our table has the asset. */
  hasCode: Type.Boolean(),
  /** EIP-712. `agrees`: the domains of offer and token are equal. `named`: the token's if not. Null if not known. */
  domain: nullable(
    shape({ agrees: Type.Boolean(), named: nullable(shape({ name: text, version: text })) }),
  ),
  /** Null if the node cannot tell. */
  transferReverts: nullable(Type.Boolean()),
  /** Null on chains other than Solana. */
  noTokenAccount: nullable(Type.Boolean()),
});
export type OfferOnChain = Static<typeof offerOnChain>;
export const offersOnChain = list(offerOnChain);

/** The terms of a resource in an index. A null member is not stated. */
const listedTerms = shape({
  x402Version: nullable(Type.Number()),
  description: nullableText,
  /** "sha256:…" of the canonical JSON of the declared input. */
  inputSchema: nullableText,
  offers: list(
    shape({
      /** In base units. */
      price: nullableText,
      payTo: nullableText,
      network: nullableText,
      asset: nullableText,
      scheme: nullableText,
    }),
  ),
});
export type ListedTerms = Static<typeof listedTerms>;

const listedResource = shape({
  resource: text,
  method: nullableText,
  terms: listedTerms,
  /** ISO 8601, or null when the index does not say; absent in recordings that predate this member. */
  lastSettledAt: Type.Optional(nullableInstant),
});
export type ListedResource = Static<typeof listedResource>;

/** The Bazaar's entries under the origin's recipients. */
export const bazaarListings = shape({
  resources: list(listedResource),
  /** False if the list may have further items. A missing resource then proves nothing. */
  isComplete: Type.Boolean(),
});
export type BazaarListings = Static<typeof bazaarListings>;

const indexedResource = shape({
  resource: text,
  method: nullableText,
  /** ISO 8601, or null when the index does not say. */
  lastUpdated: nullableText,
  /** Number of payment options in the index. x402scan does not show a resource with 0. */
  accepts: count,
  deprecated: Type.Boolean(),
  /** Absent in recordings that predate this member. */
  terms: Type.Optional(listedTerms),
});
export type IndexedResource = Static<typeof indexedResource>;

const LISTED_ORIGIN = {
  resources: list(indexedResource),
  /** Resources on the same host under another scheme or port, and on its parent and child hosts. */
  elsewhere: Type.Optional(list(text)),
};

/** x402scan's facts about an origin: its row, and whether its recipients have signed for it (null if not known). */
export const indexedOrigin = shape({
  ...LISTED_ORIGIN,
  ownershipVerified: nullable(Type.Boolean()),
});
export type IndexedOrigin = Static<typeof indexedOrigin>;

/** x402scan's row of an origin; the id is null when the index does not know it. */
export const indexRow = shape({ id: nullableText, ...LISTED_ORIGIN });
export type IndexRow = Static<typeof indexRow>;

export const settlementFacts = shape({
  /** The payTo address that was looked up; null if the source answers by origin. */
  address: nullableText,
  windowDays: Type.Number({ minimum: 0 }),
  settlements: count,
  payers: count,
  /** ISO 8601 of the newest settlement, null if no settlement was seen. */
  lastAt: nullableInstant,
});
export type SettlementFacts = Static<typeof settlementFacts>;

/** The origin's row in the partner list of x402.org. */
export const listingFacts = shape({
  listed: Type.Boolean(),
  name: nullableText,
  website: nullableText,
});
export type ListingFacts = Static<typeof listingFacts>;
