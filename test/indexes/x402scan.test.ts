import nock from 'nock';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parseOrigin } from '../../src/guard/origin.ts';
import type { IndexAnswer } from '../../src/indexes/ask.ts';
import {
  askX402scanByAddress,
  askX402scanByOrigin,
  askX402scanOrigin,
  askX402scanVerified,
} from '../../src/indexes/x402scan.ts';
import {
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
import { requestContext } from './request-context.ts';

const BASE = 'https://www.x402scan.example';
const ORIGIN = parseOrigin('https://weather.example.com');
const OTHER = 'https://notweather.example.com';
const EMPTY = { id: null, resources: [] };

beforeEach(() => nock.disableNetConnect());
afterEach(() => {
  nock.cleanAll();
  nock.enableNetConnect();
});

/** Answers the procedure if it is asked with exactly this input. */
function onAsked(procedure: string, input: object) {
  return nock(BASE)
    .get(`/api/trpc/${procedure}`)
    .query({ input: JSON.stringify({ json: input }) });
}

const onSearch = (search: string) => onAsked('public.origins.search', { search, limit: 10 });
const lookup = () => askX402scanOrigin(BASE, ORIGIN, requestContext());

describe('the origin in the index of x402scan', () => {
  test('is found with its resources', async () => {
    onSearch('weather.example.com').reply(
      200,
      trpc([
        originRow(ORIGIN.url, [
          resourceRow(`${ORIGIN.url}/paid`),
          resourceRow(`${ORIGIN.url}/old`, {
            method: 'POST',
            deprecatedAt: '2026-08-01T00:00:00.000Z',
            lastUpdated: null,
            accepts: [],
          }),
        ]),
      ]),
    );
    expect(await lookup()).toEqual({
      ok: true,
      value: {
        id: ORIGIN_ID,
        resources: [
          {
            resource: `${ORIGIN.url}/paid`,
            method: null,
            lastUpdated: '2026-08-18T09:15:00.000Z',
            accepts: 1,
            deprecated: false,
            terms: {
              x402Version: 2,
              description: null,
              inputSchema: null,
              offers: [{ price: null, payTo: PAY_TO, network: null, asset: null, scheme: null }],
            },
          },
          {
            resource: `${ORIGIN.url}/old`,
            method: 'POST',
            lastUpdated: null,
            accepts: 0,
            deprecated: true,
            terms: { x402Version: 2, description: null, inputSchema: null, offers: [] },
          },
        ],
      },
    });
  });

  test('is compared as an origin: a path, a port or another scheme makes another one', async () => {
    const others = [
      OTHER,
      'https://weather.example.com.evil.example',
      'http://weather.example.com',
    ];
    const rows = [...others, 'https://weather.example.com:8443', 'not a url'];
    onSearch('weather.example.com').reply(
      200,
      trpc(rows.map((origin) => originRow(origin, [resourceRow(`${origin}/paid`)]))),
    );
    const elsewhere = ['http://weather.example.com/paid', 'https://weather.example.com:8443/paid'];
    expect(await lookup()).toEqual({ ok: true, value: { ...EMPTY, elsewhere } });
  });

  test('is found under its trailing slash too', async () => {
    onSearch('weather.example.com').reply(200, trpc([originRow(`${ORIGIN.url}/`, [])]));
    expect(await lookup()).toEqual({ ok: true, value: { id: ORIGIN_ID, resources: [] } });
  });

  test('is absent if nothing is found', async () => {
    onSearch('weather.example.com').reply(200, trpc([]));
    expect(await lookup()).toEqual({ ok: true, value: EMPTY });
  });

  test('is searched for more closely behind a full page of others', async () => {
    const others = Array.from({ length: 10 }, (_, index) =>
      originRow(`https://a${index}.example`, []),
    );
    onSearch('weather.example.com').reply(200, trpc(others));
    onSearch('https://weather.example.com').reply(200, trpc([originRow(ORIGIN.url, [])]));
    expect(await lookup()).toMatchObject({ ok: true, value: { id: ORIGIN_ID } });
  });

  test('is unknown, not absent, behind two full pages of others', async () => {
    const others = Array.from({ length: 10 }, (_, index) =>
      originRow(`https://a${index}.example`, []),
    );
    onSearch('weather.example.com').reply(200, trpc(others));
    onSearch('https://weather.example.com').reply(200, trpc(others));
    expect(await lookup()).toMatchObject({
      ok: false,
      detail: expect.stringContaining('too many'),
    });
  });
});

describe('the verification status', () => {
  const status = () => askX402scanVerified(BASE, ORIGIN_ID, requestContext());
  const onStatus = () => onAsked('public.resources.verificationStatus', { originId: ORIGIN_ID });

  test.each([
    [verification(3, 3), true],
    [verification(2, 3), false],
    [verification(0, 3), false],
    [verification(0, 0), false],
    [trpc({ verified: true }), true],
    [trpc({ verified: false }), false],
  ])('%j means %s', async (answer, expected) => {
    onStatus().reply(200, answer);
    expect(await status()).toEqual({ ok: true, value: expected });
  });

  test.each([trpc({ verified: 'yes' }), trpc({}), trpc(null)])(
    '%j is no answer',
    async (answer) => {
      onStatus().reply(200, answer);
      expect(await status()).toMatchObject({ ok: false });
    },
  );
});

describe('settlements by origin', () => {
  const lookup = () => askX402scanByOrigin(BASE, ORIGIN, requestContext());
  const onList = () =>
    onAsked('public.sellers.bazaar.list', {
      originUrls: [ORIGIN.url],
      timeframe: 30,
      sorting: { id: 'tx_count', desc: true },
    });

  test('are those of the row of this origin', async () => {
    const rows = [sellerOfOrigin(OTHER, { tx_count: 900 }), sellerOfOrigin(ORIGIN.url)];
    onList().reply(200, page(rows));
    expect(await lookup()).toEqual({
      ok: true,
      value: {
        address: null,
        windowDays: 30,
        settlements: 42,
        payers: 7,
        lastAt: '2026-08-19T23:00:00.000Z',
      },
    });
  });

  test('prove nothing if the index has no row of it', async () => {
    onList().reply(200, page([sellerOfOrigin(OTHER)]));
    expect(await lookup()).toEqual({
      ok: true,
      value: { address: null, windowDays: 0, settlements: 0, payers: 0, lastAt: null },
    });
  });
});

describe('settlements by address', () => {
  const lookup = (address = PAY_TO) => askX402scanByAddress(BASE, address, requestContext());
  const onList = (address = PAY_TO) =>
    onAsked('public.sellers.all.list', { recipients: { include: [address] }, timeframe: 30 });

  test('add up over rows; buyers may be the same, so the greatest count is taken', async () => {
    const lower = PAY_TO.toLowerCase();
    onList().reply(
      200,
      page([
        sellerByAddress(lower),
        sellerByAddress(lower, {
          tx_count: 3,
          unique_buyers: 2,
          latest_block_timestamp: '2026-08-15T08:00:00.000Z',
        }),
      ]),
    );
    expect(await lookup()).toEqual({
      ok: true,
      value: {
        address: PAY_TO,
        windowDays: 30,
        settlements: 15,
        payers: 4,
        lastAt: '2026-08-15T08:00:00.000Z',
      },
    });
  });

  test('are none in the whole window if there is no row', async () => {
    onList().reply(200, page([]));
    expect(await lookup()).toMatchObject({
      ok: true,
      value: { windowDays: 30, settlements: 0, lastAt: null },
    });
  });

  test('never include payments to others, should the filter be ignored', async () => {
    onList().reply(200, page([sellerByAddress('0x2222222222222222222222222222222222222222')]));
    expect(await lookup()).toMatchObject({ ok: true, value: { settlements: 0 } });
  });

  test('tell base58 addresses apart by case', async () => {
    const solana = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
    onList(solana).reply(200, page([sellerByAddress(solana.toLowerCase())]));
    expect(await lookup(solana)).toMatchObject({ ok: true, value: { settlements: 0 } });
  });
});

const QUESTIONS: Record<string, () => Promise<IndexAnswer<unknown>>> = {
  'public.origins.search': lookup,
  'public.resources.verificationStatus': () =>
    askX402scanVerified(BASE, ORIGIN_ID, requestContext()),
  'public.sellers.bazaar.list': () => askX402scanByOrigin(BASE, ORIGIN, requestContext()),
  'public.sellers.all.list': () => askX402scanByAddress(BASE, PAY_TO, requestContext()),
};

describe.each(Object.entries(QUESTIONS))('%s', (procedure, question) => {
  const on = () => nock(BASE).get(`/api/trpc/${procedure}`).query(true);

  test.each([
    {},
    [],
    null,
    { result: { data: {} } },
    { result: { data: { json: 'text' } } },
    { result: { data: { json: [{ origin: 7 }] } } },
    { error: { json: { message: 'No procedure found on path', code: -32004 } } },
  ])('with the answer %j say so', async (answer) => {
    on().reply(200, JSON.stringify(answer));
    expect(await question()).toEqual({
      ok: false,
      detail: `www.x402scan.example answered ${procedure} in an unknown shape`,
      quietMs: 0,
    });
  });

  test('fail with an error, too much or bad JSON for an answer', async () => {
    on().reply(500, { error: { json: { message: 'x' } } });
    expect(await question()).toMatchObject({ ok: false, detail: expect.stringContaining('500') });
    on().reply(200, `"${'x'.repeat(1024 * 1024)}"`);
    expect(await question()).toMatchObject({
      ok: false,
      detail: 'www.x402scan.example answered with more than 1048576 bytes',
    });
    on().reply(200, '<!doctype html>');
    expect(await question()).toMatchObject({ ok: false, detail: expect.stringContaining('JSON') });
  });

  test('are requested once more if the index is busy', async () => {
    on().reply(429, '', { 'retry-after': '0' });
    on().reply(503, '', { 'retry-after': '90' });
    expect(await question()).toMatchObject({ ok: false, quietMs: 90_000 });
    expect(nock.isDone()).toBe(true);
  });
});
