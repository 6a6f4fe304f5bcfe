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
  const brokenChecks = checks.map((check) => (check.id === 'P8' ? { ...check, url } : check));
  const warmingUp = warmUp({ catalog, checks: brokenChecks, pool });
  await expect(warmingUp).rejects.toBeInstanceOf(EngineFault);
  await expect(warmingUp).rejects.toThrow('P8');
});

test('without a warm-up, a scan with a check that throws on everything gives no report', async () => {
  const { url } = getFixture(await fixtureChecks(), 'throws');
  const brokenChecks = checks.map((check) => (check.id === 'P8' ? { ...check, url } : check));
  const grading = gradeObservations(EMPTY_OBSERVATIONS, new Date(0).toISOString(), {
    catalog,
    checks: brokenChecks,
    pool,
  });
  await expect(grading).rejects.toBeInstanceOf(BrokenChecks);
  await expect(grading).rejects.toThrow('P8');
});
