import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../../src/parse/json/json.ts';
import { type ManifestEntry, parseManifest } from '../../../src/parse/x402/manifest.ts';

const URL_X = 'https://seller.example/x';

function entries(value: JsonValue): readonly ManifestEntry[] {
  const facts = parseManifest(value);
  return facts.shape === 'unknown' ? [] : facts.entries;
}

function entry(details: JsonObject): ManifestEntry | undefined {
  return entries({ resources: [{ resource: URL_X, ...details }] })[0];
}

describe('parseManifest', () => {
  it.each([
    ['resources', ['https://seller.example/x'], { target: URL_X, method: null }],
    ['endpoints', ['POST /x'], { target: '/x', method: 'POST' }],
    ['items', ['get  /x '], { target: '/x', method: 'GET' }],
    ['resources', [{ resource: URL_X }], { target: URL_X }],
    ['resources', [{ url: URL_X }], { target: URL_X }],
    ['resources', [{ resource: { url: URL_X } }], { target: URL_X }],
    ['endpoints', [{ resource: 'POST /x', method: 'GET' }], { target: '/x', method: 'POST' }],
  ])('reads a list in "%s": %j', (name, list, expected) => {
    expect(entries({ [name]: list, version: 1, note: 'beside it' })).toEqual([
      expect.objectContaining({ pointer: `/${name}/0`, ...expected }),
    ]);
  });

  it('reads all lists that exist, and skips entries without an address', () => {
    const found = entries({
      resources: ['/a', 1, null, {}, { path: '/no' }, ''],
      endpoints: ['/b'],
    });
    expect(found.map(({ target, pointer }) => [target, pointer])).toEqual([
      ['/a', '/resources/0'],
      ['/b', '/endpoints/0'],
    ]);
  });

  it('reads a discovery document, whatever the type of its version', () => {
    const accepts = [{ amount: '10000', network: 'eip155:8453', asset: '0xa', payTo: '0xb' }];
    const discoveryDocument = { x402Version: '2', resources: { '/a/b': { accepts }, '/c': {} } };
    const facts = parseManifest({ discoveryDocument, payTo: '0xp' });
    expect(facts).toMatchObject({ shape: 'discovery-document', payTo: '0xp' });
    expect(entries({ discoveryDocument })).toEqual([
      {
        target: '/a/b',
        pointer: '/discoveryDocument/resources/~1a~1b',
        method: null,
        price: null,
        amount: '10000',
        asset: '0xa',
        network: 'eip155:8453',
        payTo: '0xb',
      },
      expect.objectContaining({ target: '/c', amount: null }),
    ]);
  });

  it.each([
    [null],
    ['text'],
    [[]],
    [['https://seller.example/x']],
    [{}],
    [{ resources: { '/x': {} } }],
    [{ resources: 'https://seller.example/x' }],
    [{ discoveryDocument: {} }],
    [{ services: [URL_X] }],
  ])('knows no shape in %j', (value) => {
    expect(parseManifest(value)).toEqual({ shape: 'unknown' });
  });

  it('distinguishes an empty list from no list', () => {
    expect(parseManifest({ resources: [] })).toEqual({ shape: 'list', entries: [], payTo: null });
  });

  it.each([
    [{ price: '0.010000' }, '0.01'],
    [{ price: '$0.01' }, '0.01'],
    [{ price: 0.01 }, '0.01'],
    [{ price_usd: '0.01' }, '0.01'],
    [{ priceUsd: 0.01 }, '0.01'],
    [{ price: 'on request', priceUsd: '0.01' }, '0.01'],
    [{ price: { amount: '0.01', currency: 'USD' } }, '0.01'],
    [{ price: { amount: '0.01' } }, '0.01'],
    [{ price: { amount: '0.01', currency: 'EUR' } }, null],
    [{ price: 'free' }, null],
    [{}, null],
  ])('reads the price of %j as %j', (details, price) => {
    expect(entry(details)?.price).toBe(price);
  });

  it('reads the terms of an accepts entry, v1 names too', () => {
    const accepts = [
      {
        maxAmountRequired: '500',
        network: 'base',
        asset: '0xa',
        payTo: '0xb',
        outputSchema: { input: { type: 'http', method: 'post' } },
      },
    ];
    expect(entry({ accepts })).toMatchObject({
      amount: '500',
      network: 'base',
      asset: '0xa',
      payTo: '0xb',
      method: 'POST',
    });
  });

  it('prefers what the entry itself states', () => {
    const accepts = [{ amount: '1', network: 'base', asset: '0xa', payTo: '0xb' }];
    const own = { method: 'PUT', networks: ['eip155:1'], asset: '0xc', payTo: '0xd', accepts };
    expect(entry(own)).toMatchObject({
      method: 'PUT',
      network: 'eip155:1',
      asset: '0xc',
      payTo: '0xd',
    });
  });

  it('does not take a malformed value for a term', () => {
    const odd = {
      method: 'TEAPOT',
      networks: ['a', 'b'],
      payTo: { a: 1 },
      accepts: [{ amount: 5 }],
    };
    expect(entry(odd)).toMatchObject({ method: null, network: null, payTo: null, amount: null });
    expect(entry({ accepts: [{ amount: '$5' }] })?.amount).toBeNull();
    expect(entry({ accepts: { amount: '5' } })?.amount).toBeNull();
  });
});
