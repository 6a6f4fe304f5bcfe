import { LRUCache } from 'lru-cache';

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

/** Beyond it the least recently used counters are dropped, so that many clients cannot fill the memory. */
const MAX_COUNTERS = 100_000;

/** Counters of the one process that uses an embedded store; a restart resets them. */
export function memoryLimits(now: () => number): LimitStore {
  const counters = new LRUCache<string, { readonly count: number; readonly resetAtMs: number }>({
    max: MAX_COUNTERS,
  });
  return {
    async hit(key, windowMs) {
      const resetAtMs = (Math.floor(now() / windowMs) + 1) * windowMs;
      const known = counters.get(key);
      const count = known?.resetAtMs === resetAtMs ? known.count + 1 : 1;
      counters.set(key, { count, resetAtMs });
      return { count, resetAtMs };
    },
  };
}
