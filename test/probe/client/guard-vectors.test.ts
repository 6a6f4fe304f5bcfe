import { createServer, type Server } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { OriginRefused } from '../../../src/guard/errors.ts';
import type { Connector } from '../../../src/guard/guarded-connect.ts';
import { DEFAULT_POLICY, parseOrigin } from '../../../src/guard/origin.ts';
import type { Resolver } from '../../../src/guard/resolve.ts';
import type { ProbeClient } from '../../../src/probe/client/client.ts';
import { createTestCa, type TestCa } from '../../fixtures/tls/test-ca.ts';
import {
  type DnsVector,
  type RedirectVector,
  titleOf,
  VECTORS,
} from '../../fixtures/vectors/ssrf-vectors.ts';
import { ask, clientFor, dataOf } from './harness.ts';

const PUBLIC = '1.1.1.1';

/** The server for every public host. The connector below leads here, whatever address is dialled. */
let server: Server;
let ca: TestCa;
let answers: Map<string, { status: number; headers: Record<string, string> }>;
let served: string[];
/** Addresses that a socket was opened to. */
let dialled: string[];

beforeAll(async () => {
  ca = await createTestCa();
  const hosts = ['*.example.com', 'www.good.example.com'];
  server = createServer(await ca.issue({ hosts }), (request, response) => {
    const url = `https://${request.headers.host}${request.url}`;
    served.push(url);
    const { status, headers } = answers.get(url) ?? { status: 200, headers: {} };
    response.writeHead(status, headers).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterAll(async () => {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await closed;
});

beforeEach(() => {
  answers = new Map();
  served = [];
  dialled = [];
});

describe('names', () => {
  for (const vector of VECTORS.filter((each) => each.kind === 'dns')) {
    test(titleOf(vector), () => runDnsVector(vector));
  }
});

async function runDnsVector({ host, lookups, ...vector }: DnsVector): Promise<void> {
  const origin = parseOrigin(host);
  const names = countingResolver(() => lookups);
  const client = spiedClient(names.resolver);
  if (vector.expect === 'allow' || 'alsoOk' in vector) {
    // IPv6 is dialled first, and IPv4 only if IPv6 fails.
    const allowed = vector.mustConnectTo ?? lookups[0]?.AAAA?.[0] ?? PUBLIC;
    // The first request is sent alone, so that later ones find its connection idle, then closed.
    for (const path of ['/1', '/2', '/3']) {
      expect(dataOf(await ask(client, { origin }, path)).status).toBe(200);
    }
    expect(new Set(dialled)).toEqual(new Set([allowed]));
    expect(names.count()).toBe(vector.maxLookups ?? 1);
    await expectSecondScanToAskAgain(names.resolver, origin, lookups.length);
    return;
  }
  const resolution = await client.resolveOrigin(origin);
  if (vector.expect === 'unreachable') {
    expect(resolution.kind).toBe('unreachable');
    expect(await ask(client, { origin })).toMatchObject({ ok: false, reason: 'dns' });
  } else {
    expect(resolution.kind).toBe('blocked');
    await expect(ask(client, { origin })).rejects.toThrow(OriginRefused);
  }
  expect(dialled).toEqual([]);
}

/** A second scan shares no look-ups and no sockets, so it resolves the name again. */
async function expectSecondScanToAskAgain(
  resolver: Resolver,
  origin: ReturnType<typeof parseOrigin>,
  lookups: number,
): Promise<void> {
  const before = dialled.length;
  const second = spiedClient(resolver);
  const resolution = await second.resolveOrigin(origin);
  if (resolution.kind === 'blocked') {
    await expect(ask(second, { origin })).rejects.toThrow(OriginRefused);
    expect(dialled).toHaveLength(before);
    expect(lookups).toBeGreaterThan(1);
    return;
  }
  await ask(second, { origin });
  expect(dialled.length).toBeGreaterThan(before);
}

describe('redirects', () => {
  for (const vector of VECTORS.filter((each) => each.kind === 'redirect')) {
    test(titleOf(vector), () => runRedirectVector(vector));
  }
});

async function runRedirectVector({ chain, ...vector }: RedirectVector): Promise<void> {
  const [first] = chain;
  if (!first) throw new Error('a chain has a first hop');
  for (const { from, status, location, header } of chain) {
    // Node writes header values as Latin-1; the vectors mean UTF-8 on the wire.
    const bytes = location && Buffer.from(location, 'utf8').toString('latin1');
    answers.set(from, { status, headers: { ...header, ...(bytes ? { location: bytes } : {}) } });
  }
  const start = new URL(first.from);
  const names = countingResolver((host) => {
    if (host === start.hostname) return [{ A: [PUBLIC] }];
    if (host.endsWith('.nip.io')) return [{ A: ['127.0.0.1'] }];
    return [chain.find((hop) => hop.dns)?.dns ?? {}];
  });
  const client = spiedClient(names.resolver);
  const seen = await ask(client, { origin: parseOrigin(first.from) }, start.pathname, {
    redirects: 'any-guarded',
  });

  expect(new Set(dialled)).toEqual(new Set([PUBLIC]));
  if (vector.expect === 'allow') {
    const target = new URL(first.location ?? '', first.from).href;
    expect(served).toEqual([first.from, target]);
    expect(dataOf(seen)).toMatchObject({
      status: 200,
      url: target,
      redirects: [{ url: first.from }],
    });
  } else if (chain.length > 1) {
    expect(seen).toMatchObject({ ok: false, reason: 'redirect-loop' });
    expect(served).toEqual(chain.slice(0, 6).map((hop) => hop.from));
  } else {
    expect(served).toEqual([first.from]);
    const data = dataOf(seen);
    expect(data).toMatchObject({ status: first.status, redirects: [] });
    const isFollowed = [301, 302, 307, 308].includes(first.status);
    expect(data.refusedRedirect === undefined).toBe(!isFollowed);
  }
}

test('the peer of the socket must be the address that was checked', async () => {
  const names = countingResolver(() => [{ A: [PUBLIC] }]);
  const client = clientFor(
    { policy: DEFAULT_POLICY },
    { resolver: names.resolver, extraCa: [ca.pem], connect: () => dialServer() },
  );
  const seen = await ask(client, { origin: parseOrigin('https://good.example.com') });
  expect(seen).toMatchObject({ ok: false, reason: 'refused', detail: /peer/ });
  expect(served).toEqual([]);
});

test('IPv4 is dialled if IPv6 fails, in that order', async () => {
  const addresses = { A: [PUBLIC], AAAA: ['2606:4700:4700::1111'] };
  const client = spiedClient(countingResolver(() => [addresses]).resolver, (address) =>
    address.includes(':')
      ? Promise.reject(Object.assign(new Error(), { code: 'ENETUNREACH' }))
      : null,
  );
  const seen = await ask(client, { origin: parseOrigin('https://good.example.com') });
  expect(dataOf(seen).status).toBe(200);
  expect(dialled).toEqual(['2606:4700:4700::1111', PUBLIC]);
});

test('an address that does not answer gives way to the next', async () => {
  const client = spiedClient(
    countingResolver(() => [{ A: ['1.1.1.2', PUBLIC] }]).resolver,
    (address, signal) =>
      address === PUBLIC
        ? null
        : new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    { dialTimeoutMs: 50 },
  );
  const seen = await ask(client, { origin: parseOrigin('https://good.example.com') });
  expect(dataOf(seen).status).toBe(200);
  expect(dialled).toEqual(['1.1.1.2', PUBLIC]);
});

function spiedClient(
  resolver: Resolver,
  fail: (address: string, signal: AbortSignal) => Promise<Socket> | null = () => null,
  limits = {},
): ProbeClient {
  const spy: Connector = async ({ address, signal }) => {
    dialled.push(address);
    const failure = fail(address, signal);
    if (failure) return failure;
    const socket = await dialServer();
    // The test server gets the socket, but the guard must see the address that it dialled.
    return Object.defineProperty(socket, 'remoteAddress', { value: address });
  };
  const options = { resolver, connect: spy, extraCa: [ca.pem], limits };
  return clientFor({ policy: DEFAULT_POLICY }, options);
}

function dialServer(): Promise<Socket> {
  const { port } = server.address() as AddressInfo; // listening on TCP
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket)).on('error', reject);
  });
}

type Lookup = DnsVector['lookups'][number];

/** Gives the n-th answer to the n-th look-up of a host; a look-up is one query for each family. */
function countingResolver(lookupsOf: (host: string) => readonly Lookup[]) {
  const asked = new Map<string, number>();
  const nth = (family: 'A' | 'AAAA', host: string) => {
    const key = `${family} ${host}`;
    const index = asked.get(key) ?? 0;
    asked.set(key, index + 1);
    const lookups = lookupsOf(host);
    const { error, [family]: found = [] } = lookups[index] ?? lookups.at(-1) ?? {};
    const code = error ?? (found.length === 0 ? 'ENODATA' : null);
    return code === null
      ? Promise.resolve([...found])
      : Promise.reject(Object.assign(new Error(code), { code }));
  };
  const resolver: Resolver = {
    resolve4: (host) => nth('A', host),
    resolve6: (host) => nth('AAAA', host),
    lookup: () => Promise.reject(new Error('the hosts file was asked')),
  };
  const count = () => Math.max(...asked.values());
  return { resolver, count };
}
