import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createStanding } from '../../../src/scanner/indexes/create-standing.ts';
import { type CraftedSeller, startCraftedSeller } from '../../fixtures/origins/crafted-seller.ts';
import { SELLER_PAY_TO } from '../../fixtures/sellers/seller.ts';
import { loadEngine, scanLoopback } from '../scan/engine-under-test.ts';
import { sourcesAt, startSourcesKnowing } from './known-seller.ts';
import { DAY_MS, type MemoryCache, memoryCache } from './memory-cache.ts';
import { PATIENT_MS } from './request-context.ts';
import type { StandIn } from './stand-in.ts';

const engine = await loadEngine();
afterAll(() => engine.pool.close());

let seller: CraftedSeller;
let sources: StandIn;
let cache: MemoryCache;
beforeEach(async () => {
  seller = await startCraftedSeller();
  sources = await startSourcesKnowing(seller.url, SELLER_PAY_TO);
  cache = memoryCache(Date.now());
});
afterEach(async () => {
  await seller[Symbol.asyncDispose]();
  await sources.close();
});

function createScan() {
  const standing = createStanding(sourcesAt(sources), cache, PATIENT_MS);
  return () => scanLoopback(seller.url, { ...engine, standing });
}

const NO_SIGNALS = {
  registeredIndex: false,
  hasRecentSettlement: null,
  indexOwnershipVerified: false,
  onEcosystemListing: false,
};

describe('scans of a well-known seller', () => {
  test('show its standing and signals, and 20 scans ask each source once', async () => {
    const scan = createScan();
    const scans = await Promise.all(Array.from({ length: 4 }, scan));
    for (let round = 4; round < 20; round += 1) scans.push(await scan());
    for (const { report, signals } of scans) {
      const standingResults = report.results.filter(({ category }) => category === 'directory');
      expect(standingResults.map(({ id, status, basis }) => `${id} ${status} ${basis}`)).toEqual([
        'D1 pass measured',
        'D2 pass measured',
        'D3 pass measured',
        'D4 pass measured',
        'D5 pass measured',
      ]);
      expect(report).toMatchObject({ grade: 'A', score: 100, subScores: { standing: 100 } });
      expect(signals).toEqual({
        registeredIndex: true,
        hasRecentSettlement: true,
        indexOwnershipVerified: true,
        onEcosystemListing: true,
      });
    }
    const paths = sources.requestedPaths.map((url) => new URL(url, sources.url).pathname);
    expect(paths.sort()).toEqual([
      '/api/trpc/public.origins.search',
      '/api/trpc/public.resources.verificationStatus',
      '/api/trpc/public.sellers.bazaar.list',
      '/ecosystem',
      '/platform/v2/x402/discovery/merchant',
    ]);
  });

  test('keep score and signals through an outage of all sources', async () => {
    const scan = createScan();
    const scanBefore = await scan();
    await sources.close();
    cache.wait(29 * DAY_MS);
    const scanAfter = await scan();
    expect(scanAfter.report.score).toBe(scanBefore.report.score);
    expect(scanAfter.signals).toEqual(scanBefore.signals);
    const evidence = scanAfter.report.results
      .filter(({ category }) => category === 'directory')
      .map((result) => result.evidence);
    for (const text of evidence) expect(text).toContain(`(${29 * 24} h old)`);
  });
});

test('a seller without records has an unknown settlement signal, not a false one', async () => {
  await sources.close();
  sources = await startSourcesKnowing(
    'http://other.example',
    '0x1111111111111111111111111111111111111111',
  );
  const { report, signals } = await createScan()();
  expect(signals).toEqual(NO_SIGNALS);
  expect(report.results.find(({ id }) => id === 'D3')).toMatchObject({
    status: 'warn',
    basis: 'measured',
  });
});
