import type { CachedAnswer, SnapshotCache } from '../../../src/scanner/indexes/response-cache.ts';

export type MemoryCache = SnapshotCache & {
  /** Moves the clock of this cache forward. */
  wait(ms: number): void;
  readonly kept: Map<string, CachedAnswer>;
};

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

/** A cache in memory. Answers are copied as JSON, because a store does the same. */
export function memoryCache(startMs = Date.parse('2026-08-20T12:00:00Z')): MemoryCache {
  const kept = new Map<string, CachedAnswer>();
  let nowMs = startMs;
  return {
    kept,
    now: () => nowMs,
    wait: (ms) => {
      nowMs += ms;
    },
    get: async (source, key) => kept.get(JSON.stringify([source, key])) ?? null,
    put: async ({ source, key, takenAtMs, data }) => {
      const copy: unknown = JSON.parse(JSON.stringify(data));
      kept.set(JSON.stringify([source, key]), { takenAtMs, data: copy });
    },
  };
}
