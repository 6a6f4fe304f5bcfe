/** A weekly scan keeps a seller's grade, and sends no POST, whatever rows strangers put into an index. */
import { afterAll, expect, test } from 'vitest';
import type { CensusResource } from '../../../src/scanner/scan/scanner.ts';
import { startCraftedSeller } from '../../fixtures/origins/crafted-seller.ts';
import { listCells, NEWER_VERSION, startEngine } from './engine-under-test.ts';

const engine = await startEngine();
afterAll(() => engine[Symbol.asyncDispose]());

const get = (path: string): CensusResource => ({ method: 'GET', path });
const post = (path: string): CensusResource => ({ method: 'POST', path });

/** Scans a seller as the census does, with rows of indexes. */
async function scanForCensus(
  listed: readonly CensusResource[],
  robots: { readonly status?: number; readonly lastAllowed?: Record<string, boolean> } = {},
) {
  await using seller = await startCraftedSeller({
    answers: {
      '/fails': { status: 503, body: {} },
      ...(robots.status && { '/robots.txt': { status: robots.status, body: 'no' } }),
      '/other-till': { status: 402, headers: {}, body: { error: 'Pay by invoice.' } },
    },
  });
  let requestCount = 0;
  const beforeRequest = async () => {
    requestCount += 1;
  };
  const { lastAllowed = {} } = robots;
  const census = { listed, robotsAgent: 'x402-conformance-scanner', lastAllowed, beforeRequest };
  const outcome = await engine.scan(seller.url, NEWER_VERSION, {}, { census });
  const posts = seller.requests.filter(({ method }) => method === 'POST').map(({ path }) => path);
  const requests = seller.requests.map(({ method, path }) => `${method} ${path}`);
  return { outcome, posts, requests, asked: requestCount };
}

test.each<readonly [string, readonly CensusResource[]]>([
  ['paths that do not exist', [get('/gone-1'), get('/gone-2')]],
  ['a free path and a path that fails', [get('/health'), get('/fails')]],
  ['a path that asks for another payment', [get('/other-till')]],
  ['the wrong methods', [post('/weather'), get('/summaries')]],
  ['a POST that nobody sells', [post('/admin/reset-everything'), post('/weather?junk=1')]],
  ['a query that the seller does not use', [get('/weather?junk=1')]],
  ['more rows than a scan requests', Array.from({ length: 40 }, (_, n) => get(`/gone-${n}`))],
])('rows of strangers lower no grade: %s', async (_, listed) => {
  const usual = await scanForCensus([]);
  const beset = await scanForCensus(listed);
  expect(usual.outcome.report).toMatchObject({ grade: 'A', score: 100 });
  expect(beset.outcome.report).toMatchObject({ grade: 'A', score: 100, payableBy: 'default' });
  expect(listCells(beset.outcome)).toEqual(listCells(usual.outcome));
  expect(beset.posts).toEqual(usual.posts);
  expect(new Set(beset.posts)).toEqual(new Set(['/summaries']));
  // The wish of the owner is read before each request.
  expect(beset.asked).toBeGreaterThanOrEqual(beset.requests.length);
});

test('a row of an index is requested by GET, after what the seller sells', async () => {
  const { requests } = await scanForCensus([get('/gone-1'), post('/gone-2')]);
  expect(requests).toContain('GET /gone-1');
  expect(requests).toContain('GET /gone-2');
  expect(requests.indexOf('GET /gone-1')).toBeGreaterThan(requests.indexOf('GET /weather'));
});

test.each([500, 503, 429])(
  'a scan whose robots.txt answers %i requests only what the last one allowed',
  async (status) => {
    const { requests } = await scanForCensus([get('/listed'), get('/refused')], {
      ...{ status, lastAllowed: { '/listed': true, '/refused': false } },
    });
    expect(requests).toContain('GET /listed');
    expect(requests).not.toContain('GET /refused');
    expect(requests).not.toContain('POST /summaries');
  },
);

test('a robots.txt that does not exist allows every path, whatever the last one allowed', async () => {
  const { requests } = await scanForCensus([get('/listed')], {
    ...{ status: 404, lastAllowed: { '/listed': false } },
  });
  expect(requests).toEqual(expect.arrayContaining(['GET /listed', 'POST /summaries']));
});
