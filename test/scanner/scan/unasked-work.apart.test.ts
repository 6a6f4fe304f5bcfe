/** A scan computes branding, recipients and challenges once, and only if the report shows them. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Clients } from '../../../src/scanner/clients/open-clients.ts';
import { type Catalog, loadCatalog } from '../../../src/scanner/engine/catalog/catalog.ts';
import {
  type DiscoveredCheck,
  discoverChecks,
} from '../../../src/scanner/engine/catalog/discover-checks.ts';
import { createPool } from '../../../src/scanner/engine/judging-pool.ts';
import { allowOrigin, DEFAULT_POLICY, parseOrigin } from '../../../src/scanner/guard/origin.ts';
import { OFFLINE_STANDING, type Standing } from '../../../src/scanner/model/standing.ts';
import { createScanner } from '../../../src/scanner/scan/run-scan.ts';
import { type CraftedSeller, startCraftedSeller } from '../../fixtures/origins/crafted-seller.ts';
import { NEWER_VERSION } from './engine-under-test.ts';

const pool = createPool({ threads: 1 });
const runSpy = vi.spyOn(pool, 'run');
let checks: readonly DiscoveredCheck[];
let catalog: Catalog;
let seller: CraftedSeller;
beforeAll(async () => {
  checks = await discoverChecks();
  catalog = await loadCatalog(NEWER_VERSION, { checks });
  seller = await startCraftedSeller();
});
afterAll(() => Promise.all([pool.close(), seller[Symbol.asyncDispose]()]));

/** The standing of a seller that no index lists. */
const UNLISTED_STANDING: Standing = {
  origin: OFFLINE_STANDING.origin,
  settlements: OFFLINE_STANDING.settlements,
};

/** Tries no challenge. */
const NO_CLIENTS: Clients = {
  start: () => {},
  tryChallenges: async () => ({ clients: [], resources: [], silent: [] }),
  close: async () => {},
};

async function scanAndListTasks(
  standing: Standing,
  withBranding?: boolean,
  clients: Clients | null = NO_CLIENTS,
) {
  runSpy.mockClear();
  const policy = allowOrigin(seller.url, DEFAULT_POLICY);
  const scanner = createScanner({
    catalog,
    checks,
    pool,
    policy,
    standing,
    ...(clients === null ? {} : { clients: clients }),
    userAgent: 'test',
    ...(withBranding === undefined ? {} : { withBranding }),
  });
  const { branding } = await scanner.scan(parseOrigin(seller.url, policy));
  return { branding, tasks: runSpy.mock.calls.map(([{ exportName }]) => exportName) };
}

test('a scan for a listing computes challenges and branding', async () => {
  const { branding, tasks } = await scanAndListTasks(UNLISTED_STANDING);
  expect(tasks).toEqual(expect.arrayContaining(['describeChallenges', 'describeOrigin']));
  expect(branding.displayName).not.toBe(new URL(seller.url).host);
});

test('a scan for an offline report without clients computes no challenges and no branding', async () => {
  const { branding, tasks } = await scanAndListTasks(OFFLINE_STANDING, false, null);
  expect(tasks).toContain('makePlan');
  expect(tasks).not.toContain('describeChallenges');
  expect(branding.displayName).toBe(new URL(seller.url).host);
});

test('the scan reads challenges again only if the report needs more of the answers', async () => {
  const { tasks } = await scanAndListTasks(OFFLINE_STANDING, false);
  expect(tasks.filter((name) => name === 'describeChallenges')).toHaveLength(1);
});
