/** A scan computes recipients and challenges once, and only if the report shows them. */
import { afterAll, expect, test, vi } from 'vitest';
import type { Clients } from '../../../src/scanner/clients/open-clients.ts';
import { OFFLINE_STANDING, type Standing } from '../../../src/scanner/model/standing.ts';
import { startCraftedSeller } from '../../fixtures/origins/crafted-seller.ts';
import { loadEngine, scanLoopback } from './engine-under-test.ts';

const engine = await loadEngine({ threads: 1 });
const runSpy = vi.spyOn(engine.pool, 'run');
const seller = await startCraftedSeller();
afterAll(() => Promise.all([engine.pool.close(), seller[Symbol.asyncDispose]()]));

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

async function scanAndListTasks(standing: Standing, clients: Clients | null = NO_CLIENTS) {
  runSpy.mockClear();
  const parts = { ...engine, standing, clients: clients ?? undefined };
  const { branding } = await scanLoopback(seller.url, parts);
  return { branding, tasks: runSpy.mock.calls.map(([{ exportName }]) => exportName) };
}

test('a scan for a listing computes challenges and branding', async () => {
  const { branding, tasks } = await scanAndListTasks(UNLISTED_STANDING);
  expect(tasks).toEqual(expect.arrayContaining(['describeChallenges', 'describeOrigin']));
  expect(branding.displayName).not.toBe(new URL(seller.url).host);
});

test('a scan for an offline report without clients computes no challenges', async () => {
  const { tasks } = await scanAndListTasks(OFFLINE_STANDING, null);
  expect(tasks).toContain('makePlan');
  expect(tasks).not.toContain('describeChallenges');
});

test('the scan reads challenges again only if the report needs more of the answers', async () => {
  const { tasks } = await scanAndListTasks(OFFLINE_STANDING);
  expect(tasks.filter((name) => name === 'describeChallenges')).toHaveLength(1);
});
