/** Sellers write the rows of an index. A malformed row is left out, and its text is never trusted. */
import { describe, expect, test } from 'vitest';
import {
  type ImportedListing,
  readListingPage,
} from '../../../src/scanner/indexes/listing-page.ts';
import { bazaarItem, resourceRow } from './recorded-answers.ts';

const GOOD_URL = 'https://weather.example.com/paid';
const MAX_URL_CHARS = 2_048;
const DETAIL = { limit: 1_000, allowedPorts: [443], allowHosts: [] };

const toUrl = ({ origin, path }: ImportedListing) => origin.url + path;

/** Returns a page of the given rows and one good row. Rows are JSON texts, because no object can express some. */
const toBazaarPage = (...rows: readonly string[]) =>
  `{"items":[${[...rows, JSON.stringify(bazaarItem(null))].join(',')}]}`;
const toX402scanPage = (...rows: readonly string[]) =>
  `{"result":{"data":{"json":{"items":[${[...rows, JSON.stringify(resourceRow(GOOD_URL))].join(',')}],"total_count":9}}}}`;

function readFromBothIndexes(...rows: readonly string[]) {
  return [
    readListingPage(toBazaarPage(...rows), { source: 'bazaar', ...DETAIL }),
    readListingPage(toX402scanPage(...rows), { source: 'x402scan', ...DETAIL }),
  ];
}

const createUrl = (chars: number) => `${GOOD_URL}/`.padEnd(chars, 'x');
const bazaarRow = (members: object) => JSON.stringify({ ...bazaarItem(null), ...members });

describe('a row that is left out', () => {
  test.each([
    ['null', 'null'],
    ['a list', '[[]]'],
    ['a number', '7'],
    ['a number as URL', bazaarRow({ resource: 7 })],
    ['no URL', bazaarRow({ resource: undefined })],
    ['an object as URL', bazaarRow({ resource: { toString: 1 } })],
    ['a URL of 2,049 characters', bazaarRow({ resource: createUrl(MAX_URL_CHARS + 1) })],
    ['a URL only in its prototype', `{"__proto__":{"resource":"${GOOD_URL}/proto"},"accepts":[]}`],
    ['a number as recipient', bazaarRow({ accepts: [{ payTo: 7 }] })],
    ['a text as payment option', bazaarRow({ accepts: ['exact'] })],
    ['an object instead of a list of payment options', bazaarRow({ accepts: { length: 1 } })],
    ['a tool of an MCP server', bazaarRow({ type: 'mcp' })],
    ['no payment option', bazaarRow({ accepts: [] })],
  ])('has %s', (_title, row) => {
    for (const page of readFromBothIndexes(row)) {
      expect(page?.rowCount).toBe(2);
      expect(page?.listings.map(toUrl)).toEqual([GOOD_URL]);
    }
  });
});

describe('a row that is kept', () => {
  const parseUrls = (...rows: readonly string[]) =>
    readFromBothIndexes(...rows).map((page) => page?.listings.map(toUrl));

  test('has a URL of 2,048 characters', () => {
    const url = createUrl(MAX_URL_CHARS);
    expect(parseUrls(bazaarRow({ resource: url }))).toEqual([
      [url, GOOD_URL],
      [url, GOOD_URL],
    ]);
  });

  test('has a URL that the guard accepts; others are counted', () => {
    const texts = ['javascript:alert(1)', 'file:///etc/passwd', '//', '', 'https://10.0.0.1/a'];
    for (const page of readFromBothIndexes(...texts.map((resource) => bazaarRow({ resource })))) {
      expect(page?.listings.map(toUrl)).toEqual([GOOD_URL]);
      expect(page?.refusedCount).toBe(texts.length);
    }
  });

  test('is among as many rows as were asked for', () => {
    const rows = Array.from({ length: 30 }, (_, n) => bazaarRow({ resource: `${GOOD_URL}/${n}` }));
    const page = readListingPage(toBazaarPage(...rows), { source: 'bazaar', ...DETAIL, limit: 10 });
    expect(page?.listings).toHaveLength(10);
    expect(page?.rowCount).toBe(10);
  });

  test('has its lone surrogates replaced, because a store cannot keep them', () => {
    const row = `{"resource":"${GOOD_URL}/\\ud800","accepts":[{"payTo":"0x1\\udfff"}]}`;
    const [bazaar, x402scan] = readFromBothIndexes(row);
    expect(x402scan?.listings.map(toUrl)[0]).toBe(`${GOOD_URL}/%EF%BF%BD`);
    expect(bazaar?.listings[0]?.bazaar?.resource).toBe(`${GOOD_URL}/\ufffd`);
    expect(JSON.stringify(bazaar)).not.toMatch(/\\ud[89a-f]/i);
  });

  test('cannot change a prototype through its members', () => {
    const row = `{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"resource":"${GOOD_URL}/odd","accepts":[{"__proto__":{"payTo":"0x2"}}]}`;
    for (const page of readFromBothIndexes(row)) {
      expect(page?.listings).toHaveLength(2);
      expect(Object.keys(page?.listings[0] ?? {})).toEqual([
        ...['origin', 'domain', 'path', 'method', 'bazaar'],
      ]);
    }
    expect({}).not.toHaveProperty('polluted');
  });

  test.each([
    ['post', 'POST'],
    ['GET', 'GET'],
    ['', null],
    ['GET /', null],
    ['G\r\nX-Evil: 1', null],
    ['A'.repeat(17), null],
    [7, null],
    [null, null],
  ])('with the method %j has the method %j', (method, expected) => {
    const input = bazaarRow({ extensions: { bazaar: { info: { input: { method } } } } });
    const [bazaar] = readFromBothIndexes(input);
    expect(bazaar?.listings[0]).toMatchObject({ method: expected, bazaar: { method: expected } });
    const [, x402scan] = readFromBothIndexes(
      JSON.stringify(resourceRow(`${GOOD_URL}/odd`, { method })),
    );
    const [listing] = x402scan?.listings ?? [];
    expect(x402scan?.listings).toHaveLength(2);
    expect(listing?.method).toBe(expected);
  });

  test('loses long texts and members that nobody reads', () => {
    const longText = 'x'.repeat(100_000);
    const input = { type: 'http', method: 'GET', body: longText };
    const [bazaar] = readFromBothIndexes(
      bazaarRow({
        description: longText,
        padding: longText,
        extensions: { bazaar: { info: { input } } },
      }),
    );
    expect(JSON.stringify(bazaar).length).toBeLessThan(3_000);
  });
});

describe('the total of an index', () => {
  test.each([
    ['12', 12],
    ['0', 0],
    ['"12"', null],
    ['1.5', null],
    ['1e999', null],
    ['null', null],
  ])('%s is read as %j', (text, total) => {
    const page = `{"items":[],"pagination":{"limit":1000,"offset":0,"total":${text}}}`;
    expect(readListingPage(page, { source: 'bazaar', ...DETAIL })).toEqual({
      ...{ listings: [], refusedCount: 0 },
      rowCount: 0,
      indexRowCount: total,
    });
  });
});
