import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { allowOrigin, DEFAULT_POLICY, parseOrigin } from '../../../src/scanner/guard/origin.ts';
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
import {
  bazaarItem,
  merchant,
  ORIGIN_ID,
  originRow,
  PAY_TO,
  page,
  resourceRow,
  sellerByAddress,
  trpc,
} from './recorded-answers.ts';
import { PATIENT_MS } from './request-context.ts';
import type { StandIn, StandInAnswer } from './stand-in.ts';

const ORIGIN = parseOrigin('https://weather.example.com');
const PAYEE = { network: 'eip155:8453', address: PAY_TO };
const QUALITY = {
  l30DaysTotalCalls: 5,
  l30DaysUniquePayers: 2,
  lastCalledAt: '2026-08-20T01:00:00Z',
};
const SHORT_TIMEOUT_MS = 1_000;

const ORIGIN_FOUND: StandInAnswer = {
  json: trpc([originRow(ORIGIN.url, [resourceRow(`${ORIGIN.url}/paid`)])]),
};
const GOOD_ANSWERS: AnswersByName = {
  ...answersKnowing(ORIGIN.url),
  merchant: () => ({ json: merchant([bazaarItem(QUALITY)]) }),
};
const answerNoRows = () => ({ json: page([]) });
const answer500 = (): StandInAnswer => ({ status: 500, json: 'down' });
const hang = (): StandInAnswer => 'hang';

let source: StandIn;
let answersByName: AnswersByName;
let cache: MemoryCache;
beforeEach(async () => {
  answersByName = { ...GOOD_ANSWERS };
  cache = memoryCache();
  source = await startSources(() => answersByName);
});
afterEach(() => source.close());

const openStanding = (overrides: Partial<SourceOptions> = {}, timeoutMs = PATIENT_MS) =>
  createStanding(sourcesAt(source, overrides), cache, timeoutMs);

describe('the standing of an origin', () => {
  test('holds the facts of x402scan and of the partner listing, with their age', async () => {
    const { origin } = openStanding();
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

  test('does not ask for the ownership of an origin that x402scan does not know', async () => {
    answersByName['public.origins.search'] = () => ({ json: trpc([]) });
    const { x402scan } = await openStanding().origin(ORIGIN);
    expect(x402scan).toMatchObject({ data: { resources: [], ownershipVerified: null } });
    expect(listRequests(source)).not.toContain('public.resources.verificationStatus');
  });

  test('leaves the ownership unknown if only the request for the ownership fails', async () => {
    answersByName['public.resources.verificationStatus'] = answer500;
    const { x402scan } = await openStanding().origin(ORIGIN);
    expect(x402scan).toMatchObject({ state: 'seen', data: { ownershipVerified: null } });
  });

  test('keeps the last known ownership while the request for the ownership fails', async () => {
    const { origin } = openStanding();
    await origin(ORIGIN);
    cache.wait(2 * HOUR_MS);
    answersByName['public.resources.verificationStatus'] = answer500;
    expect((await origin(ORIGIN)).x402scan).toMatchObject({
      ageSec: 0,
      data: { ownershipVerified: true },
    });
  });

  test('is off for each source that is switched off', async () => {
    const switchedOff = { state: 'off', why: 'switched-off' };
    const withoutX402scan = await openStanding({ x402scanUrl: null }).origin(ORIGIN);
    expect(withoutX402scan).toMatchObject({ x402scan: switchedOff, listing: { state: 'seen' } });
    const withoutListing = await openStanding({ ecosystemUrl: null }).origin(ORIGIN);
    expect(withoutListing).toMatchObject({ x402scan: { state: 'seen' }, listing: switchedOff });
    const withoutSources = openStanding({ x402scanUrl: null, bazaarUrl: null, ecosystemUrl: null });
    source.forget();
    expect(await withoutSources.origin(ORIGIN)).toEqual({
      x402scan: switchedOff,
      listing: switchedOff,
    });
    expect(await withoutSources.settlements(ORIGIN, [PAYEE])).toEqual(switchedOff);
    expect(await withoutSources.refreshPartners()).toEqual(switchedOff);
    expect(source.requestedPaths).toEqual([]);
  });
});

describe('settlements', () => {
  test('come from the row of the origin if x402scan has one, and no other source is asked', async () => {
    expect(await openStanding().settlements(ORIGIN, [PAYEE])).toMatchObject({
      source: 'x402scan',
      data: { address: null, settlements: 42, payers: 7 },
    });
    expect(listRequests(source)).toEqual(['public.sellers.bazaar.list']);
  });

  test('come from the row of the recipient if the origin has no row', async () => {
    answersByName['public.sellers.bazaar.list'] = answerNoRows;
    expect(await openStanding().settlements(ORIGIN, [PAYEE])).toMatchObject({
      source: 'x402scan',
      data: { address: PAY_TO, settlements: 12, payers: 4 },
    });
    expect(listRequests(source)).not.toContain('merchant');
  });

  test.each([
    ['has no row', answerNoRows],
    ['is down', answer500],
  ])('come from the Bazaar if x402scan %s', async (_title, answer) => {
    answersByName['public.sellers.bazaar.list'] = answer;
    answersByName['public.sellers.all.list'] = answer;
    expect(await openStanding().settlements(ORIGIN, [PAYEE])).toMatchObject({
      source: 'Bazaar',
      data: { address: PAY_TO, settlements: 5, payers: 2, lastAt: '2026-08-20T01:00:00.000Z' },
    });
  });

  test('that x402scan saw only before its window do not keep the Bazaar from being asked', async () => {
    answersByName['public.sellers.bazaar.list'] = answerNoRows;
    answersByName['public.sellers.all.list'] = () => ({
      json: page([
        sellerByAddress(PAY_TO, {
          tx_count: 0,
          unique_buyers: 0,
          latest_block_timestamp: '2026-05-01T00:00:00.000Z',
        }),
      ]),
    });
    expect(await openStanding().settlements(ORIGIN, [PAYEE])).toMatchObject({ source: 'Bazaar' });
  });

  test('are 0 with the longest window if no source knows a settlement', async () => {
    answersByName['public.sellers.bazaar.list'] = answerNoRows;
    answersByName['public.sellers.all.list'] = answerNoRows;
    answersByName['merchant'] = () => ({ json: merchant([]) });
    expect(await openStanding().settlements(ORIGIN, [PAYEE])).toMatchObject({
      source: 'x402scan',
      data: { address: PAY_TO, windowDays: 30, settlements: 0, lastAt: null },
    });
  });

  test('are unknown, not 0, if the origin names no recipient and x402scan has no row of the origin', async () => {
    answersByName['public.sellers.bazaar.list'] = answerNoRows;
    expect(await openStanding().settlements(ORIGIN, [])).toMatchObject({
      state: 'seen',
      data: { address: null, windowDays: 0, settlements: 0 },
    });
    expect(await openStanding({ x402scanUrl: null }).settlements(ORIGIN, [])).toEqual({
      state: 'failed',
      source: 'Bazaar',
      detail: 'it is asked by recipient, and this origin names no recipient',
    });
  });

  test('come from the chain only for a recipient on the network of the node', async () => {
    const chain = openStanding({ x402scanUrl: null, bazaarUrl: null, rpcUrl: source.url });
    const otherPayee = { network: 'eip155:84532', address: PAY_TO };
    expect(await chain.settlements(ORIGIN, [otherPayee])).toMatchObject({ source: 'chain logs' });
    expect(source.requestedPaths).toEqual([]);
    for (const network of ['eip155:8453', 'base']) {
      source.forget();
      // The node can be asked only about the second recipient, because the first is on another network.
      await chain.settlements(ORIGIN, [otherPayee, { network, address: PAY_TO }]);
      expect(source.requestedPaths).not.toEqual([]);
    }
  });

  test('share one answer among origins with one recipient', async () => {
    answersByName['public.sellers.bazaar.list'] = answerNoRows;
    const { settlements } = openStanding();
    const siblingOrigin = parseOrigin('https://api.weather.example.com');
    await settlements(ORIGIN, [PAYEE]);
    await settlements(siblingOrigin, [PAYEE]);
    expect(listRequests(source).filter((name) => name === 'public.sellers.all.list')).toHaveLength(
      1,
    );
  });

  test('fail with the names of all sources if none answers', async () => {
    Object.assign(answersByName, {
      'public.sellers.bazaar.list': answer500,
      'public.sellers.all.list': answer500,
      merchant: answer500,
    });
    const { host } = new URL(source.url);
    expect(await openStanding().settlements(ORIGIN, [PAYEE])).toEqual({
      state: 'failed',
      source: 'x402scan, Bazaar',
      detail: `${host} answered 500`,
    });
  });
});

test('an outage of only the Bazaar leaves its last answer in use', async () => {
  answersByName['public.sellers.bazaar.list'] = answerNoRows;
  answersByName['public.sellers.all.list'] = answerNoRows;
  const { settlements } = openStanding();
  const answerBefore = await settlements(ORIGIN, [PAYEE]);
  expect(answerBefore).toMatchObject({ source: 'Bazaar', data: { settlements: 5 } });
  Object.assign(answersByName, { merchant: answer500 });
  cache.wait(DAY_MS);
  expect(await settlements(ORIGIN, [PAYEE])).toEqual({ ...answerBefore, ageSec: 86_400 });
});

describe('a source that hangs', () => {
  test('has one time limit for two requests if the second depends on the first', async () => {
    answersByName['public.origins.search'] = () => sleep(4_000, ORIGIN_FOUND);
    answersByName['public.resources.verificationStatus'] = hang;
    const beganAtMs = performance.now();
    const { x402scan } = await openStanding({}, 5_000).origin(ORIGIN);
    expect(x402scan).toMatchObject({ state: 'seen', data: { ownershipVerified: null } });
    // With a time limit for each request the lookup would take nine seconds.
    expect(performance.now() - beganAtMs).toBeLessThan(8_000);
  });

  test('is not asked again by the same scan, and other sources are asked instead', async () => {
    Object.assign(answersByName, {
      'public.origins.search': hang,
      'public.sellers.bazaar.list': hang,
    });
    const { origin, settlements } = openStanding({}, SHORT_TIMEOUT_MS);
    expect(await origin(ORIGIN)).toMatchObject({ x402scan: { state: 'failed' } });
    expect(await settlements(ORIGIN, [PAYEE])).toMatchObject({ source: 'Bazaar' });
    expect(listRequests(source).toSorted()).toEqual([
      'ecosystem',
      'merchant',
      'public.origins.search',
    ]);
    cache.wait(30_000);
    answersByName = { ...GOOD_ANSWERS };
    expect(await origin(ORIGIN)).toMatchObject({ x402scan: { state: 'seen' } });
  });

  test('does not keep the next source from being asked in time', async () => {
    Object.assign(answersByName, {
      'public.sellers.bazaar.list': hang,
      'public.sellers.all.list': hang,
    });
    expect(await openStanding({}, 4_000).settlements(ORIGIN, [PAYEE])).toMatchObject({
      source: 'Bazaar',
      data: { settlements: 5 },
    });
  });
});

describe('the partner listing', () => {
  test('is read again when it is half a day old, and until then scans use the stored listing', async () => {
    const { refreshPartners, origin } = openStanding();
    await refreshPartners();
    cache.wait(11 * HOUR_MS);
    await refreshPartners();
    expect(listRequests(source)).toEqual(['ecosystem']);
    cache.wait(HOUR_MS);
    expect(await refreshPartners()).toMatchObject({ state: 'seen', ageSec: 0 });
    cache.wait(23 * HOUR_MS);
    expect((await origin(ORIGIN)).listing).toMatchObject({ state: 'seen', ageSec: 23 * 3_600 });
    expect(listRequests(source).filter((name) => name === 'ecosystem')).toHaveLength(2);
  });

  test('is kept once for all origins', async () => {
    const { origin } = openStanding();
    await origin(ORIGIN);
    const localUrl = 'http://127.0.0.1:4000';
    const otherOrigin = parseOrigin(localUrl, allowOrigin(localUrl, DEFAULT_POLICY));
    expect((await origin(otherOrigin)).listing).toMatchObject({ data: { listed: false } });
    expect(listRequests(source).filter((name) => name === 'ecosystem')).toHaveLength(1);
  });
});

test('x402scan is asked for the ownership by its id of the origin', async () => {
  await openStanding().origin(ORIGIN);
  const query = source.requestedPaths.find((url) => url.includes('verificationStatus')) ?? '';
  const input = new URL(query, source.url).searchParams.get('input') ?? '';
  expect(JSON.parse(input)).toEqual({ json: { originId: ORIGIN_ID } });
});
