/** What the store keeps of an origin's entries in indexes. */
import type { MerchantItem } from '../indexes/index-answers.ts';
import type { JsonObject } from '../model/json.ts';
import type { DeclaredSale } from '../probe/plan/plan.ts';
import type { CensusResource } from '../scan/scanner.ts';
import type { CensusSource, KnownResource } from './resources.ts';

/** The stored listing of an origin, from all sources. It has at most 16 KiB. */
export type CensusListing = {
  /** By source: the last UTC day on which it listed the origin. */
  readonly sources: Readonly<Partial<Record<CensusSource, number>>>;
  /** The resources that are asked, at most two. */
  readonly resources: readonly KnownResource[];
  /** Further listed resources, the next one first. */
  readonly candidates: readonly KnownResource[];
  /** The operations that the seller's documents sell, as the last full scan read them. */
  readonly sold: readonly DeclaredSale[];
  /** Rows of the Bazaar about this origin. */
  readonly bazaar: readonly MerchantItem[];
  /** True if the Bazaar has more rows about this origin. */
  readonly isBazaarCut: boolean;
};

export const MAX_RESOURCES = 2;
/** Asked and further resources of an origin. */
export const MAX_KEPT_RESOURCES = 20;

const NOT_LISTED: CensusListing = {
  sources: {},
  resources: [],
  candidates: [],
  sold: [],
  bazaar: [],
  isBazaarCut: false,
};

export function toListing(stored: JsonObject | null): CensusListing {
  // `mergeListing` and `addFindings` are the only writers of this document, and the store keeps it unchanged.
  return { ...NOT_LISTED, ...(stored as unknown as Partial<CensusListing> | null) };
}

export function toKey({ method, path }: CensusResource): string {
  return `${method} ${path}`;
}
