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
   * Each counter over the days `fromDay` to `toDay`, both included. What an opted-out host adds is left out at once, as
   * far as its day is not folded into sums yet; a day is folded by the first purge some minutes after its end.
   */
  counts(days: {
    readonly fromDay: number;
    readonly toDay: number;
  }): Promise<ReadonlyMap<string, number>>;
};
