/** The warm-up finds a check that always breaks before anybody pays. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Catalog, loadCatalog } from '../../src/engine/catalog/catalog.ts';
import { type DiscoveredCheck, discoverChecks } from '../../src/engine/catalog/discover-checks.ts';
import { createPool, type Pool } from '../../src/engine/judging-pool.ts';
import { EMPTY_OBSERVATIONS } from '../../src/scan/empty-observations.ts';
import { gradeObservations } from '../../src/scan/grade-observations.ts';
import { BrokenChecks, warmUp } from '../../src/scan/warm-up.ts';
import { EngineFault } from '../../src/workers/job.ts';
import { fixtureChecks, getFixture } from '../engine/fixtures/fixture-checks.ts';
import { NEWER_VERSION } from './engine-under-test.ts';

let checks: readonly DiscoveredCheck[];
let catalog: Catalog;
let pool: Pool;
beforeAll(async () => {
  checks = await discoverChecks();
  catalog = await loadCatalog(NEWER_VERSION, { checks });
  pool = createPool();
});
afterAll(() => pool.close());

test('an engine with working checks warms up', async () => {
  await expect(warmUp({ catalog, checks, pool })).resolves.toBeUndefined();
  expect(pool.readLoad()).toMatchObject({ running: 0, waiting: 0 });
});

test('an engine with a check that throws on everything does not start, and names the check', async () => {
  const { url } = getFixture(await fixtureChecks(), 'throws');
  const broken = checks.map((check) => (check.id === 'P8' ? { ...check, url } : check));
  const refused = warmUp({ catalog, checks: broken, pool });
  await expect(refused).rejects.toBeInstanceOf(EngineFault);
  await expect(refused).rejects.toThrow('P8');
});

test('a scan with such a check gives no report without a warm-up', async () => {
  const { url } = getFixture(await fixtureChecks(), 'throws');
  const broken = checks.map((check) => (check.id === 'P8' ? { ...check, url } : check));
  const judged = gradeObservations(EMPTY_OBSERVATIONS, new Date(0).toISOString(), {
    catalog,
    checks: broken,
    pool,
  });
  await expect(judged).rejects.toBeInstanceOf(BrokenChecks);
  await expect(judged).rejects.toThrow('P8');
});
