import type { Catalog } from '../engine/catalog/catalog.ts';
import type { DiscoveredCheck } from '../engine/catalog/discover-checks.ts';
import type { Pool } from '../engine/judging-pool.ts';
import { runChecks } from '../engine/run-checks.ts';
import { EngineFault } from '../workers/job.ts';
import { EMPTY_OBSERVATIONS } from './empty-observations.ts';
import { describeChallenges, describeOrigin, readPlan } from './readers.ts';

/** A check or task fails even on an origin without answers, so this process cannot judge any scan. */
export class BrokenChecks extends EngineFault {
  override readonly name = 'BrokenChecks';

  constructor(broken: readonly string[]) {
    super(`${broken.join(', ')} breaks even on an origin without answers.`);
  }
}

export type ScanEngine = {
  readonly catalog: Catalog;
  readonly checks: readonly DiscoveredCheck[];
  readonly pool: Pool;
};

/**
 * Loads every check and parser before the first scan, and measures the workers' speed. Throws
 * BrokenChecks if a check is broken.
 */
export async function warmUp(engine: ScanEngine): Promise<void> {
  await tryChecks(engine);
  await engine.pool.calibrate();
}

/**
 * Runs every check and task on each thread of the pool, on an origin without answers. Throws BrokenChecks
 * if one fails, so that the defect is known before a scan is sold.
 */
export async function tryChecks({ catalog, checks, pool }: ScanEngine): Promise<void> {
  const { threads } = pool.readLoad();
  await Promise.all(
    Array.from({ length: threads }, async () => {
      const work = { pool, account: pool.openScan('replay') };
      const [verdicts, { planFailure }] = await Promise.all([
        runChecks({ ...work, catalog, checks, observations: EMPTY_OBSERVATIONS }),
        readPlan(EMPTY_OBSERVATIONS, true, work),
        describeChallenges(EMPTY_OBSERVATIONS.resources, work),
        describeOrigin(EMPTY_OBSERVATIONS, work),
      ]);
      // Reads the verdicts, because a report hides the verdict of a check whose prerequisite failed.
      const broken = verdicts
        .filter(({ verdict: { outcome } }) => outcome === 'fault' || outcome === 'limits')
        .map(({ entry }) => entry.id);
      if (planFailure !== undefined) broken.push('the plan');
      if (broken.length > 0) throw new BrokenChecks(broken);
    }),
  );
}

/**
 * Tests the checks and warms the pool on the first task or `start`. All tasks wait for that. If a check is
 * broken, `onBroken` is called once, and every task of the process rejects. After any other error the next
 * task tries again.
 */
export function warmPool(engine: ScanEngine, onBroken: (fault: BrokenChecks) => void): Pool {
  const { pool } = engine;
  let warming: Promise<void> | null = null;

  function ensureWarm(): Promise<void> {
    warming ??= warmUp(engine).catch((error: unknown) => {
      if (error instanceof BrokenChecks) onBroken(error);
      else warming = null;
      throw error;
    });
    return warming;
  }

  return {
    ...pool,
    start(modules) {
      const starting = pool.start(modules);
      // If this fails, each task rejects with the same error.
      ensureWarm().catch(() => undefined);
      return starting;
    },
    async run(task) {
      await ensureWarm();
      return pool.run(task);
    },
    async runCheck(...task) {
      await ensureWarm();
      return pool.runCheck(...task);
    },
  };
}
