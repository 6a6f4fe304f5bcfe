import { describe, expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../../../src/scanner/parse/json/json.ts';
import { type ManifestEntry, parseManifest } from '../../../../src/scanner/parse/x402/manifest.ts';

const RESOURCE_URL = 'https://seller.example/x';

function parseEntries(value: JsonValue): readonly ManifestEntry[] {
  const facts = parseManifest(value);
  return facts.shape === 'unknown' ? [] : facts.entries;
}

function parseEntry(details: JsonObject): ManifestEntry | undefined {
  return parseEntries({ resources: [{ resource: RESOURCE_URL, ...details }] })[0];
}

describe('parseManifest', () => {
  test.each([
    ['resources', ['https://seller.example/x'], { target: RESOURCE_URL, method: null }],
    ['endpoints', ['POST /x'], { target: '/x', method: 'POST' }],
    ['items', ['get  /x '], { target: '/x', method: 'GET' }],
    ['resources', [{ resource: RESOURCE_URL }], { target: RESOURCE_URL }],
    ['resources', [{ url: RESOURCE_URL }], { target: RESOURCE_URL }],
    ['resources', [{ resource: { url: RESOURCE_URL } }], { target: RESOURCE_URL }],
    ['endpoints', [{ resource: 'POST /x', method: 'GET' }], { target: '/x', method: 'POST' }],
  ])('reads a list in "%s": %j', (name, list, expected) => {
    expect(parseEntries({ [name]: list, version: 1, note: 'beside it' })).toEqual([
      expect.objectContaining({ pointer: `/${name}/0`, ...expected }),
    ]);
  });

  test('adds the methods and prices of another list to a list of addresses alone', () => {
    const catalog = [
      { path: '/x', method: 'POST', price: '$0.03' },
      { url: 'https://seller.example/unlisted', price: '$9' },
    ];
    const read = (resources: JsonValue) =>
      parseEntries({ resources, catalog }).map(({ target, method, price, oddPlace }) => {
        return [target, method, price, oddPlace];
      });
    expect(read([RESOURCE_URL, 'https://seller.example/y'])).toEqual([
      [RESOURCE_URL, 'POST', '0.03', undefined],
      ['https://seller.example/y', null, null, undefined],
    ]);
    const withDetails = [RESOURCE_URL, { url: 'https://seller.example/y', method: 'GET' }];
    expect(read(withDetails)[0]).toEqual([RESOURCE_URL, null, null, undefined]);
  });

  test('reads all lists that exist, and skips entries without an address', () => {
    const listed = parseEntries({
      resources: ['/a', 1, null, {}, { path: 'no' }, ''],
      endpoints: ['/b'],
    });
    expect(listed.map(({ target, pointer }) => [target, pointer])).toEqual([
      ['/a', '/resources/0'],
      ['/b', '/endpoints/0'],
    ]);
  });

  test('reads a discovery document, whatever the type of its version', () => {
    const accepts = [{ amount: '10000', network: 'eip155:8453', asset: '0xa', payTo: '0xb' }];
    const discoveryDocument = { x402Version: '2', resources: { '/a/b': { accepts }, '/c': {} } };
    const facts = parseManifest({ discoveryDocument, payTo: '0xp' });
    expect(facts).toMatchObject({ shape: 'discovery-document', payTo: '0xp' });
    expect(parseEntries({ discoveryDocument })).toEqual([
      {
        target: '/a/b',
        pointer: '/discoveryDocument/resources/~1a~1b',
        method: null,
        price: null,
        amount: '10000',
        asset: '0xa',
        network: 'eip155:8453',
        payTo: '0xb',
        sale: 'priced',
      },
      expect.objectContaining({ target: '/c', amount: null }),
    ]);
  });

  test.each([
    [null],
    ['text'],
    [[]],
    [['https://seller.example/x']],
    [{}],
    [{ discoveryDocument: {} }],
    [{ services: [RESOURCE_URL] }],
  ])('reports an unknown shape for %j', (value) => {
    expect(parseManifest(value)).toEqual({ shape: 'unknown', named: [] });
  });

  test.each([
    [{ resources: { '/x': {} } }, '/resources'],
    [{ resources: 'https://seller.example/x' }, '/resources'],
    [{ endpoints: { health: '/health', data: '/data/premium' }, resources: null }, '/endpoints'],
  ])('names the member of %j that is no list of resources', (value, misshapen) => {
    expect(parseManifest(value)).toMatchObject({ shape: 'unknown', misshapen });
  });

  test.each<[JsonObject, readonly string[]]>([
    [{ endpoints: { health: '/health', data: '/data/premium' } }, ['/health', '/data/premium']],
    [{ endpoints: { weather: { path: '/api/weather' }, note: 'x', count: 3 } }, ['/api/weather']],
    [{ resources: { docs: 'see the site' } }, []],
    [{ facilitator: { verify: '/verify' } }, []],
  ])('lists the addresses that %j names without a word of a sale', (value, named) => {
    expect(parseManifest(value)).toMatchObject({ shape: 'unknown', named });
  });

  test('reads the base of a service of whose paths it lists none', () => {
    const scores = { name: 'Scores', baseUrl: 'https://scores.example', priceRange: '$0.01–$0.05' };
    const [entry] = parseEntries({ services: [scores, { name: 'Free', baseUrl: '/free' }] });
    expect(entry).toMatchObject({
      target: 'https://scores.example',
      sale: 'base',
      oddPlace: '/services/0/baseUrl',
    });
    expect(parseEntries({ resources: [scores] })).toEqual([]);
  });

  test('puts the base of another server before paths', () => {
    const endpoints = [{ method: 'GET', path: '/names', price: '$0.01' }];
    const [entry] = parseEntries({ resourceServerUrl: 'https://api.example', endpoints });
    expect(entry?.target).toBe('https://api.example/names');
  });

  test.each<[JsonObject, readonly string[] | undefined]>([
    [{ parameters: { city: { enum: ['oslo', 'rome'] } } }, ['oslo']],
    [{ parameters: [{ name: 'city', example: 'oslo' }] }, ['oslo']],
    [{ params: { city: { default: 'oslo' } } }, ['oslo']],
    [{ example: { request: 'GET /weather/oslo' } }, ['GET /weather/oslo']],
    [{ example: 'GET /weather/oslo', parameters: { city: {} } }, ['GET /weather/oslo']],
    [{ parameters: 'city' }, []],
  ])('reads the examples of a template beside %j', (details, examples) => {
    const [entry] = parseEntries({ resources: [{ resource: '/weather/:city', ...details }] });
    expect(entry?.examples).toEqual(examples);
    expect(parseEntry(details)?.examples).toBeUndefined();
  });

  test('distinguishes an empty list from no list', () => {
    expect(parseManifest({ resources: [] })).toEqual({ shape: 'list', entries: [], payTo: null });
  });

  test.each([
    [{ price: '0.010000' }, '0.01'],
    [{ price_usd: '0.01' }, '0.01'],
    [{ payment: { amount: '0.001', token: 'USDC', network: 'base' } }, '0.001'],
    [{ pricing: { price: '$0.02', currency: 'USD' } }, '0.02'],
    [{ payment: { amount: '0.001', token: 'STX' } }, null],
    [{ priceUsd: 0.01 }, '0.01'],
    [{ price: 'on request', priceUsd: '0.01' }, '0.01'],
    [{ price: { amount: '0.01', currency: 'USD' } }, '0.01'],
    [{ price: { amount: '0.01', currency: 'EUR' } }, null],
    [{ price_usdc: '2.00', pay_to: '0xb' }, '2'],
    [{ payment: { amount: '0.001', token: 'USDC', network: 'base' } }, '0.001'],
    [{ payment: { amount: '0.001', token: 'ETH' } }, null],
    [{ pricing: [{ amount: '0.05', currency: 'USD' }] }, '0.05'],
    [{ pricing: [{ amount: '0.05' }, { amount: '0.50' }] }, null],
    [{ price: '0.03', payment: { amount: '0.001' } }, '0.03'],
    [{ price: 'free' }, null],
    [{}, null],
  ])('reads the price of %j as %j', (details, price) => {
    expect(parseEntry(details)?.price).toBe(price);
  });

  test.each([
    [{ price_micro_usdc: '1000', price_usd_equiv: '0.001' }, '1000', false],
    [{ price_usdc: '10000' }, '10000', true],
    [{ payment: { amount: '10000', token: 'USDC' } }, '10000', true],
  ])('reads the base units of %j', (details, amount, mayBeDollars) => {
    expect(parseEntry(details)?.units).toEqual({ amount, asset: null, mayBeDollars });
  });

  test('reads the recipient and the method from members of other names', () => {
    const entry = parseEntry({ pay_to: '0xb', methods: ['post'] });
    expect(entry).toMatchObject({ payTo: '0xb', method: 'POST' });
    expect(parseEntry({ methods: ['GET', 'POST'] })?.method).toBeNull();
    expect(parseManifest({ resources: [RESOURCE_URL], pay_to: '0xp' })).toMatchObject({
      payTo: '0xp',
    });
  });

  test.each([
    ['paid_endpoints', 1],
    ['pricedRoutes', 1],
    ['payable_resources', 1],
    ['paid_plans', 0],
    ['partners', 0],
  ])('reads the %s of a manifest without a price in %i entries', (name, count) => {
    expect(parseEntries({ [name]: [{ url: RESOURCE_URL }] })).toHaveLength(count);
  });

  test('reads the terms of an accepts list, also with the names of v1', () => {
    const accepts = [
      {
        maxAmountRequired: '500',
        network: 'base',
        asset: '0xa',
        payTo: '0xb',
        outputSchema: { input: { type: 'http', method: 'post' } },
      },
    ];
    expect(parseEntry({ accepts })).toMatchObject({
      amount: '500',
      network: 'base',
      asset: '0xa',
      payTo: '0xb',
      method: 'POST',
    });
  });

  test('prefers the terms of the entry itself to those of its accepts list', () => {
    const accepts = [{ amount: '1', network: 'base', asset: '0xa', payTo: '0xb' }];
    const details = { method: 'PUT', networks: ['eip155:1'], asset: '0xc', payTo: '0xd', accepts };
    expect(parseEntry(details)).toMatchObject({
      method: 'PUT',
      network: 'eip155:1',
      asset: '0xc',
      payTo: '0xd',
    });
  });

  test('takes a price of null for free, unless terms stand beside it', () => {
    expect(parseEntry({ price: null })?.sale).toBe('free');
    expect(parseEntry({ price: null, accepts: [{ amount: '5' }] })?.sale).toBe('priced');
    expect(parseEntry({ price: null, price_human: '$0.02' })).toMatchObject({
      price: '0.02',
      sale: 'priced',
    });
    expect(parseEntry({})?.sale).toBeUndefined();
  });

  test('does not take a malformed value for a term', () => {
    const malformed = {
      method: 'TEAPOT',
      networks: ['a', 'b'],
      payTo: { a: 1 },
      accepts: [{ amount: 5 }],
    };
    expect(parseEntry(malformed)).toMatchObject({
      method: null,
      network: null,
      payTo: null,
      amount: null,
    });
    expect(parseEntry({ accepts: [{ amount: '$5' }] })?.amount).toBeNull();
    expect(parseEntry({ accepts: { amount: '5' } })?.amount).toBeNull();
  });
});
