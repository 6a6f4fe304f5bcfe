import nock from 'nock';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parseOrigin } from '../../../src/scanner/guard/origin.ts';
import type { SourceAnswer } from '../../../src/scanner/indexes/ask.ts';
import {
  askX402scanByAddress,
  askX402scanByOrigin,
  askX402scanOrigin,
  askX402scanVerified,
} from '../../../src/scanner/indexes/x402scan.ts';
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

const BASE_URL = 'https://www.x402scan.example';
const ORIGIN = parseOrigin('https://weather.example.com');
const OTHER_ORIGIN = 'https://notweather.example.com';
const NOT_LISTED = { id: null, resources: [] };

beforeEach(() => nock.disableNetConnect());
afterEach(() => {
  nock.cleanAll();
  nock.enableNetConnect();
});

/** Mocks the procedure for a request with exactly this input. */
function mockProcedure(procedure: string, input: object) {
  return nock(BASE_URL)
    .get(`/api/trpc/${procedure}`)
    .query({ input: JSON.stringify({ json: input }) });
}

const mockSearch = (search: string) =>
  mockProcedure('public.origins.search', { search, limit: 10 });
const lookup = () => askX402scanOrigin(BASE_URL, ORIGIN, requestContext());

describe('a scanned origin in the index of x402scan', () => {
  test('is found with its resources', async () => {
    mockSearch('weather.example.com').reply(
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

  test('is not found under another host, port or scheme', async () => {
    const otherOrigins = [
      OTHER_ORIGIN,
      'https://weather.example.com.evil.example',
      'http://weather.example.com',
    ];
    const rows = [...otherOrigins, 'https://weather.example.com:8443', 'not a url'];
    mockSearch('weather.example.com').reply(
      200,
      trpc(rows.map((origin) => originRow(origin, [resourceRow(`${origin}/paid`)]))),
    );
    const elsewhere = ['http://weather.example.com/paid', 'https://weather.example.com:8443/paid'];
    expect(await lookup()).toEqual({ ok: true, value: { ...NOT_LISTED, elsewhere } });
  });

  test('is found if the index lists it with a trailing slash', async () => {
    mockSearch('weather.example.com').reply(200, trpc([originRow(`${ORIGIN.url}/`, [])]));
    expect(await lookup()).toEqual({ ok: true, value: { id: ORIGIN_ID, resources: [] } });
  });

  test('is absent if the search finds no origin', async () => {
    mockSearch('weather.example.com').reply(200, trpc([]));
    expect(await lookup()).toEqual({ ok: true, value: NOT_LISTED });
  });

  test('is searched for by its whole URL if the first page is full of other origins', async () => {
    const otherRows = Array.from({ length: 10 }, (_, index) =>
      originRow(`https://a${index}.example`, []),
    );
    mockSearch('weather.example.com').reply(200, trpc(otherRows));
    mockSearch('https://weather.example.com').reply(200, trpc([originRow(ORIGIN.url, [])]));
    expect(await lookup()).toMatchObject({ ok: true, value: { id: ORIGIN_ID } });
  });

  test('is unknown, not absent, if both searches give full pages of other origins', async () => {
    const otherRows = Array.from({ length: 10 }, (_, index) =>
      originRow(`https://a${index}.example`, []),
    );
    mockSearch('weather.example.com').reply(200, trpc(otherRows));
    mockSearch('https://weather.example.com').reply(200, trpc(otherRows));
    expect(await lookup()).toMatchObject({
      ok: false,
      detail: expect.stringContaining('too many'),
    });
  });
});

describe('the verification status', () => {
  const askStatus = () => askX402scanVerified(BASE_URL, ORIGIN_ID, requestContext());
  const mockStatus = () =>
    mockProcedure('public.resources.verificationStatus', { originId: ORIGIN_ID });

  test.each([
    [verification(3, 3), true],
    [verification(2, 3), false],
    [verification(0, 3), false],
    [verification(0, 0), false],
    [trpc({ verified: true }), true],
    [trpc({ verified: false }), false],
  ])('with the answer %j is %s', async (answer, expected) => {
    mockStatus().reply(200, answer);
    expect(await askStatus()).toEqual({ ok: true, value: expected });
  });

  test.each([trpc({ verified: 'yes' }), trpc({}), trpc(null)])(
    '%j counts as a failed answer',
    async (answer) => {
      mockStatus().reply(200, answer);
      expect(await askStatus()).toMatchObject({ ok: false });
    },
  );
});

describe('settlements by origin', () => {
  const lookup = () => askX402scanByOrigin(BASE_URL, ORIGIN, requestContext());
  const mockList = () =>
    mockProcedure('public.sellers.bazaar.list', {
      originUrls: [ORIGIN.url],
      timeframe: 30,
      sorting: { id: 'tx_count', desc: true },
    });

  test('come from the row of this origin', async () => {
    const rows = [sellerOfOrigin(OTHER_ORIGIN, { tx_count: 900 }), sellerOfOrigin(ORIGIN.url)];
    mockList().reply(200, page(rows));
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

  test('have a window of 0 days, and so prove nothing, if the index has no row of the origin', async () => {
    mockList().reply(200, page([sellerOfOrigin(OTHER_ORIGIN)]));
    expect(await lookup()).toEqual({
      ok: true,
      value: { address: null, windowDays: 0, settlements: 0, payers: 0, lastAt: null },
    });
  });
});

describe('settlements by address', () => {
  const lookup = (address = PAY_TO) => askX402scanByAddress(BASE_URL, address, requestContext());
  const mockList = (address = PAY_TO) =>
    mockProcedure('public.sellers.all.list', { recipients: { include: [address] }, timeframe: 30 });

  test('are the sum of all rows, but their number of payers is the greatest of a row, because rows may share payers', async () => {
    const lowerCase = PAY_TO.toLowerCase();
    mockList().reply(
      200,
      page([
        sellerByAddress(lowerCase),
        sellerByAddress(lowerCase, {
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

  test('are 0 in the whole window if the index has no row', async () => {
    mockList().reply(200, page([]));
    expect(await lookup()).toMatchObject({
      ok: true,
      value: { windowDays: 30, settlements: 0, lastAt: null },
    });
  });

  test('leave out payments to other addresses, even if the index ignores the filter', async () => {
    mockList().reply(200, page([sellerByAddress('0x2222222222222222222222222222222222222222')]));
    expect(await lookup()).toMatchObject({ ok: true, value: { settlements: 0 } });
  });

  test('for a base58 address leave out rows of an address that differs only in case', async () => {
    const solanaAddress = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
    mockList(solanaAddress).reply(200, page([sellerByAddress(solanaAddress.toLowerCase())]));
    expect(await lookup(solanaAddress)).toMatchObject({ ok: true, value: { settlements: 0 } });
  });
});

const ASK_BY_PROCEDURE: Record<string, () => Promise<SourceAnswer<unknown>>> = {
  'public.origins.search': lookup,
  'public.resources.verificationStatus': () =>
    askX402scanVerified(BASE_URL, ORIGIN_ID, requestContext()),
  'public.sellers.bazaar.list': () => askX402scanByOrigin(BASE_URL, ORIGIN, requestContext()),
  'public.sellers.all.list': () => askX402scanByAddress(BASE_URL, PAY_TO, requestContext()),
};

describe.each(Object.entries(ASK_BY_PROCEDURE))('a request of %s', (procedure, askIndex) => {
  const mockAnyInput = () => nock(BASE_URL).get(`/api/trpc/${procedure}`).query(true);

  test.each([
    {},
    [],
    null,
    { result: { data: {} } },
    { result: { data: { json: 'text' } } },
    { result: { data: { json: [{ origin: 7 }] } } },
    { error: { json: { message: 'No procedure found on path', code: -32004 } } },
  ])('reports the answer %j as an unknown shape', async (answer) => {
    mockAnyInput().reply(200, JSON.stringify(answer));
    expect(await askIndex()).toEqual({
      ok: false,
      detail: `www.x402scan.example answered ${procedure} in an unknown shape`,
      pauseMs: 0,
    });
  });

  test('fails if the index answers an error, too many bytes or bad JSON', async () => {
    mockAnyInput().reply(500, { error: { json: { message: 'x' } } });
    expect(await askIndex()).toMatchObject({ ok: false, detail: expect.stringContaining('500') });
    mockAnyInput().reply(200, `"${'x'.repeat(1024 * 1024)}"`);
    expect(await askIndex()).toMatchObject({
      ok: false,
      detail: 'www.x402scan.example answered with more than 1048576 bytes',
    });
    mockAnyInput().reply(200, '<!doctype html>');
    expect(await askIndex()).toMatchObject({ ok: false, detail: expect.stringContaining('JSON') });
  });

  test('is sent once more if the index is busy', async () => {
    mockAnyInput().reply(429, '', { 'retry-after': '0' });
    mockAnyInput().reply(503, '', { 'retry-after': '90' });
    expect(await askIndex()).toMatchObject({ ok: false, pauseMs: 90_000 });
    expect(nock.isDone()).toBe(true);
  });
});
