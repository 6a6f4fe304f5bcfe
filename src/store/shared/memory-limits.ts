import { LRUCache } from 'lru-cache';
import type { LimitStore } from '../contract/limits.ts';

/** Beyond it the least recently used counters are dropped, so that many clients cannot fill the memory. */
const MAX_COUNTERS = 100_000;

type Counter = {
  count: number;
  readonly resetAtMs: number;
};

export type MemoryLimits = LimitStore & {
  /** Removes counters whose window is over, and says how many. */
  purge(nowMs: number): Promise<number>;
};

/** Counters of the one process that uses an embedded store; a restart resets them. */
export function memoryLimits(now: () => number): MemoryLimits {
  const counters = new LRUCache<string, Counter>({ max: MAX_COUNTERS });
  return {
    async hit(key, windowMs) {
      const nowMs = now();
      const known = counters.get(key);
      if (known !== undefined && known.resetAtMs > nowMs) {
        known.count += 1;
        return { ...known };
      }
      const resetAtMs = (Math.floor(nowMs / windowMs) + 1) * windowMs;
      counters.set(key, { count: 1, resetAtMs });
      return { count: 1, resetAtMs };
    },

    async purge(nowMs) {
      const before = counters.size;
      for (const [key, counter] of counters.entries()) {
        if (counter.resetAtMs <= nowMs) counters.delete(key);
      }
      return before - counters.size;
    },
  };
}
