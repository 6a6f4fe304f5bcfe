import { LRUCache } from 'lru-cache';
import type { LimitStore } from '../contract/limits.ts';

/** Beyond it the least recently used counters are dropped, so that many clients cannot fill the memory. */
const MAX_COUNTERS = 100_000;

/** Counters of the one process that uses an embedded store; a restart resets them. */
export function memoryLimits(now: () => number): LimitStore {
  const counters = new LRUCache<string, { count: number; readonly resetAtMs: number }>({
    max: MAX_COUNTERS,
  });
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
  };
}
