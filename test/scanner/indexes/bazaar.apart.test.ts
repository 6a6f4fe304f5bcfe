import { setImmediate } from 'node:timers/promises';
import nock from 'nock';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { mapAnswer } from '../../../src/scanner/indexes/ask.ts';
import { shareMerchantAnswers, toFacts, toListings } from '../../../src/scanner/indexes/bazaar.ts';
import { bazaarItem, MERCHANT_NOT_FOUND, merchant, PAY_TO } from './recorded-answers.ts';
import { requestContext } from './request-context.ts';
import { type StandInAnswer, startStandIn } from './stand-in.ts';

const BAZAAR_URL = 'https://api.cdp.example';
const NO_COUNTS = { address: PAY_TO, windowDays: 0, settlements: 0, payers: 0, lastAt: null };

beforeEach(() => {
  nock.disableNetConnect();
  nock.enableNetConnect('127.0.0.1');
});
afterEach(() => {
  nock.cleanAll();
  nock.enableNetConnect();
});

const mockMerchant = (path = '/platform/v2/x402') =>
  nock(BAZAAR_URL).get(`${path}/discovery/merchant`).query({ payTo: PAY_TO, limit: 100 });
const askMerchant = (base: string) =>
  shareMerchantAnswers(Date.now)(base, PAY_TO, requestContext());
const lookup = async (base = BAZAAR_URL) =>
  mapAnswer(await askMerchant(base), ({ items }) => toFacts(items, PAY_TO));

describe("the Bazaar's count for an address", () => {
  test('is the sum of the calls of all its resources, but the greatest number of payers, because resources may share payers', async () => {
    const busyResource = {
      l30DaysTotalCalls: 20,
      l30DaysUniquePayers: 5,
      lastCalledAt: '2026-08-19T10:00:00Z',
    };
    const calmResource = {
      l30DaysTotalCalls: 1,
      l30DaysUniquePayers: 1,
      lastCalledAt: '2026-08-01T10:00:00Z',
    };
    mockMerchant().reply(
      200,
      merchant([bazaarItem(calmResource), bazaarItem(busyResource), bazaarItem(null)]),
    );
    expect(await lookup()).toEqual({
      ok: true,
      value: {
        address: PAY_TO,
        windowDays: 30,
        settlements: 21,
        payers: 5,
        lastAt: '2026-08-19T10:00:00.000Z',
      },
    });
  });

  test('is 0 in the whole window if all counts are 0', async () => {
    const quality = { l30DaysTotalCalls: 0, l30DaysUniquePayers: 0, lastCalledAt: null };
    mockMerchant().reply(200, merchant([bazaarItem(quality)]));
    expect(await lookup()).toEqual({ ok: true, value: { ...NO_COUNTS, windowDays: 30 } });
  });

  test.each([null, undefined, {}])('is unknown if the quality is %j', async (quality) => {
    mockMerchant().reply(200, merchant([bazaarItem(quality)]));
    expect(await lookup()).toEqual({ ok: true, value: NO_COUNTS });
  });

  test('keeps the last call if the Bazaar gives no other fact', async () => {
    mockMerchant().reply(200, merchant([bazaarItem({ lastCalledAt: '2026-08-19T10:00:00Z' })]));
    expect(await lookup()).toEqual({
      ok: true,
      value: { ...NO_COUNTS, lastAt: '2026-08-19T10:00:00.000Z' },
    });
  });

  test('leaves out resources that pay other addresses, even if the Bazaar ignores the filter', async () => {
    const quality = { l30DaysTotalCalls: 9, l30DaysUniquePayers: 9, lastCalledAt: null };
    const otherAddress = '0x2222222222222222222222222222222222222222';
    mockMerchant().reply(200, merchant([bazaarItem(quality, otherAddress)]));
    expect(await lookup()).toEqual({ ok: true, value: NO_COUNTS });
  });

  test('is unknown if the Bazaar answers an empty list or its own 404 for the merchant', async () => {
    mockMerchant().reply(200, merchant([]));
    expect(await lookup()).toEqual({ ok: true, value: NO_COUNTS });
    mockMerchant().reply(404, MERCHANT_NOT_FOUND);
    expect(await lookup()).toEqual({ ok: true, value: NO_COUNTS });
  });

  test('is requested below the path of the configured URL', async () => {
    mockMerchant('/x402').reply(200, merchant([]));
    expect(await lookup(`${BAZAAR_URL}/x402`)).toMatchObject({ ok: true });
  });
});

describe('an answer of the Bazaar', () => {
  test.each([
    [404, '<html>', 'api.cdp.example answered 404'],
    [404, '{"message":"no such route"}', 'api.cdp.example answered 404'],
    [500, '{}', 'api.cdp.example answered 500'],
    [200, '{}', 'api.cdp.example answered in an unknown shape'],
    [200, 'null', 'api.cdp.example answered in an unknown shape'],
    [200, '<html>', 'api.cdp.example answered in an unknown shape'],
    [200, '{"resources":[{"quality":{"l30DaysTotalCalls":"20"}}]}', 'in an unknown shape'],
    [200, '{"resources":[{"quality":{"l30DaysTotalCalls":-1}}]}', 'in an unknown shape'],
  ])('%i %s fails', async (status, body, detail) => {
    mockMerchant().reply(status, body);
    expect(await lookup()).toEqual({
      ok: false,
      detail: expect.stringContaining(detail),
      pauseMs: 0,
    });
  });

  test('with more bytes than the limit fails', async () => {
    mockMerchant().reply(200, `"${'x'.repeat(8 * 1024 * 1024)}"`);
    expect(await lookup()).toMatchObject({
      ok: false,
      detail: expect.stringContaining('more than'),
    });
  });

  test('with 900 KB is read', async () => {
    const item = { ...bazaarItem({ l30DaysTotalCalls: 3 }), padding: 'x'.repeat(900_000) };
    mockMerchant().reply(200, merchant([item]));
    expect(await lookup()).toMatchObject({ ok: true, value: { settlements: 3 } });
  });

  test('that is 503 or 429 with a short Retry-After is followed by one more request', async () => {
    mockMerchant().reply(503, '', { 'retry-after': '0' });
    mockMerchant().reply(200, merchant([]));
    expect(await lookup()).toMatchObject({ ok: true });
    mockMerchant().reply(429, '', { 'retry-after': '60' });
    expect(await lookup()).toMatchObject({ ok: false, pauseMs: 60_000 });
  });
});

describe('the Bazaar listings of a recipient', () => {
  /** Reads a Bazaar that has `count` items. `answerInstead` may return another answer in place of a page. */
  async function readBazaar(
    count: number,
    answerInstead: (offset: number) => StandInAnswer | null = () => null,
  ) {
    let [open, maxOpen] = [0, 0];
    const source = await startStandIn(async ({ searchParams }) => {
      open += 1;
      maxOpen = Math.max(maxOpen, open);
      await setImmediate();
      open -= 1;
      const offset = Number(searchParams.get('offset') ?? 0);
      const rowsLeft = Math.min(100, Math.max(0, count - offset));
      const items = Array.from({ length: rowsLeft }, (_, at) => createItem(offset + at));
      return answerInstead(offset) ?? { json: merchant(items) };
    });
    onTestFinished(() => source.close());
    const offsets = () =>
      source.requestedPaths.map((path) => new URL(path, source.url).searchParams.get('offset'));
    const lookup = mapAnswer(await askMerchant(source.url), toListings);
    if (!lookup.ok) throw new Error(lookup.detail);
    return { ...lookup.value, offsets: offsets(), maxOpen };
  }
  const createItem = (at: number) => ({
    ...bazaarItem({ lastCalledAt: '2026-08-19T10:00:00Z' }),
    resource: `https://weather.example.com/paid/${at}`,
  });

  test.each([
    [0, [null]],
    [99, [null]],
    [100, [null, '100']],
    [240, [null, '100', '200']],
  ])('are read to the end, one page at a time, if there are %d', async (count, offsets) => {
    const listings = await readBazaar(count);
    expect(listings).toMatchObject({ isComplete: true, offsets, maxOpen: 1 });
    expect(new Set(listings.resources.map(({ resource }) => resource)).size).toBe(count);
  });

  test('are read in five pages at most', async () => {
    const listings = await readBazaar(900);
    expect(listings.resources).toHaveLength(500);
    expect(listings).toMatchObject({
      isComplete: false,
      offsets: [null, '100', '200', '300', '400'],
    });
  });

  test('are incomplete if a later page fails, and the listings of the earlier pages are kept', async () => {
    const listings = await readBazaar(240, (offset) =>
      offset === 200 ? { status: 500, json: {} } : null,
    );
    expect(listings).toMatchObject({ isComplete: false });
    expect(listings.resources).toHaveLength(200);
  });

  test('are not counted twice if the Bazaar repeats the same page', async () => {
    const firstPage = Array.from({ length: 100 }, (_, at) => createItem(at));
    const listings = await readBazaar(100, () => ({ json: merchant(firstPage) }));
    expect(listings).toMatchObject({ isComplete: false, offsets: [null, '100'] });
    expect(listings.resources).toHaveLength(100);
  });

  test('say when each resource was last paid', async () => {
    const { resources } = await readBazaar(1);
    expect(resources).toMatchObject([{ lastSettledAt: '2026-08-19T10:00:00.000Z' }]);
  });
});
