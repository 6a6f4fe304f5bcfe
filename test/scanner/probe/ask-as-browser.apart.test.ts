/** The scan requests the first paid resource as a browser does. */
import type { IncomingHttpHeaders } from 'node:http';
import { expect, test } from 'vitest';
import { RequestCache } from '../../../src/scanner/probe/client/request-cache.ts';
import type { PlannedResource } from '../../../src/scanner/probe/plan/declared-requests.ts';
import { askAsBrowser } from '../../../src/scanner/probe/second-wave.ts';
import { clientFor, startOrigin } from './client/harness.ts';

test('the scan sends two GETs: one as a script of another site, one as a browser that opens a page', async () => {
  const { requests, answers } = await startBrowserRequests([
    toResource('/post', 'POST'),
    toResource('/weather', 'GET'),
  ]);
  expect(requests.map(({ line }) => line)).toEqual(['GET /weather', 'GET /weather']);
  const script = requests.find(({ headers }) => headers.origin !== undefined);
  expect(script?.headers).toMatchObject({
    origin: 'https://x402-scan.invalid',
    'user-agent': 'test/1',
  });
  const page = requests.find(({ headers }) => headers.origin === undefined);
  expect(page?.headers.accept).toMatch(/^text\/html,/);
  expect(page?.headers['user-agent']).toBe('Mozilla/5.0 (compatible; test/1)');
  expect(answers).toMatchObject({ path: '/weather', fetched: { ok: true }, opened: { ok: true } });
});

test('the scan prefers a declared paid path to one that may be paid', async () => {
  const candidate = { ...toResource('/maybe', 'GET'), declaredPaid: false };
  const { answers } = await startBrowserRequests([candidate, toResource('/weather', null)]);
  expect(answers?.path).toBe('/weather');
});

test('the scan sends no browser request if the seller sells only POST', async () => {
  const { requests, answers } = await startBrowserRequests([toResource('/post', 'POST')]);
  expect(requests).toEqual([]);
  expect(answers).toBeNull();
});

async function startBrowserRequests(resources: readonly PlannedResource[]) {
  const requests: { line: string; headers: IncomingHttpHeaders }[] = [];
  const target = await startOrigin(({ method, url, headers }, response) => {
    requests.push({ line: `${method} ${url}`, headers });
    response.writeHead(402).end();
  });
  const cache = new RequestCache(clientFor(target), target.origin);
  // The scan already has an answer to a request that does not look like a browser.
  const scanRequest = { method: 'GET', path: '/weather', capBytes: 1, accept: '*/*' } as const;
  if (resources.some(({ path }) => path === '/weather')) {
    await cache.ask({ ...scanRequest, redirects: 'none' });
    requests.length = 0;
  }
  const answers = await askAsBrowser(cache, resources, 'test/1');
  return { requests, answers };
}

function toResource(path: string, method: PlannedResource['method']): PlannedResource {
  const url = `https://seller.example${path}`;
  const rest = { declaredPaid: true, madeUp: false, post: 'never' as const };
  return { url, path, template: path, method, sources: ['openapi'], ...rest };
}
