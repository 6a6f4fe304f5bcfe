import { setImmediate } from 'node:timers/promises';
import nock from 'nock';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { askBazaarListings, askBazaarSettlements } from '../../src/indexes/bazaar.ts';
import { bazaarItem, MERCHANT_NOT_FOUND, merchant, PAY_TO } from './recorded-answers.ts';
import { requestContext } from './request-context.ts';
import { type Said, startStandIn } from './stand-in.ts';

const HOST = 'https://api.cdp.example';
const UNKNOWN = { address: PAY_TO, windowDays: 0, settlements: 0, payers: 0, lastAt: null };

beforeEach(() => {
  nock.disableNetConnect();
  nock.enableNetConnect('127.0.0.1');
});
afterEach(() => {
  nock.cleanAll();
  nock.enableNetConnect();
});

const onMerchant = (path = '/platform/v2/x402') =>
  nock(HOST).get(`${path}/discovery/merchant`).query({ payTo: PAY_TO, limit: 100 });
const lookup = (base = HOST) => askBazaarSettlements(base, PAY_TO, requestContext());

describe("the Bazaar's count for an address", () => {
  test('adds up over its resources; payers may be the same ones', async () => {
    const busy = {
      l30DaysTotalCalls: 20,
      l30DaysUniquePayers: 5,
      lastCalledAt: '2026-08-19T10:00:00Z',
    };
    const calm = {
      l30DaysTotalCalls: 1,
      l30DaysUniquePayers: 1,
      lastCalledAt: '2026-08-01T10:00:00Z',
    };
    onMerchant().reply(200, merchant([bazaarItem(calm), bazaarItem(busy), bazaarItem(null)]));
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

  test('is none in the whole window if all counts are 0', async () => {
    const quality = { l30DaysTotalCalls: 0, l30DaysUniquePayers: 0, lastCalledAt: null };
    onMerchant().reply(200, merchant([bazaarItem(quality)]));
    expect(await lookup()).toEqual({ ok: true, value: { ...UNKNOWN, windowDays: 30 } });
  });

  test.each([null, undefined, {}])('is unknown if the quality is %j', async (quality) => {
    onMerchant().reply(200, merchant([bazaarItem(quality)]));
    expect(await lookup()).toEqual({ ok: true, value: UNKNOWN });
  });

  test('keeps the last call if the Bazaar gives only that', async () => {
    onMerchant().reply(200, merchant([bazaarItem({ lastCalledAt: '2026-08-19T10:00:00Z' })]));
    expect(await lookup()).toEqual({
      ok: true,
      value: { ...UNKNOWN, lastAt: '2026-08-19T10:00:00.000Z' },
    });
  });

  test('leaves out resources that pay others, should the filter be ignored', async () => {
    const quality = { l30DaysTotalCalls: 9, l30DaysUniquePayers: 9, lastCalledAt: null };
    const other = '0x2222222222222222222222222222222222222222';
    onMerchant().reply(200, merchant([bazaarItem(quality, other)]));
    expect(await lookup()).toEqual({ ok: true, value: UNKNOWN });
  });

  test('is unknown for a merchant that it does not list: an empty list, or its own 404', async () => {
    onMerchant().reply(200, merchant([]));
    expect(await lookup()).toEqual({ ok: true, value: UNKNOWN });
    onMerchant().reply(404, MERCHANT_NOT_FOUND);
    expect(await lookup()).toEqual({ ok: true, value: UNKNOWN });
  });

  test('may come from an interface at another path', async () => {
    onMerchant('/x402').reply(200, merchant([]));
    expect(await lookup(`${HOST}/x402`)).toMatchObject({ ok: true });
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
    onMerchant().reply(status, body);
    expect(await lookup()).toEqual({
      ok: false,
      detail: expect.stringContaining(detail),
      quietMs: 0,
    });
  });

  test('over the cap fails', async () => {
    onMerchant().reply(200, `"${'x'.repeat(8 * 1024 * 1024)}"`);
    expect(await lookup()).toMatchObject({
      ok: false,
      detail: expect.stringContaining('more than'),
    });
  });

  test('of 900 KB is read', async () => {
    const item = { ...bazaarItem({ l30DaysTotalCalls: 3 }), padding: 'x'.repeat(900_000) };
    onMerchant().reply(200, merchant([item]));
    expect(await lookup()).toMatchObject({ ok: true, value: { settlements: 3 } });
  });

  test('that says it is busy is asked for once more', async () => {
    onMerchant().reply(503, '', { 'retry-after': '0' });
    onMerchant().reply(200, merchant([]));
    expect(await lookup()).toMatchObject({ ok: true });
    onMerchant().reply(429, '', { 'retry-after': '60' });
    expect(await lookup()).toMatchObject({ ok: false, quietMs: 60_000 });
  });
});

describe('the listings of a recipient', () => {
  /** Pages of a Bazaar with this many items; `broken` may answer in place of a page. */
  async function startBazaar(count: number, broken: (offset: number) => Said | null = () => null) {
    let [open, most] = [0, 0];
    const source = await startStandIn(async ({ searchParams }) => {
      open += 1;
      most = Math.max(most, open);
      await setImmediate();
      open -= 1;
      const offset = Number(searchParams.get('offset') ?? 0);
      const left = Math.min(100, Math.max(0, count - offset));
      const items = Array.from({ length: left }, (_, at) => itemAt(offset + at));
      return broken(offset) ?? { json: merchant(items) };
    });
    onTestFinished(() => source.close());
    const offsets = () =>
      source.asked.map((path) => new URL(path, source.url).searchParams.get('offset'));
    const found = await askBazaarListings(source.url, PAY_TO, requestContext());
    if (!found.ok) throw new Error(found.detail);
    return { ...found.value, offsets: offsets(), most };
  }
  const itemAt = (at: number) => ({
    ...bazaarItem({ lastCalledAt: '2026-08-19T10:00:00Z' }),
    resource: `https://weather.example.com/paid/${at}`,
  });

  test.each([
    [0, [null]],
    [99, [null]],
    [100, [null, '100']],
    [240, [null, '100', '200']],
  ])('are read to the end, one page at a time: %d', async (count, offsets) => {
    const found = await startBazaar(count);
    expect(found).toMatchObject({ isComplete: true, offsets, most: 1 });
    expect(new Set(found.resources.map(({ resource }) => resource)).size).toBe(count);
  });

  test('are read in five pages at most', async () => {
    const found = await startBazaar(900);
    expect(found.resources).toHaveLength(500);
    expect(found).toMatchObject({ isComplete: false, offsets: [null, '100', '200', '300', '400'] });
  });

  test('are those of the pages that were read', async () => {
    const found = await startBazaar(240, (offset) =>
      offset === 200 ? { status: 500, json: {} } : null,
    );
    expect(found).toMatchObject({ isComplete: false });
    expect(found.resources).toHaveLength(200);
  });

  test('are not counted twice if the page does not advance', async () => {
    const first = Array.from({ length: 100 }, (_, at) => itemAt(at));
    const found = await startBazaar(100, () => ({ json: merchant(first) }));
    expect(found).toMatchObject({ isComplete: false, offsets: [null, '100'] });
    expect(found.resources).toHaveLength(100);
  });

  test('say when each was last paid', async () => {
    const { resources } = await startBazaar(1);
    expect(resources).toMatchObject([{ lastSettledAt: '2026-08-19T10:00:00.000Z' }]);
  });
});
