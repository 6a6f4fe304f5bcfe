/** Fixed-window counters for request rates. Losing them harms nobody: nothing here is synced. */
export type LimitStore = {
  /** Counts one request; windows begin at multiples of `windowMs` since the epoch. */
  hit(
    key: string,
    windowMs: number,
  ): Promise<{
    /** Requests of this key in this window, this one included. */
    readonly count: number;
    readonly resetAtMs: number;
  }>;
};
