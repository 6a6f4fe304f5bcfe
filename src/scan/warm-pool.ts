import { BrokenChecks } from '../engine/errors.ts';
import type { Pool } from '../engine/judging-pool.ts';
import { type Judges, warmUp } from './warm-up.ts';

/**
 * Tests the checks and warms the pool on the first task or `start`. All tasks wait for that. If a check
 * throws even on a silent origin, `onBroken` hears of it once, and every task of the process rejects; after
 * any other error the next task tries again.
 */
export function warmPool(parts: Judges, onBroken: (fault: BrokenChecks) => void): Pool {
  const { pool } = parts;
  let warm: Promise<void> | null = null;

  function ready(): Promise<void> {
    warm ??= warmUp(parts).catch((error: unknown) => {
      if (error instanceof BrokenChecks) onBroken(error);
      else warm = null;
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
