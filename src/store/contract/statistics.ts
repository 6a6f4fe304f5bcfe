const DAY_MS = 24 * 3_600_000;

/** UTC days since the epoch. */
export function utcDay(ms: number): number {
  return Math.floor(ms / DAY_MS);
}

/** The counter that every tally raises. */
export const ORIGINS = 'origins';

/** Names of the counters that a host's first publication of a UTC day raises by one each. */
export type Tally = readonly string[];

/** Days with fewer origins are part of the block of a later day. */
export const ORIGINS_OF_BLOCK = 10;

/** Sums over hosts and days, without any host. */
export type StatisticsStore = {
  /**
   * Sums each counter over the blocks whose last day is one of `fromDay` to `toDay`, both included. The first purge a
   * few minutes after its end folds a day, without hosts that are opted out by then. A block is a day with the folded
   * days before it that were in no block; it has at least `ORIGINS_OF_BLOCK` origins.
   */
  counts(days: {
    readonly fromDay: number;
    readonly toDay: number;
  }): Promise<ReadonlyMap<string, number>>;
};
