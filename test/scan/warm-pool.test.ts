/** A pool is cold until the first scan. No data of an origin reaches a cold thread. */
import { afterEach, expect, test } from 'vitest';
import { type Catalog, loadCatalog } from '../../src/engine/catalog/catalog.ts';
import { type DiscoveredCheck, discoverChecks } from '../../src/engine/catalog/discover-checks.ts';
import { createPool, type Pool } from '../../src/engine/judging-pool.ts';
import { EMPTY_OBSERVATIONS } from '../../src/scan/empty-observations.ts';
import { describeChallenges, NO_CHALLENGES } from '../../src/scan/readers.ts';
import { warmPool } from '../../src/scan/warm-up.ts';
import { EngineFault } from '../../src/workers/job.ts';
import { fixtureChecks, getFixture } from '../engine/fixtures/fixture-checks.ts';
import { NEWER_VERSION } from './engine-under-test.ts';

const checks: readonly DiscoveredCheck[] = await discoverChecks();
const catalog: Catalog = await loadCatalog(NEWER_VERSION, { checks });

let openPool: Pool;
let calibrations = 0;
afterEach(() => openPool.close());

function createColdPool(): Pool {
  const pool = createPool({ threads: 1, cpuMs: 20_000, firstTryMs: 20_000, wallMs: 60_000 });
  calibrations = 0;
  const calibrate = async () => {
    calibrations += 1;
    await pool.calibrate();
  };
  openPool = { ...pool, calibrate };
  return openPool;
}

async function runTask(pool: Pool): Promise<unknown> {
  return await describeChallenges(EMPTY_OBSERVATIONS.resources, {
    pool,
    account: pool.openScan('replay'),
  });
}

test('the first task warms the pool up, and later tasks do not', async () => {
  const pool = warmPool({ catalog, checks, pool: createColdPool() }, () => expect.unreachable());
  expect(pool.readLoad().alive).toBe(0);
  expect(await Promise.all([runTask(pool), runTask(pool)])).toEqual([NO_CHALLENGES, NO_CHALLENGES]);
  expect(await runTask(pool)).toEqual(NO_CHALLENGES);
  expect(calibrations).toBe(1);
});

test('if a check breaks on an origin without answers, every task is refused and the fault is logged once', async () => {
  const { url } = getFixture(await fixtureChecks(), 'throws');
  const broken = checks.map((check) => (check.id === 'P8' ? { ...check, url } : check));
  const faults: string[] = [];
  const pool = warmPool({ catalog, checks: broken, pool: createColdPool() }, ({ message }) =>
    faults.push(message),
  );
  pool.start();
  for (const _ of ['first', 'second']) {
    await expect(runTask(pool)).rejects.toBeInstanceOf(EngineFault);
  }
  expect(calibrations).toBe(0);
  expect(faults).toEqual([expect.stringMatching(/^P8.* breaks even on an origin/)]);
});
