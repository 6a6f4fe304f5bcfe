/** Fixed-window counters for request rates. Nothing is synced: a lost count lets a few more through. */
export type LimitStore = {
  /**
   * Counts one request; windows begin at multiples of `windowMs` since the epoch. Resolves to the number of requests
   * of this key in this window, this one included.
   */
  hit(
    key: string,
    windowMs: number,
  ): Promise<{ readonly count: number; readonly resetAtMs: number }>;
};
