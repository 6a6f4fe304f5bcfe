import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { allowOrigin, DEFAULT_POLICY, parseOrigin } from '../../src/guard/origin.ts';
import { createStanding } from '../../src/indexes/create-standing.ts';
import type { EcosystemOptions } from '../../src/indexes/options.ts';
import { DAY_MS, HOUR_MS, type MemoryCache, memoryCache } from './memory-cache.ts';
import {
  bazaarItem,
  merchant,
  ORIGIN_ID,
  originRow,
  PAY_TO,
  page,
  resourceRow,
  sellerByAddress,
  sellerOfOrigin,
  trpc,
  verification,
} from './recorded-answers.ts';
import { PATIENT_MS } from './request-context.ts';
import { type Said, type StandIn, startStandIn } from './stand-in.ts';

const ORIGIN = parseOrigin('https://weather.example.com');
const PAYEE = { network: 'eip155:8453', address: PAY_TO };
const QUALITY = {
  l30DaysTotalCalls: 5,
  l30DaysUniquePayers: 2,
  lastCalledAt: '2026-08-20T01:00:00Z',
};
const TIMEOUT_MS = 1_000;

/** What each source says; tests replace single answers. */
type Script = Record<string, () => Said | Promise<Said>>;

const FOUND: Said = {
  json: trpc([originRow(ORIGIN.url, [resourceRow(`${ORIGIN.url}/paid`)])]),
};

const GOOD: Script = {
  'public.origins.search': () => FOUND,
  'public.resources.verificationStatus': () => ({ json: verification(1, 1) }),
  'public.sellers.bazaar.list': () => ({ json: page([sellerOfOrigin(ORIGIN.url)]) }),
  'public.sellers.all.list': () => ({ json: page([sellerByAddress(PAY_TO)]) }),
  merchant: () => ({ json: merchant([bazaarItem(QUALITY)]) }),
  ecosystem: () => ({ json: [{ name: 'Weather', websiteUrl: ORIGIN.url }] }),
};
const NO_ROWS = () => ({ json: page([]) });
const DOWN = (): Said => ({ status: 500, json: 'down' });
const HANGS = (): Said => 'hang';

let source: StandIn;
let script: Script;
let cache: MemoryCache;
beforeEach(async () => {
  script = { ...GOOD };
  cache = memoryCache();
  source = await startStandIn(async ({ pathname }) => {
    const name = pathname.split('/').at(-1) ?? '';
    return (await script[name]?.()) ?? { status: 404, json: 'nothing here' };
  });
});
afterEach(() => source.close());

function standing(overrides: Partial<EcosystemOptions> = {}, timeoutMs = PATIENT_MS) {
  const settings: EcosystemOptions = {
    x402scanUrl: source.url,
    bazaarUrl: source.url,
    ecosystemUrl: source.url,
    rpcUrl: null,
    asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
    network: 'eip155:8453',
    userAgent: 'test',
    ...overrides,
  };
  return createStanding(settings, cache, timeoutMs);
}

/** Names of the procedures and paths that were asked, oldest first. */
const asked = () =>
  source.asked.map((url) => new URL(url, source.url).pathname.split('/').at(-1) ?? '');

describe('the standing of an origin', () => {
  test("holds the index's and the listing's facts, with their age", async () => {
    const { origin } = standing();
    await origin(ORIGIN);
    cache.wait(30 * 60_000);
    const asOf = '2026-08-20T12:00:00.000Z';
    expect(await origin(ORIGIN)).toEqual({
      x402scan: {
        state: 'seen',
        source: 'x402scan',
        asOf,
        ageSec: 1_800,
        data: {
          resources: [
            {
              resource: `${ORIGIN.url}/paid`,
              method: null,
              lastUpdated: '2026-08-18T09:15:00.000Z',
              accepts: 1,
              deprecated: false,
              terms: expect.objectContaining({ x402Version: 2 }),
            },
          ],
          ownershipVerified: true,
        },
      },
      listing: {
        state: 'seen',
        source: 'x402.org listing',
        asOf,
        ageSec: 1_800,
        data: { listed: true, name: 'Weather', website: ORIGIN.url },
      },
    });
  });

  test('sends no further question if the index does not know the origin', async () => {
    script['public.origins.search'] = () => ({ json: trpc([]) });
    const { x402scan } = await standing().origin(ORIGIN);
    expect(x402scan).toMatchObject({ data: { resources: [], ownershipVerified: null } });
    expect(asked()).not.toContain('public.resources.verificationStatus');
  });

  test('leaves the ownership open if only that question fails', async () => {
    script['public.resources.verificationStatus'] = DOWN;
    const { x402scan } = await standing().origin(ORIGIN);
    expect(x402scan).toMatchObject({ state: 'seen', data: { ownershipVerified: null } });
  });

  test('keeps the last known ownership while that question fails', async () => {
    const { origin } = standing();
    await origin(ORIGIN);
    cache.wait(2 * HOUR_MS);
    script['public.resources.verificationStatus'] = DOWN;
    expect((await origin(ORIGIN)).x402scan).toMatchObject({
      ageSec: 0,
      data: { ownershipVerified: true },
    });
  });

  test('asks each question once in 20 lookups, also in 20 at the same time', async () => {
    const { origin, settlements } = standing();
    await Promise.all(Array.from({ length: 20 }, () => origin(ORIGIN)));
    await Promise.all(Array.from({ length: 20 }, () => settlements(ORIGIN, [PAYEE])));
    for (let round = 0; round < 20; round += 1) {
      await origin(ORIGIN);
      await settlements(ORIGIN, [PAYEE]);
    }
    expect(asked().sort()).toEqual([
      'ecosystem',
      'public.origins.search',
      'public.resources.verificationStatus',
      'public.sellers.bazaar.list',
    ]);
  });

  test('is off if its sources are switched off, each for itself', async () => {
    const off = { state: 'off', why: 'switched-off' };
    const scanless = await standing({ x402scanUrl: null }).origin(ORIGIN);
    expect(scanless).toMatchObject({ x402scan: off, listing: { state: 'seen' } });
    const listless = await standing({ ecosystemUrl: null }).origin(ORIGIN);
    expect(listless).toMatchObject({ x402scan: { state: 'seen' }, listing: off });
    const all = standing({ x402scanUrl: null, bazaarUrl: null, ecosystemUrl: null });
    source.forget();
    expect(await all.origin(ORIGIN)).toEqual({ x402scan: off, listing: off });
    expect(await all.settlements(ORIGIN, [PAYEE])).toEqual(off);
    expect(await all.refreshListing()).toEqual(off);
    expect(source.asked).toEqual([]);
  });
});

describe('settlements', () => {
  test('are those of the origin if the index attributes some to it, and no other source is asked', async () => {
    expect(await standing().settlements(ORIGIN, [PAYEE])).toMatchObject({
      source: 'x402scan',
      data: { address: null, settlements: 42, payers: 7 },
    });
    expect(asked()).toEqual(['public.sellers.bazaar.list']);
  });

  test('are else those to its recipient', async () => {
    script['public.sellers.bazaar.list'] = NO_ROWS;
    expect(await standing().settlements(ORIGIN, [PAYEE])).toMatchObject({
      source: 'x402scan',
      data: { address: PAY_TO, settlements: 12, payers: 4 },
    });
    expect(asked()).not.toContain('merchant');
  });

  test.each([
    ['has none', NO_ROWS],
    ['is down', DOWN],
  ])('are else those of the Bazaar, if x402scan %s', async (_state, says) => {
    script['public.sellers.bazaar.list'] = says;
    script['public.sellers.all.list'] = says;
    expect(await standing().settlements(ORIGIN, [PAYEE])).toMatchObject({
      source: 'Bazaar',
      data: { address: PAY_TO, settlements: 5, payers: 2, lastAt: '2026-08-20T01:00:00.000Z' },
    });
  });

  test('from before the window do not hide those of the next source', async () => {
    script['public.sellers.bazaar.list'] = NO_ROWS;
    script['public.sellers.all.list'] = () => ({
      json: page([
        sellerByAddress(PAY_TO, {
          tx_count: 0,
          unique_buyers: 0,
          latest_block_timestamp: '2026-05-01T00:00:00.000Z',
        }),
      ]),
    });
    expect(await standing().settlements(ORIGIN, [PAYEE])).toMatchObject({ source: 'Bazaar' });
  });

  test('are none according to the source with the longest window', async () => {
    script['public.sellers.bazaar.list'] = NO_ROWS;
    script['public.sellers.all.list'] = NO_ROWS;
    script['merchant'] = () => ({ json: merchant([]) });
    expect(await standing().settlements(ORIGIN, [PAYEE])).toMatchObject({
      source: 'x402scan',
      data: { address: PAY_TO, windowDays: 30, settlements: 0, lastAt: null },
    });
  });

  test('are unknown, not none, if the index does not know the origin and the recipient', async () => {
    script['public.sellers.bazaar.list'] = NO_ROWS;
    expect(await standing().settlements(ORIGIN, [])).toMatchObject({
      state: 'seen',
      data: { address: null, windowDays: 0, settlements: 0 },
    });
    expect(await standing({ x402scanUrl: null }).settlements(ORIGIN, [])).toEqual({
      state: 'failed',
      source: 'Bazaar',
      detail: 'asked by recipient, and this origin names none',
    });
  });

  test('come from the chain only for a recipient on its network', async () => {
    const chain = standing({ x402scanUrl: null, bazaarUrl: null, rpcUrl: source.url });
    const elsewhere = { network: 'eip155:84532', address: PAY_TO };
    expect(await chain.settlements(ORIGIN, [elsewhere])).toMatchObject({ source: 'chain logs' });
    expect(source.asked).toEqual([]);
    for (const network of ['eip155:8453', 'base']) {
      source.forget();
      // Another address each time: a hanging or failing answer would not be asked for again.
      await chain.settlements(ORIGIN, [elsewhere, { network, address: PAY_TO }]);
      expect(source.asked).not.toEqual([]);
    }
  });

  test('share one answer among origins with one recipient', async () => {
    script['public.sellers.bazaar.list'] = NO_ROWS;
    const { settlements } = standing();
    const sibling = parseOrigin('https://api.weather.example.com');
    await settlements(ORIGIN, [PAYEE]);
    await settlements(sibling, [PAYEE]);
    expect(asked().filter((name) => name === 'public.sellers.all.list')).toHaveLength(1);
  });

  test('fail with all reasons if no source answers', async () => {
    Object.assign(script, {
      'public.sellers.bazaar.list': DOWN,
      'public.sellers.all.list': DOWN,
      merchant: DOWN,
    });
    const { host } = new URL(source.url);
    expect(await standing().settlements(ORIGIN, [PAYEE])).toEqual({
      state: 'failed',
      source: 'x402scan, Bazaar',
      detail: `${host} answered 500`,
    });
  });
});

describe('an outage after a good lookup', () => {
  test('changes only the age, for 30 days', async () => {
    const { origin, settlements } = standing();
    const before = [await origin(ORIGIN), await settlements(ORIGIN, [PAYEE])];
    await source.close();
    cache.wait(29 * DAY_MS);
    const after = [await origin(ORIGIN), await settlements(ORIGIN, [PAYEE])];
    const aged = JSON.parse(JSON.stringify(before).replaceAll('"ageSec":0', '"ageSec":2505600'));
    expect(after).toEqual(aged);
    cache.wait(DAY_MS);
    expect(await origin(ORIGIN)).toMatchObject({
      x402scan: { state: 'failed', source: 'x402scan' },
      listing: { state: 'failed', source: 'x402.org listing' },
    });
    expect(await settlements(ORIGIN, [PAYEE])).toMatchObject({ state: 'failed' });
  });

  test('of only the Bazaar or the index keeps the last answer of each', async () => {
    script['public.sellers.bazaar.list'] = NO_ROWS;
    script['public.sellers.all.list'] = NO_ROWS;
    const { settlements } = standing();
    const before = await settlements(ORIGIN, [PAYEE]);
    expect(before).toMatchObject({ source: 'Bazaar', data: { settlements: 5 } });
    Object.assign(script, { merchant: DOWN });
    cache.wait(DAY_MS);
    expect(await settlements(ORIGIN, [PAYEE])).toEqual({ ...before, ageSec: 86_400 });
  });
});

describe('a source that hangs', () => {
  test('costs one time limit for questions that depend on each other', async () => {
    script['public.origins.search'] = () => sleep(4_000, FOUND);
    script['public.resources.verificationStatus'] = HANGS;
    const began = performance.now();
    const { x402scan } = await standing({}, 5_000).origin(ORIGIN);
    expect(x402scan).toMatchObject({ state: 'seen', data: { ownershipVerified: null } });
    // With a limit for each of them it would be nine seconds.
    expect(performance.now() - began).toBeLessThan(8_000);
  });

  test('is not asked again by the same scan, and the others answer in its place', async () => {
    Object.assign(script, { 'public.origins.search': HANGS, 'public.sellers.bazaar.list': HANGS });
    const { origin, settlements } = standing({}, TIMEOUT_MS);
    expect(await origin(ORIGIN)).toMatchObject({ x402scan: { state: 'failed' } });
    expect(await settlements(ORIGIN, [PAYEE])).toMatchObject({ source: 'Bazaar' });
    expect(asked().sort()).toEqual(['ecosystem', 'merchant', 'public.origins.search']);
    cache.wait(30_000);
    script = { ...GOOD };
    expect(await origin(ORIGIN)).toMatchObject({ x402scan: { state: 'seen' } });
  });

  test('does not keep the next source from being asked in time', async () => {
    Object.assign(script, {
      'public.sellers.bazaar.list': HANGS,
      'public.sellers.all.list': HANGS,
    });
    expect(await standing({}, 4_000).settlements(ORIGIN, [PAYEE])).toMatchObject({
      source: 'Bazaar',
      data: { settlements: 5 },
    });
  });
});

describe('the listing', () => {
  test('is renewed once it is half a day old, and scans find it', async () => {
    const { refreshListing, origin } = standing();
    await refreshListing();
    cache.wait(11 * HOUR_MS);
    await refreshListing();
    expect(asked()).toEqual(['ecosystem']);
    cache.wait(HOUR_MS);
    expect(await refreshListing()).toMatchObject({ state: 'seen', ageSec: 0 });
    cache.wait(23 * HOUR_MS);
    expect((await origin(ORIGIN)).listing).toMatchObject({ state: 'seen', ageSec: 23 * 3_600 });
    expect(asked().filter((name) => name === 'ecosystem')).toHaveLength(2);
  });

  test('is kept once for all origins', async () => {
    const { origin } = standing();
    await origin(ORIGIN);
    const local = 'http://127.0.0.1:4000';
    const other = parseOrigin(local, allowOrigin(local, DEFAULT_POLICY));
    expect((await origin(other)).listing).toMatchObject({ data: { listed: false } });
    expect(asked().filter((name) => name === 'ecosystem')).toHaveLength(1);
  });
});

test("names the origin's id, by which the index is asked for its owner", async () => {
  await standing().origin(ORIGIN);
  const query = source.asked.find((url) => url.includes('verificationStatus')) ?? '';
  const input = new URL(query, source.url).searchParams.get('input') ?? '';
  expect(JSON.parse(input)).toEqual({ json: { originId: ORIGIN_ID } });
});
