import { LRUCache } from 'lru-cache';
import type { LimitStore } from '../contract/limits.ts';

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
