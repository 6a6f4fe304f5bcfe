import type { Pool } from '../engine/judging-pool.ts';
import { type Judges, warmUp } from './warm-up.ts';

/**
 * Warms the pool on the first task or `start`. All tasks wait for that, and reject when a check throws
 * even on a silent origin; the next task then retries.
 */
export function warmPool(parts: Judges): Pool {
  const { pool } = parts;
  let warm: Promise<void> | null = null;

  function ready(): Promise<void> {
    warm ??= warmUp(parts).catch((error: unknown) => {
      warm = null;
      throw error;
    });
    return warm;
  }

  return {
    ...pool,
    start(modules) {
      const starting = pool.start(modules);
      // Each task reports the error itself.
      ready().catch(() => undefined);
      return starting;
    },
    async run(task) {
      await ready();
      return pool.run(task);
    },
    async judge(...task) {
      await ready();
      return pool.judge(...task);
    },
  };
}
