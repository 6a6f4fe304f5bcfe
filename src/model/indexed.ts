/** How the indexes list what a scan saw live. */
export const INDEXES = ['bazaar', 'x402scan'] as const;
export type IndexName = (typeof INDEXES)[number];

export const INDEXED_STATES = [
  'listed',
  'differs',
  /** The same path stands there under another host or scheme. */
  'listed_elsewhere',
  'not_listed',
  /** The index did not answer, was not asked, or holds more than it shows. */
  'unknown',
] as const;
export type IndexedState = (typeof INDEXED_STATES)[number];

/** In the order in which reports show them. */
export const INDEXED_FIELDS = [
  'price',
  'payTo',
  'network',
  'asset',
  'scheme',
  'description',
  'inputSchema',
  'method',
  'x402Version',
] as const;
export type IndexedField = (typeof INDEXED_FIELDS)[number];

/** Why a resource may be missing, in the order in which reports show them. */
export const INDEXED_REASONS = [
  'not_registered',
  'no_settlement_seen',
  'other_facilitator',
  'no_bazaar_extension',
  'invalid_bazaar_extension',
  'body_only',
  'v1_only',
  'validates_before_challenging',
  'description_over_500',
  'under_minimum',
  'testnet_only',
  'resource_url_elsewhere',
] as const;
export type IndexedReasonCode = (typeof INDEXED_REASONS)[number];

/** Values as the two sides write them, cleaned and cut. */
export type IndexedDifference = {
  readonly field: IndexedField;
  readonly live: string;
  readonly indexed: string;
};

export type IndexedReason = {
  readonly code: IndexedReasonCode;
  readonly evidence: string;
  /** The check that judges it; null where none does. */
  readonly check: string | null;
};

/** One paid resource and one index. */
export type IndexedRow = {
  readonly index: IndexName;
  /** The URL that was asked. */
  readonly resource: string;
  readonly method: string;
  readonly state: IndexedState;
  /** The address in the index, where it is another. */
  readonly listedAs: string | null;
  readonly differences: readonly IndexedDifference[];
  /** Empty where nothing that is seen from outside says why. */
  readonly reasons: readonly IndexedReason[];
};
