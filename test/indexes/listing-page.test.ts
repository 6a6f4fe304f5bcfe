/** Rows of indexes are written by sellers: an odd one costs itself, and no text of it is trusted. */
import { describe, expect, test } from 'vitest';
import { readListingPage } from '../../src/indexes/listing-page.ts';
import { bazaarItem, resourceRow } from './recorded-answers.ts';

const GOOD = 'https://weather.example.com/paid';
const MAX_URL_CHARS = 2_048;

/** The page with one good row after these, as raw JSON, since some of it cannot be written as an object. */
const bazaarText = (...rows: readonly string[]) =>
  `{"items":[${[...rows, JSON.stringify(bazaarItem(null))].join(',')}]}`;
const x402scanText = (...rows: readonly string[]) =>
  `{"result":{"data":{"json":{"items":[${[...rows, JSON.stringify(resourceRow(GOOD))].join(',')}],"total_count":9}}}}`;

function readBoth(...rows: readonly string[]) {
  return [
    readListingPage(bazaarText(...rows), { source: 'bazaar' }),
    readListingPage(x402scanText(...rows), { source: 'x402scan' }),
  ];
}

const urlOf = (chars: number) => `${GOOD}/`.padEnd(chars, 'x');
const row = (members: object) => JSON.stringify({ ...bazaarItem(null), ...members });

describe('a row that is left out', () => {
  test.each([
    ['null', 'null'],
    ['a list', '[[]]'],
    ['a number', '7'],
    ['a number as URL', row({ resource: 7 })],
    ['no URL', row({ resource: undefined })],
    ['an object as URL', row({ resource: { toString: 1 } })],
    ['a URL of 2,049 characters', row({ resource: urlOf(MAX_URL_CHARS + 1) })],
    ['a URL only in its prototype', `{"__proto__":{"resource":"${GOOD}/proto"},"accepts":[]}`],
    ['a number as recipient', row({ accepts: [{ payTo: 7 }] })],
    ['no object as payment option', row({ accepts: ['exact'] })],
    ['payment options that are no list', row({ accepts: { length: 1 } })],
    ['a tool of an MCP server', row({ type: 'mcp' })],
    ['nothing that it accepts', row({ accepts: [] })],
  ])('has %s', (_name, odd) => {
    for (const page of readBoth(odd)) {
      expect(page?.size).toBe(2);
      expect(page?.listings.map(({ url }) => url)).toEqual([GOOD]);
    }
  });
});

describe('a row that is kept', () => {
  const urlsOf = (...rows: readonly string[]) =>
    readBoth(...rows).map((page) => page?.listings.map(({ url }) => url));

  test('has a URL of 2,048 characters', () => {
    const url = urlOf(MAX_URL_CHARS);
    expect(urlsOf(row({ resource: url }))).toEqual([
      [url, GOOD],
      [url, GOOD],
    ]);
  });

  test('has any text as URL: whoever looks there parses it', () => {
    const texts = ['javascript:alert(1)', 'file:///etc/passwd', '//', ''];
    const all = [...texts, GOOD];
    expect(urlsOf(...texts.map((resource) => row({ resource })))).toEqual([all, all]);
  });

  test('loses lone surrogates, which no store keeps', () => {
    const odd = `{"resource":"${GOOD}/\\ud800","accepts":[{"payTo":"0x1\\udfff"}]}`;
    const [bazaar, x402scan] = readBoth(odd);
    expect(x402scan?.listings[0]?.url).toBe(`${GOOD}/\ufffd`);
    expect(bazaar?.listings[0]?.bazaar?.resource).toBe(`${GOOD}/\ufffd`);
    expect(JSON.stringify(bazaar)).not.toMatch(/\\ud[89a-f]/i);
  });

  test('changes no prototype by its members', () => {
    const odd = `{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"resource":"${GOOD}/odd","accepts":[{"__proto__":{"payTo":"0x2"}}]}`;
    for (const page of readBoth(odd)) {
      expect(page?.listings).toHaveLength(2);
      expect(Object.keys(page?.listings[0] ?? {})).toEqual(['url', 'method', 'bazaar']);
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
  ])('has %j as method, which is read as %j', (method, expected) => {
    const input = row({ extensions: { bazaar: { info: { input: { method } } } } });
    const [bazaar] = readBoth(input);
    expect(bazaar?.listings[0]).toMatchObject({ method: expected, bazaar: { method: expected } });
    const [, x402scan] = readBoth(JSON.stringify(resourceRow(`${GOOD}/odd`, { method })));
    const [listing] = x402scan?.listings ?? [];
    expect(x402scan?.listings).toHaveLength(2);
    expect(listing?.method).toBe(expected);
  });

  test('is cut to what is needed', () => {
    const long = 'x'.repeat(100_000);
    const input = { type: 'http', method: 'GET', body: long };
    const [bazaar] = readBoth(
      row({ description: long, padding: long, extensions: { bazaar: { info: { input } } } }),
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
    expect(readListingPage(page, { source: 'bazaar' })).toEqual({ listings: [], size: 0, total });
  });
});
