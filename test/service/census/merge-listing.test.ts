/** The census keeps certain resources of what indexes and files list. */
import { describe, expect, test } from 'vitest';
import {
  type CanonicalHost,
  DEFAULT_POLICY,
  parseOrigin,
} from '../../../src/scanner/guard/origin.ts';
import type { MerchantItem } from '../../../src/scanner/indexes/index-answers.ts';
import {
  FoundOrigins,
  type ImportFacts,
  MAX_HOSTS,
  mergeListing,
} from '../../../src/service/census/merge-listing.ts';
import { toListing } from '../../../src/service/census/resources.ts';

const HOST = 'shop.com';
const SHOP_URL = `https://${HOST}`;
const NO_LISTING = toListing(null);
const TODAY_IMPORT: ImportFacts = { source: 'bazaar', day: 100, isComplete: true };

type Listing = ReturnType<typeof toListing>;
type Found = Parameters<typeof mergeListing>[1];

function merge(stored: Listing, found: Found, facts: ImportFacts): Listing {
  return mergeListing(stored, found, facts, 'declared');
}

/** Pairs of a method and a path, as an index lists them. */
async function findOrigin(...listed: readonly (readonly [string | null, string])[]) {
  const origins = new FoundOrigins({ policy: DEFAULT_POLICY });
  const listings = listed.map(([method, path]) => ({
    ...{ origin: parseOrigin(SHOP_URL), domain: HOST, path, bazaar: null },
    method: method?.toUpperCase() ?? null,
  }));
  await origins.add({ listings, refusedCount: 0 });
  const origin = origins.byHost.get(HOST);
  if (origin === undefined) throw new Error('nothing was found');
  return origin;
}

async function readLines(...listed: readonly string[]) {
  const origins = new FoundOrigins({ policy: DEFAULT_POLICY });
  for (const line of listed) await origins.addLine(line);
  return origins;
}

const listRequests = ({ resources }: ReturnType<typeof toListing>) =>
  resources.map(({ method, path }) => `${method} ${path}`);

describe('the resources of an origin', () => {
  test('are the first two that may be asked; the method is GET if none is listed', async () => {
    const origin = await findOrigin([null, '/a'], ['post', '/b?city=Rome'], ['GET', '/c']);
    expect(merge(NO_LISTING, origin, TODAY_IMPORT)).toEqual({
      sources: { bazaar: 100 },
      resources: [
        { method: 'GET', path: '/a', sources: ['bazaar'] },
        { method: 'GET', path: '/c', sources: ['bazaar'] },
      ],
      ...{ candidates: [{ method: 'POST', path: '/b?city=Rome', sources: ['bazaar'] }], sold: [] },
      ...{ bazaar: [], isBazaarCut: false },
    });
  });

  test.each(['PUT', 'DELETE', 'PATCH', 'HEAD'])(
    'leave out resources with the method %s',
    async (method) => {
      const origin = await findOrigin([method, '/a'], ['GET', '/b']);
      expect(listRequests(merge(NO_LISTING, origin, TODAY_IMPORT))).toEqual(['GET /b']);
    },
  );

  test.each(['/users/:id', '/users/{id}', '/users/%7Bid%7D', '/:city/now'])(
    'leave out a path that a buyer fills in: %s',
    async (path) => {
      const origin = await findOrigin(['GET', path], ['GET', '/b']);
      expect(listRequests(merge(NO_LISTING, origin, TODAY_IMPORT))).toEqual(['GET /b']);
    },
  );

  test.each(['/time/12:30', '/a:b'])('keep a path with a colon elsewhere: %s', async (path) => {
    expect(listRequests(merge(NO_LISTING, await findOrigin(['GET', path]), TODAY_IMPORT))).toEqual([
      `GET ${path}`,
    ]);
  });
});

describe('the same two resources', () => {
  test('stay while they are listed, in any order', async () => {
    const firstListing = merge(
      NO_LISTING,
      await findOrigin(['GET', '/a'], ['GET', '/b']),
      TODAY_IMPORT,
    );
    const laterOrigin = await findOrigin(
      ['GET', '/d'],
      ['GET', '/b'],
      ['POST', '/a'],
      ['GET', '/a'],
    );
    expect(listRequests(merge(firstListing, laterOrigin, { ...TODAY_IMPORT, day: 101 }))).toEqual([
      'GET /a',
      'GET /b',
    ]);
  });

  test('lose a resource that is no longer listed', async () => {
    const firstListing = merge(
      NO_LISTING,
      await findOrigin(['GET', '/a'], ['GET', '/b']),
      TODAY_IMPORT,
    );
    const laterOrigin = await findOrigin(['GET', '/c'], ['GET', '/b']);
    expect(listRequests(merge(firstListing, laterOrigin, { ...TODAY_IMPORT, day: 101 }))).toEqual([
      'GET /b',
      'GET /c',
    ]);
  });

  test('stay if the import broke off', async () => {
    const firstListing = merge(
      NO_LISTING,
      await findOrigin(['GET', '/a'], ['GET', '/b']),
      TODAY_IMPORT,
    );
    const broken = { ...TODAY_IMPORT, day: 101, isComplete: false };
    expect(listRequests(merge(firstListing, await findOrigin(['GET', '/c']), broken))).toEqual([
      'GET /a',
      'GET /b',
    ]);
  });

  test('stay if another source lists other resources', async () => {
    const firstListing = merge(
      NO_LISTING,
      await findOrigin(['GET', '/a'], ['GET', '/b']),
      TODAY_IMPORT,
    );
    const otherImport = { source: 'x402scan', day: 101, isComplete: true } as const;
    const merged = merge(firstListing, await findOrigin(['GET', '/c']), otherImport);
    expect(listRequests(merged)).toEqual(['GET /a', 'GET /b']);
    expect(merged.sources).toEqual({ bazaar: 100, x402scan: 101 });
  });
});

test('rows of the Bazaar are those of its newest import', async () => {
  const row = (url: string): MerchantItem => ({
    ...{ resource: url, method: null, calls: null, payers: null, lastAt: null },
    terms: { x402Version: 2, offers: [] } as unknown as MerchantItem['terms'],
  });
  const origins = new FoundOrigins({ policy: DEFAULT_POLICY });
  const listing = { origin: parseOrigin(SHOP_URL), domain: HOST, path: '/a', method: null };
  await origins.add({ listings: [{ ...listing, bazaar: row(`${SHOP_URL}/a`) }], refusedCount: 0 });
  const origin = origins.byHost.get(HOST);
  if (origin === undefined) throw new Error('nothing was found');
  const firstListing = merge(NO_LISTING, origin, TODAY_IMPORT);
  expect(firstListing.bazaar).toHaveLength(1);
  const x402scanImport = { source: 'x402scan', day: 100, isComplete: true } as const;
  const secondListing = merge(firstListing, await findOrigin(['GET', '/a']), x402scanImport);
  expect(secondListing.bazaar).toHaveLength(1);
  expect(merge(secondListing, await findOrigin(['GET', '/a']), TODAY_IMPORT).bazaar).toEqual([]);
});

describe('a line of a file names an origin, and a resource if it has a path:', () => {
  test.each([
    ['shop.com', []],
    ['https://shop.com', []],
    ['https://shop.com/', []],
    ['https://shop.com/a?b=1', [{ method: 'GET', path: '/a?b=1' }]],
    ['shop.com/a', [{ method: 'GET', path: '/a' }]],
  ])('%s', async (line, resources) => {
    const origins = await readLines(line);
    expect([...origins.byHost.keys()]).toEqual([HOST]);
    expect([...(origins.byHost.get(HOST)?.resources.values() ?? [])]).toEqual(resources);
    expect(origins.refusedCount).toBe(0);
  });
});

test('listings that the guard refuses are counted, and left out', async () => {
  const origins = await readLines(
    'http://shop.com',
    'https://10.1.2.3/paid',
    'https://user@shop.com',
    'https://shop.internal',
    'https://shop.com:8443',
    'ftp://shop.com',
    'two words',
  );
  expect(origins.byHost.size).toBe(0);
  expect(origins.refusedCount).toBe(7);
});

test('hosts of a company share its registrable domain; customers of a hosting provider share no domain', async () => {
  const origins = await readLines('a.shop.co.uk', 'b.shop.co.uk', 'a.github.io', 'b.github.io');
  expect([...origins.byHost.values()].map(({ domain }) => domain)).toEqual([
    ...['shop.co.uk', 'shop.co.uk'],
    ...['a.github.io', 'b.github.io'],
  ]);
});

test('a listing has at most 16 KiB, and says that Bazaar rows were left out', async () => {
  const text = 'x'.repeat(600);
  const offer = { price: text, payTo: text, network: text, asset: text, scheme: text };
  const rows = Array.from({ length: 20 }, (_, n): MerchantItem => {
    const terms = {
      ...{ x402Version: 2, description: text, inputSchema: null },
      offers: Array(32).fill(offer),
    };
    return {
      resource: `${SHOP_URL}/${n}`,
      method: 'GET',
      calls: 1,
      payers: 1,
      lastAt: null,
      terms,
    };
  });
  const origins = new FoundOrigins({ policy: DEFAULT_POLICY });
  const located = { origin: parseOrigin(SHOP_URL), domain: HOST, method: 'GET' };
  const listings = rows.map((bazaar, n) => ({ ...located, path: `/${n}`, bazaar }));
  await origins.add({ listings, refusedCount: 0 });
  const found = origins.byHost.get(HOST);
  if (found === undefined) throw new Error('nothing was found');
  const listing = merge(NO_LISTING, found, TODAY_IMPORT);
  expect(Buffer.byteLength(JSON.stringify(listing))).toBeLessThanOrEqual(16 * 1_024);
  expect(listing.isBazaarCut).toBe(true);
  expect(listing.resources).toHaveLength(2);
});

test('of a hundred rows of strangers and the two of the seller, those are kept that the seller sells', async () => {
  const strangers = Array.from({ length: 100 }, (_, n) => ['GET', `/gone-${n}`] as const);
  const sold = [{ method: 'GET', path: '/weather' } as const];
  const origins = new FoundOrigins({
    policy: DEFAULT_POLICY,
    readRanks: async () => (resource) => (resource.path === '/weather' ? 0 : 1),
  });
  const located = { origin: parseOrigin(SHOP_URL), domain: HOST, bazaar: null };
  const rows = [...strangers, ['GET', '/weather'] as const];
  const listings = rows.map(([method, path]) => ({ ...located, method, path }));
  await origins.add({ listings, refusedCount: 0 });
  const found = origins.byHost.get(HOST);
  if (found === undefined) throw new Error('nothing was found');
  expect(found.resources.size).toBe(20);
  const listing = merge({ ...NO_LISTING, sold }, found, TODAY_IMPORT);
  expect(listing.resources[0]).toMatchObject({ path: '/weather' });
});

test('an import takes 50,000 hosts at most', async () => {
  const origins = new FoundOrigins({ policy: DEFAULT_POLICY });
  for (let n = 0; n <= MAX_HOSTS; n += 1) {
    const origin = { ...parseOrigin(SHOP_URL), host: `h${n}` as CanonicalHost };
    await origins.add({
      listings: [{ origin, domain: `h${n}`, path: '/a', method: null, bazaar: null }],
      refusedCount: 0,
    });
  }
  expect(origins.byHost.size).toBe(MAX_HOSTS);
  expect(origins.overflowCount).toBe(1);
});
