import { text as textOf } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { ProbeRequest } from '../../../../src/scanner/probe/client/client.ts';
import { ask, clientFor, dataOf, type HttpOrigin, startOrigin } from './harness.ts';

describe('a redirect', () => {
  test.each([301, 302, 307, 308])('of %i is followed, and the hops are kept', async (status) => {
    const target = await startRedirects({ '/': [status, '/next?a=b#c'] });
    const data = dataOf(await follow(target));
    expect(data).toMatchObject({
      status: 200,
      body: '/next?a=b',
      url: `${target.origin.url}/next?a=b`,
      redirects: [
        { url: `${target.origin.url}/`, status, location: `${target.origin.url}/next?a=b` },
      ],
    });
    expect(data.refusedRedirect).toBeUndefined();
  });

  test.each([300, 303, 304, 305, 200])('of %i with a Location is an answer', async (status) => {
    const target = await startRedirects({ '/': [status, '/next'] });
    expect(dataOf(await follow(target))).toMatchObject({ status, redirects: [] });
    expect(target.requests).toHaveLength(1);
  });

  test('without Location is an answer', async () => {
    const target = await startOrigin((_, response) => response.writeHead(302).end('where?'));
    expect(dataOf(await follow(target))).toMatchObject({ status: 302, body: 'where?' });
  });

  test('of a HEAD is never followed', async () => {
    const target = await startRedirects({ '/': [307, '/next'] });
    const data = dataOf(await follow(target, { method: 'HEAD', redirects: 'any-guarded' }));
    expect(data).toMatchObject({ method: 'HEAD', status: 307, redirects: [] });
    expect(target.requests).toEqual(['HEAD /']);
  });

  test('is not followed if redirects are off', async () => {
    const target = await startRedirects({ '/': [302, '/next'] });
    const data = dataOf(await follow(target, { redirects: 'none' }));
    expect(data.status).toBe(302);
    expect(data.refusedRedirect).toBeUndefined();
  });
});

describe('a redirected POST', () => {
  const POST_REQUEST = { method: 'POST', body: '{}' } as const;

  test.each([307, 308])('is sent once more on %i, with its body', async (status) => {
    const bodies: string[] = [];
    const target = await startOrigin(async (request, response) => {
      bodies.push(await textOf(request));
      if (request.url === '/') response.writeHead(status, { location: '/next/' }).end();
      else response.writeHead(402).end('pay');
    });
    expect(dataOf(await follow(target, POST_REQUEST))).toMatchObject({
      status: 402,
      url: `${target.origin.url}/next/`,
      redirects: [{ url: `${target.origin.url}/`, status }],
    });
    expect(target.requests).toEqual(['POST /', 'POST /next/']);
    expect(bodies).toEqual(['{}', '{}']);
  });

  test.each([301, 302, 303])(
    'is not sent again on %i, because clients then send GET',
    async (status) => {
      const target = await startRedirects({ '/': [status, '/next'] });
      expect(dataOf(await follow(target, POST_REQUEST))).toMatchObject({ status, redirects: [] });
      expect(target.requests).toHaveLength(1);
    },
  );

  test('is not sent a third time', async () => {
    const target = await startRedirects({ '/': [307, '/a'], '/a': [308, '/b'] });
    const data = dataOf(await follow(target, POST_REQUEST));
    expect(data).toMatchObject({
      status: 308,
      url: `${target.origin.url}/a`,
      redirects: [{ status: 307 }],
      refusedRedirect: { to: '/b' },
    });
    expect(target.requests).toEqual(['POST /', 'POST /a']);
  });

  test('never leaves its origin', async () => {
    const otherOrigin = await startOrigin((_, response) => response.end('other'));
    const target = await startRedirects({ '/': [307, `${otherOrigin.origin.url}/x`] });
    const allowHosts = new Set([...target.policy.allowHosts, ...otherOrigin.policy.allowHosts]);
    const allowedTarget = { ...target, policy: { ...target.policy, allowHosts } };
    const data = dataOf(await follow(allowedTarget, { ...POST_REQUEST, redirects: 'any-guarded' }));
    expect(data).toMatchObject({
      status: 307,
      refusedRedirect: { to: `${otherOrigin.origin.url}/x` },
    });
    expect(otherOrigin.requests).toEqual([]);
  });
});

describe('a chain of redirects', () => {
  const toChain = (length: number) =>
    Object.fromEntries(Array.from({ length }, (_, i) => [i ? `/${i}` : '/', [302, `/${i + 1}`]]));

  test('of five hops is followed', async () => {
    const target = await startRedirects(toChain(5));
    expect(dataOf(await follow(target))).toMatchObject({ status: 200, body: '/5' });
  });

  test('of six counts as a loop', async () => {
    const target = await startRedirects(toChain(6));
    expect(await follow(target)).toMatchObject({
      ok: false,
      reason: 'redirect-loop',
      detail: 'more than 5 redirects',
    });
    expect(target.requests).toHaveLength(6);
  });

  test.each([
    ['to itself', { '/': [302, '/'] }, 1],
    ['to itself with a fragment', { '/': [302, '/#again'] }, 1],
    ['back and forth', { '/': [302, '/a'], '/a': [302, '/'] }, 2],
  ] as const)('%s is recognised at once', async (_, routes, requests) => {
    const target = await startRedirects(routes);
    expect(await follow(target)).toMatchObject({ ok: false, reason: 'redirect-loop' });
    expect(target.requests).toHaveLength(requests);
  });
});

describe('a refused redirect is itself the answer:', () => {
  test('to another origin, if the client follows only its own origin', async () => {
    const otherOrigin = await startOrigin((_, response) => response.end('other'));
    const target = await startRedirects({ '/': [302, `${otherOrigin.origin.url}/x`] });
    const allowHosts = new Set([...target.policy.allowHosts, ...otherOrigin.policy.allowHosts]);
    const allowedTarget = { ...target, policy: { ...target.policy, allowHosts } };

    const ownOriginAnswer = dataOf(await follow(allowedTarget));
    expect(ownOriginAnswer).toMatchObject({
      status: 302,
      refusedRedirect: { to: `${otherOrigin.origin.url}/x` },
    });
    expect(ownOriginAnswer.refusedRedirect?.why).toMatch(/^other-origin: /);
    expect(otherOrigin.requests).toEqual([]);

    const anyOriginAnswer = dataOf(await follow(allowedTarget, { redirects: 'any-guarded' }));
    expect(anyOriginAnswer).toMatchObject({
      status: 200,
      body: 'other',
      url: `${otherOrigin.origin.url}/x`,
    });
  });

  test.each([
    ['http://127.0.0.1:1/', 'scheme_or_form'],
    ['https://127.0.0.1/', 'blocked_ip'],
    ['https://user@example.com/', 'userinfo'],
    ['https://example.com:8443/', 'port'],
    ['/a b', 'control_space_or_backslash'],
    ['javascript:alert(1)', 'scheme_or_form'],
  ])('to %s: %s', async (location, reason) => {
    const target = await startRedirects({ '/': [302, location] });
    const data = dataOf(await follow(target, { redirects: 'any-guarded' }));
    expect(data).toMatchObject({ status: 302, redirects: [], refusedRedirect: { to: location } });
    expect(data.refusedRedirect?.why).toMatch(new RegExp(`^${reason}: `));
    expect(target.requests).toHaveLength(1);
  });

  test('to a host that resolves to a blocked address', async () => {
    const target = await startRedirects({ '/': [302, 'https://inside.example.com/'] });
    const data = dataOf(await follow(target, { redirects: 'any-guarded' }, ['10.0.0.1']));
    expect(data.refusedRedirect?.why).toMatch(/^redirect-refused: .*Private-Use/);
  });

  test('to a host that does not exist', async () => {
    const target = await startRedirects({ '/': [301, 'https://gone.example.com/'] });
    const data = dataOf(await follow(target, { redirects: 'any-guarded' }, []));
    expect(data).toMatchObject({
      status: 301,
      redirects: [],
      refusedRedirect: { to: 'https://gone.example.com/' },
    });
    expect(data.refusedRedirect?.why).toMatch(/^dns: /);
  });

  test('also at the second hop, and the first hop is kept', async () => {
    const target = await startRedirects({ '/': [301, '/a'], '/a': [302, 'https://127.0.0.1/'] });
    const data = dataOf(await follow(target, { redirects: 'any-guarded' }));
    expect(data.url).toBe(`${target.origin.url}/a`);
    expect(data.redirects).toMatchObject([{ url: `${target.origin.url}/`, status: 301 }]);
  });
});

test('a path with two slashes is a path, not a host', async () => {
  const target = await startRedirects({});
  const client = clientFor(target);
  expect(dataOf(await ask(client, target, '//127.0.0.1/x')).body).toBe('//127.0.0.1/x');
  await expect(ask(client, target, 'https://127.0.0.1/')).rejects.toThrow('slash');
});

/** Redirects the given paths. Every other path answers with its own name. */
function startRedirects(
  routes: Readonly<Record<string, readonly [status: number, location: string] | unknown[]>>,
): Promise<HttpOrigin> {
  return startOrigin((request, response) => {
    const [status, location] = routes[request.url ?? ''] ?? [];
    if (typeof status !== 'number') response.end(request.url);
    else response.writeHead(status, { location: String(location) }).end();
  });
}

function follow(
  target: Pick<HttpOrigin, 'origin' | 'policy'>,
  options: Partial<ProbeRequest> = {},
  addresses: string[] = [],
) {
  const failNotFound = () => Promise.reject(Object.assign(new Error(), { code: 'ENOTFOUND' }));
  const resolver = {
    resolve4: () => (addresses.length > 0 ? Promise.resolve(addresses) : failNotFound()),
    resolve6: failNotFound,
    lookup: async () => [{ address: '127.0.0.1', family: 4 as const }],
  };
  const client = clientFor(target, { resolver });
  return ask(client, target, '/', { redirects: 'same-origin', ...options });
}

test('the client does not decompress the body of a redirect', async () => {
  const packed = gzipSync(Buffer.alloc(2_097_152, 0x81));
  const headers = { 'content-type': 'text/plain; charset=shift_jis', 'content-encoding': 'gzip' };
  const target = await startOrigin((request, response) => {
    const hop = Number(request.url?.slice(1));
    if (hop === 0) response.writeHead(200, headers).end(packed);
    else response.writeHead(302, { ...headers, location: `/${hop - 1}` }).end(packed);
  });
  const measureCpuMs = async (path: string) => {
    const before = process.threadCpuUsage();
    const answer = await ask(clientFor(target), target, path, {
      capBytes: 2_097_152,
      redirects: 'same-origin',
    });
    expect(dataOf(answer)).toMatchObject({ status: 200, url: `${target.origin.url}/0` });
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1_000;
  };
  let [directMs, redirectedMs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let time = 0; time < 5; time += 1) {
    directMs = Math.min(directMs, await measureCpuMs('/0'));
    redirectedMs = Math.min(redirectedMs, await measureCpuMs('/5'));
  }
  expect(redirectedMs).toBeLessThan(3 * directMs);
});
