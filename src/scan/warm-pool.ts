/** A pool whose threads are warm before any origin's documents reach them, and cold until then. */
import type { Pool } from '../engine/judging-pool.ts';
import { type Judges, warmUp } from './warm-up.ts';

/**
 * The first task, or `start`, warms the pool up; all tasks wait for that, and reject where one of
 * our checks breaks even on an origin that said nothing. The next task then tries again.
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
      // The next task on this thread is told.
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
