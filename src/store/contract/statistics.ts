const DAY_MS = 24 * 3_600_000;

/** UTC days since the epoch. */
export function utcDay(ms: number): number {
  return Math.floor(ms / DAY_MS);
}

/** Names of the counters that a host's first publication of a UTC day raises by one each. */
export type Tally = readonly string[];

/** Sums over hosts and days, without any host. */
export type StatisticsStore = {
  /**
   * Sums each counter over the days `fromDay` to `toDay`, both included. Counts of an opted-out host are left out at
   * once, except for days that are already folded into sums. The first purge a few minutes after its end folds a day.
   */
  counts(days: {
    readonly fromDay: number;
    readonly toDay: number;
  }): Promise<ReadonlyMap<string, number>>;
};
