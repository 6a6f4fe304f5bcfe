export const INDEXES = ['bazaar', 'x402scan'] as const;
export type IndexName = (typeof INDEXES)[number];

export const INDEXED_STATES = [
  'listed',
  'differs',
  /** The index has the same path under another host or scheme. */
  'listed_elsewhere',
  'not_listed',
  /** The index did not answer, was not asked, or returned only part of its list. */
  'unknown',
] as const;
type IndexedState = (typeof INDEXED_STATES)[number];

/** Reports use this order. */
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

/** Reasons why a resource is missing, in report order. The last two concern a listed resource. */
export const INDEXED_REASONS = [
  'not_registered',
  'no_settlement_seen',
  'other_facilitator',
  'no_bazaar_extension',
  'doubly_wrapped',
  'invalid_bazaar_extension',
  'body_only',
  'v1_only',
  'validates_before_challenging',
  'description_over_500',
  'under_minimum',
  'testnet_only',
  'resource_url_elsewhere',
  'recipient_changes',
  /** The newest settlement is over 25 days old, or over 30 (`lapsed`). The Bazaar drops resources that nobody pays. */
  'lapsing',
  'lapsed',
] as const;
export type IndexedReasonCode = (typeof INDEXED_REASONS)[number];

/** `live` is the value that the origin sends, and `indexed` is the value in the index. Both are cleaned and cut. */
export type IndexedDifference = {
  readonly field: IndexedField;
  readonly live: string;
  readonly indexed: string;
};

export type IndexedReason = {
  readonly code: IndexedReasonCode;
  readonly evidence: string;
  /** Id of the check that judges this reason; null if no check does. */
  readonly check: string | null;
};

/** One row per paid resource and index. */
export type IndexedRow = {
  readonly index: IndexName;
  /** The requested URL. */
  readonly resource: string;
  readonly method: string;
  readonly state: IndexedState;
  /** The resource's address in the index, if it differs. */
  readonly listedAs: string | null;
  readonly differences: readonly IndexedDifference[];
  /** The index's newest settlement, ISO 8601; absent when it is not known. */
  readonly lastSettledAt?: string;
  /** Empty when no reason is visible from outside. */
  readonly reasons: readonly IndexedReason[];
};
