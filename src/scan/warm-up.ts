import type { Catalog } from '../engine/catalog/catalog.ts';
import type { DiscoveredCheck } from '../engine/catalog/discover-checks.ts';
import { BrokenChecks } from '../engine/errors.ts';
import { judgeAll } from '../engine/judge.ts';
import type { Pool } from '../engine/judging-pool.ts';
import { EMPTY_OBSERVATIONS } from './empty-observations.ts';
import { planFrom, selectPayees } from './observe.ts';
import { readBranding } from './read-branding.ts';

export type Judges = {
  readonly catalog: Catalog;
  readonly checks: readonly DiscoveredCheck[];
  readonly pool: Pool;
};

/**
 * Loads every check and parser before the first scan, and measures the workers' speed. Throws
 * BrokenChecks as `tryAll`.
 */
export async function warmUp(judges: Judges): Promise<void> {
  await tryAll(judges);
  await judges.pool.calibrate();
}

/**
 * Runs every check and task on each thread of the pool. Throws BrokenChecks when one throws even on a
 * silent origin, so that the defect is known before a scan is sold.
 */
export async function tryAll({ catalog, checks, pool }: Judges): Promise<void> {
  const { threads } = pool.load();
  await Promise.all(
    Array.from({ length: threads }, async () => {
      const account = pool.openScan('replay');
      const work = { pool, account };
      const [judged, { planFailure }] = await Promise.all([
        judgeAll({ ...work, catalog, checks, observations: EMPTY_OBSERVATIONS }),
        planFrom(EMPTY_OBSERVATIONS, true, work),
        selectPayees(EMPTY_OBSERVATIONS.resources, work),
        readBranding(EMPTY_OBSERVATIONS, work),
      ]);
      // Uses each check's own verdict: in a report, a failed prerequisite would hide the others.
      const broken = judged
        .filter(({ verdict: { outcome } }) => outcome === 'fault' || outcome === 'limits')
        .map(({ entry }) => entry.id);
      if (planFailure !== undefined) broken.push('the plan');
      if (broken.length > 0) throw new BrokenChecks(broken);
    }),
  );
}
