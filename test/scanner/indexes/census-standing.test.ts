import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parseOrigin } from '../../../src/scanner/guard/origin.ts';
import {
  createCensusStanding,
  type ImportedRows,
} from '../../../src/scanner/indexes/census-standing.ts';
import { createStanding } from '../../../src/scanner/indexes/create-standing.ts';
import type { SourceOptions } from '../../../src/scanner/indexes/source-options.ts';
import {
  type AnswersByName,
  answersKnowing,
  listRequests,
  sourcesAt,
  startSources,
} from './known-seller.ts';
import { DAY_MS, HOUR_MS, type MemoryCache, memoryCache } from './memory-cache.ts';
import { PAY_TO, page } from './recorded-answers.ts';
import { PATIENT_MS } from './request-context.ts';
import type { StandIn } from './stand-in.ts';

const ORIGIN = parseOrigin('https://weather.example.com');
const PAYEE = { network: 'eip155:8453', address: PAY_TO };
const OTHER_PAYEE = {
  network: 'eip155:8453',
  address: '0x2222222222222222222222222222222222222222',
};
const SEARCH_PROCEDURE = 'public.origins.search';
const BY_ORIGIN = 'public.sellers.bazaar.list';
const BY_ADDRESS = 'public.sellers.all.list';
const TOO_SOON_DETAIL = 'the census makes one request in 5 s';

let source: StandIn;
let answersByName: AnswersByName;
let cache: MemoryCache;
let isBusy: boolean;
let importedByHost: Record<string, ImportedRows>;
beforeEach(async () => {
  cache = memoryCache();
  isBusy = false;
  importedByHost = {};
  answersByName = answersKnowing(ORIGIN.url);
  source = await startSources(() => answersByName);
});
afterEach(() => source.close());

const sources = (overrides: Partial<SourceOptions> = {}) =>
  sourcesAt(source, { rpcUrl: source.url, solanaRpcUrl: source.url, ...overrides });

function openCensus(overrides: Partial<SourceOptions> = {}) {
  return createCensusStanding({
    sources: sources(overrides),
    snapshots: cache,
    findBazaarRows: async (host) => importedByHost[host] ?? null,
    isBusy: () => isBusy,
  });
}

const openPaidStanding = () => createStanding(sources(), cache, PATIENT_MS);

/** Reads the partner listing into the cache, so that later lookups do not request it. */
async function cacheListing(): Promise<void> {
  await openPaidStanding().refreshPartners();
  source.forget();
}

function createRow(overrides: Partial<ImportedRows['rows'][number]> = {}) {
  const offer = { price: '10000', network: 'eip155:8453', asset: null, scheme: 'exact' };
  const offers = [{ ...offer, payTo: PAY_TO }];
  return {
    resource: `${ORIGIN.url}/paid`,
    method: 'GET',
    terms: { x402Version: 2, description: null, inputSchema: null, offers },
    calls: 5,
    payers: 2,
    lastAt: '2026-08-20T01:00:00.000Z',
    ...overrides,
  };
}
const payingTo = (payTo: string | null) => {
  const { terms } = createRow();
  return { terms: { ...terms, offers: terms.offers.map((offer) => ({ ...offer, payTo })) } };
};
const importRows = (...rows: readonly ImportedRows['rows'][number][]) => {
  importedByHost[ORIGIN.host] = { rows, isComplete: true, takenAtMs: cache.now() - HOUR_MS };
};

describe('the census asks x402scan', () => {
  test('once for an origin, and leaves the ownership of the origin unknown', async () => {
    await cacheListing();
    const { x402scan, listing } = await openCensus().origin(ORIGIN);
    expect(x402scan).toMatchObject({
      state: 'seen',
      data: { resources: [{ resource: `${ORIGIN.url}/paid` }], ownershipVerified: null },
    });
    expect(listing).toMatchObject({ state: 'seen', data: { listed: true } });
    expect(listRequests(source)).toEqual([SEARCH_PROCEDURE]);
  });

  test('only 5 s after its last request, and fails before that', async () => {
    await cacheListing();
    const { origin } = openCensus();
    await origin(ORIGIN);
    const otherOrigin = parseOrigin('https://other.example.com');
    const tooSoon = {
      state: 'failed',
      source: 'x402scan',
      detail: `${new URL(source.url).host} was not asked: ${TOO_SOON_DETAIL}`,
    };
    cache.wait(4_999);
    expect((await origin(otherOrigin)).x402scan).toEqual(tooSoon);
    expect(listRequests(source)).toEqual([SEARCH_PROCEDURE]);
    cache.wait(1);
    expect((await origin(otherOrigin)).x402scan).toMatchObject({ state: 'seen' });
    expect(listRequests(source)).toEqual([SEARCH_PROCEDURE, SEARCH_PROCEDURE]);
  });

  test('21 times in 100 s, although it makes 101 scans', async () => {
    await cacheListing();
    const { origin, settlements } = openCensus();
    for (let second = 0; second <= 100; second += 1) {
      const seller = parseOrigin(`https://seller-${second}.example.com`);
      await Promise.all([origin(seller), settlements(seller, [PAYEE])]);
      cache.wait(1_000);
    }
    expect(listRequests(source)).toHaveLength(21);
  });

  test('again after the clock was set back', async () => {
    await cacheListing();
    const { origin } = openCensus();
    await origin(ORIGIN);
    cache.wait(-HOUR_MS);
    await origin(parseOrigin('https://other.example.com'));
    expect(listRequests(source)).toEqual([SEARCH_PROCEDURE, SEARCH_PROCEDURE]);
  });

  test('only once if x402scan is busy', async () => {
    await cacheListing();
    answersByName[SEARCH_PROCEDURE] = () => ({ status: 429, retryAfter: '0', json: 'later' });
    const { x402scan } = await openCensus().origin(ORIGIN);
    expect(x402scan).toMatchObject({ state: 'failed' });
    expect(listRequests(source)).toEqual([SEARCH_PROCEDURE]);
  });

  test('not while a paid scan runs', async () => {
    await cacheListing();
    isBusy = true;
    const { origin, settlements } = openCensus();
    const detail = `${new URL(source.url).host} was not asked: paid scans come first`;
    const notAsked = { state: 'failed', source: 'x402scan', detail };
    const { x402scan, listing } = await origin(ORIGIN);
    expect(x402scan).toEqual(notAsked);
    expect(listing).toMatchObject({ state: 'seen' });
    expect(await settlements(ORIGIN, [PAYEE])).toEqual(notAsked);
    expect(source.requestedPaths).toEqual([]);
    isBusy = false;
    expect((await origin(ORIGIN)).x402scan).toMatchObject({ state: 'seen' });
  });

  test('not if the cache has a fresh answer of a paid scan, and uses an old answer if it may not ask', async () => {
    const paidStanding = openPaidStanding();
    await paidStanding.origin(ORIGIN);
    await paidStanding.settlements(ORIGIN, [PAYEE]);
    source.forget();
    const { origin, settlements } = openCensus();
    expect((await origin(ORIGIN)).x402scan).toMatchObject({ data: { ownershipVerified: true } });
    expect(await settlements(ORIGIN, [PAYEE])).toMatchObject({ data: { settlements: 42 } });
    await origin(parseOrigin('https://other.example.com'));
    expect(listRequests(source)).toEqual([SEARCH_PROCEDURE]);
    isBusy = true;
    cache.wait(7 * DAY_MS);
    expect((await origin(ORIGIN)).x402scan).toMatchObject({ state: 'seen', ageSec: 7 * 86_400 });
    expect(listRequests(source)).toEqual([SEARCH_PROCEDURE]);
  });
});

describe('settlements in the census', () => {
  test('are the sum of the imported rows, without a request', async () => {
    importRows(createRow(), createRow({ calls: 3, payers: 1, lastAt: null }));
    expect(await openCensus().settlements(ORIGIN, [PAYEE])).toEqual({
      state: 'seen',
      source: 'Bazaar import',
      asOf: '2026-08-20T11:00:00.000Z',
      ageSec: 3_600,
      data: {
        address: null,
        windowDays: 30,
        settlements: 8,
        payers: 2,
        lastAt: '2026-08-20T01:00:00.000Z',
      },
    });
    expect(source.requestedPaths).toEqual([]);
  });

  test('are the sum of only the rows that pay a recipient of the origin', async () => {
    const rowWithoutPayee = createRow(payingTo(null));
    const upperCase = PAY_TO.replace('0x', '0X');
    importRows(
      createRow(payingTo(OTHER_PAYEE.address)),
      createRow(payingTo(upperCase)),
      rowWithoutPayee,
    );
    const { settlements } = openCensus();
    expect(await settlements(ORIGIN, [PAYEE])).toMatchObject({ data: { settlements: 10 } });
    expect(await settlements(ORIGIN, [OTHER_PAYEE, PAYEE])).toMatchObject({
      data: { settlements: 15 },
    });
    const siblingOrigin = parseOrigin('https://other.example.com');
    expect(await settlements(siblingOrigin, [PAYEE])).toMatchObject({ state: 'failed' });
  });

  const NO_CALLS = { calls: 0, payers: 0, lastAt: null };
  const CALLED_LONG_AGO = { ...NO_CALLS, lastAt: '2026-05-01T00:00:00.000Z' };
  test.each([
    ['count no calls', [createRow(NO_CALLS)]],
    ['were last called over 30 days ago', [createRow(CALLED_LONG_AGO)]],
    ['are missing', []],
  ])('come from x402scan if the imported rows %s', async (_title, rows) => {
    importRows(...rows);
    const { settlements } = openCensus();
    const lookup = await settlements(ORIGIN, [PAYEE]);
    expect(lookup).toMatchObject({ source: 'x402scan', data: { address: null, settlements: 42 } });
    expect(listRequests(source)).toEqual([BY_ORIGIN]);
  });

  test('are unknown, not 0, if x402scan has no row of the origin and may not be asked again yet', async () => {
    answersByName[BY_ORIGIN] = () => ({ json: page([]) });
    importRows(createRow(NO_CALLS));
    const { settlements } = openCensus();
    expect(await settlements(ORIGIN, [PAYEE])).toEqual({
      state: 'failed',
      source: 'x402scan',
      detail: TOO_SOON_DETAIL,
    });
    expect(listRequests(source)).toEqual([BY_ORIGIN]);
    cache.wait(5_000);
    expect(await settlements(ORIGIN, [PAYEE])).toMatchObject({
      source: 'x402scan',
      data: { address: PAY_TO, settlements: 12 },
    });
    expect(listRequests(source)).toEqual([BY_ORIGIN, BY_ADDRESS]);
  });

  test('are 0 if x402scan has no row of the recipient either', async () => {
    answersByName[BY_ORIGIN] = () => ({ json: page([]) });
    answersByName[BY_ADDRESS] = () => ({ json: page([]) });
    const { settlements } = openCensus();
    await settlements(ORIGIN, [PAYEE]);
    cache.wait(5_000);
    const noSettlements = { address: PAY_TO, windowDays: 30, settlements: 0, lastAt: null };
    expect(await settlements(ORIGIN, [PAYEE])).toMatchObject({
      state: 'seen',
      data: noSettlements,
    });
  });

  test('come from the import if x402scan is off, and are off if both indexes are off', async () => {
    importRows(createRow(NO_CALLS));
    const lookup = await openCensus({ x402scanUrl: null }).settlements(ORIGIN, [PAYEE]);
    expect(lookup).toMatchObject({ source: 'Bazaar import', data: { settlements: 0 } });
    const withoutIndexes = openCensus({ x402scanUrl: null, bazaarUrl: null });
    const switchedOff = { state: 'off', why: 'switched-off' };
    expect(await withoutIndexes.settlements(ORIGIN, [PAYEE])).toEqual(switchedOff);
    expect(source.requestedPaths).toEqual([]);
  });

  test('are unknown without an import and with x402scan off', async () => {
    const noImport = { state: 'failed', source: 'Bazaar import', detail: 'none within two days' };
    const withoutX402scan = openCensus({ x402scanUrl: null });
    expect(await withoutX402scan.settlements(ORIGIN, [PAYEE])).toEqual(noImport);
    const withFailingStore = createCensusStanding({
      sources: sources({ x402scanUrl: null }),
      snapshots: cache,
      findBazaarRows: () => Promise.reject(new Error('the store is down')),
      isBusy: () => false,
    });
    expect(await withFailingStore.settlements(ORIGIN, [PAYEE])).toEqual(noImport);
    expect(await withoutX402scan.settlements(ORIGIN, [])).toMatchObject({
      state: 'failed',
      detail: 'it is asked by recipient, and this origin names no recipient',
    });
  });
});

describe('listings in the census', () => {
  test('are the imported rows of the origin that pay its recipient, without a request', async () => {
    const { terms, ...row } = createRow();
    importRows(createRow(), createRow(payingTo(OTHER_PAYEE.address)));
    const { listings } = openCensus();
    expect(await listings([PAYEE], ORIGIN)).toEqual({
      state: 'seen',
      source: 'Bazaar import',
      asOf: '2026-08-20T11:00:00.000Z',
      ageSec: 3_600,
      data: {
        resources: [
          { resource: row.resource, method: row.method, terms, lastSettledAt: row.lastAt },
        ],
        isComplete: true,
      },
    });
    expect(source.requestedPaths).toEqual([]);
  });

  test('are unknown without an import or a recipient', async () => {
    const { listings } = openCensus();
    expect(await listings([PAYEE], ORIGIN)).toMatchObject({ state: 'failed' });
    importRows(createRow());
    expect(await listings([], ORIGIN)).toMatchObject({ state: 'failed' });
    const switchedOff = { state: 'off', why: 'switched-off' };
    expect(await openCensus({ bazaarUrl: null }).listings([PAYEE], ORIGIN)).toEqual(switchedOff);
  });
});

test('the census asks only x402scan, never the Bazaar or a node', async () => {
  await cacheListing();
  const standing = openCensus();
  answersByName[BY_ORIGIN] = () => ({ json: page([]) });
  answersByName[BY_ADDRESS] = () => ({ json: page([]) });
  for (let round = 0; round < 5; round += 1) {
    await standing.origin(ORIGIN);
    await standing.settlements(ORIGIN, [PAYEE]);
    await standing.listings([PAYEE], ORIGIN);
    cache.wait(5_000);
  }
  expect(standing.onChain).toBeUndefined();
  expect(new Set(source.requestedPaths.map((url) => url.split('?')[0]))).toEqual(
    new Set(
      [SEARCH_PROCEDURE, 'public.resources.verificationStatus', BY_ORIGIN, BY_ADDRESS].map(
        (name) => `/api/trpc/${name}`,
      ),
    ),
  );
});
