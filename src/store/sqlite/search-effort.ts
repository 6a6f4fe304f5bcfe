/** How much a search may do at once. */

/** How searches weigh one way against another; tests make them small. */
export type SearchEffort = {
  /** So many hosts are looked at one by one, 2 µs each; where more may match, the order is walked. */
  readonly candidates: number;
  /** Hosts that a walk looks at before the event loop has its turn. */
  readonly slice: number;
  /** As many hosts can be walked past while one is looked up and looked at. */
  readonly lookCost: number;
};

export const SEARCH_EFFORT: SearchEffort = { candidates: 4_000, slice: 32_000, lookCost: 8 };
