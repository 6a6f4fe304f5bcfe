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
