import { LRUCache } from 'lru-cache';
import type { Counted, LimitStore } from '../contract/limits.ts';

/** Of more, those that counted least recently go, so that many clients cannot fill the memory. */
const MAX_COUNTERS = 100_000;

type Counter = {
  count: number;
  readonly resetAtMs: number;
};

/** Counters of the one process that uses an embedded store; a restart forgives. */
export class MemoryLimits implements LimitStore {
  readonly #now: () => number;
  readonly #counters = new LRUCache<string, Counter>({ max: MAX_COUNTERS });

  constructor(now: () => number) {
    this.#now = now;
  }

  async hit(key: string, windowMs: number): Promise<Counted> {
    const nowMs = this.#now();
    const known = this.#counters.get(key);
    if (known !== undefined && known.resetAtMs > nowMs) {
      known.count += 1;
      return { count: known.count, resetAtMs: known.resetAtMs };
    }
    const resetAtMs = (Math.floor(nowMs / windowMs) + 1) * windowMs;
    this.#counters.set(key, { count: 1, resetAtMs });
    return { count: 1, resetAtMs };
  }

  /** How many were removed. */
  purge(nowMs: number): number {
    const before = this.#counters.size;
    for (const [key, counter] of this.#counters.entries()) {
      if (counter.resetAtMs <= nowMs) this.#counters.delete(key);
    }
    return before - this.#counters.size;
  }
}
