import { createServer, type Server } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { OriginRefused } from '../../../../src/scanner/guard/failures.ts';
import type { Connector } from '../../../../src/scanner/guard/guarded-connect.ts';
import type { Resolver } from '../../../../src/scanner/guard/name-servers.ts';
import { DEFAULT_POLICY, parseOrigin } from '../../../../src/scanner/guard/origin.ts';
import type { ProbeClient } from '../../../../src/scanner/probe/client/client.ts';
import { createTestCa, type TestCa } from '../../../fixtures/tls/test-ca.ts';
import {
  type DnsVector,
  type RedirectVector,
  titleOf,
  VECTORS,
} from '../../../fixtures/vectors/ssrf-vectors.ts';
import { ask, clientFor, dataOf } from './harness.ts';

const PUBLIC_ADDRESS = '1.1.1.1';

/** The server for every public host. The connector below leads here, whatever address is dialled. */
let server: Server;
let ca: TestCa;
let answersByUrl: Map<string, { status: number; headers: Record<string, string> }>;
let servedUrls: string[];
/** Addresses that a socket was opened to. */
let dialledAddresses: string[];

beforeAll(async () => {
  ca = await createTestCa();
  const hosts = ['*.example.com', 'www.good.example.com'];
  server = createServer(await ca.issue({ hosts }), (request, response) => {
    const url = `https://${request.headers.host}${request.url}`;
    servedUrls.push(url);
    const { status, headers } = answersByUrl.get(url) ?? { status: 200, headers: {} };
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
  answersByUrl = new Map();
  servedUrls = [];
  dialledAddresses = [];
});

describe('names', () => {
  for (const vector of VECTORS.filter((each) => each.kind === 'dns')) {
    test(titleOf(vector), () => runDnsVector(vector));
  }
});

async function runDnsVector({ host, lookups, ...vector }: DnsVector): Promise<void> {
  const origin = parseOrigin(host);
  const dns = createCountingResolver(() => lookups);
  const client = createSpiedClient(dns.resolver);
  if (vector.expect === 'allow' || 'alsoOk' in vector) {
    // IPv6 is dialled first, and IPv4 only if IPv6 fails.
    const allowed = vector.mustConnectTo ?? lookups[0]?.AAAA?.[0] ?? PUBLIC_ADDRESS;
    // The first request is sent alone, so that later requests find its connection idle, then closed.
    for (const path of ['/1', '/2', '/3']) {
      expect(dataOf(await ask(client, { origin }, path)).status).toBe(200);
    }
    expect(new Set(dialledAddresses)).toEqual(new Set([allowed]));
    expect(dns.count()).toBe(vector.maxLookups ?? 1);
    await expectSecondScanToAskAgain(dns.resolver, origin, lookups.length);
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
  expect(dialledAddresses).toEqual([]);
}

/** A second scan shares no look-ups and no sockets, so it resolves the name again. */
async function expectSecondScanToAskAgain(
  resolver: Resolver,
  origin: ReturnType<typeof parseOrigin>,
  lookups: number,
): Promise<void> {
  const dialsBefore = dialledAddresses.length;
  const secondClient = createSpiedClient(resolver);
  const resolution = await secondClient.resolveOrigin(origin);
  if (resolution.kind === 'blocked') {
    await expect(ask(secondClient, { origin })).rejects.toThrow(OriginRefused);
    expect(dialledAddresses).toHaveLength(dialsBefore);
    expect(lookups).toBeGreaterThan(1);
    return;
  }
  await ask(secondClient, { origin });
  expect(dialledAddresses.length).toBeGreaterThan(dialsBefore);
}

describe('redirects', () => {
  for (const vector of VECTORS.filter((each) => each.kind === 'redirect')) {
    test(titleOf(vector), () => runRedirectVector(vector));
  }
});

async function runRedirectVector({ chain, ...vector }: RedirectVector): Promise<void> {
  const [firstHop] = chain;
  if (!firstHop) throw new Error('a chain has a first hop');
  for (const { from, status, location, header } of chain) {
    // Node writes header values as Latin-1; the vectors mean UTF-8 on the wire.
    const bytes = location && Buffer.from(location, 'utf8').toString('latin1');
    answersByUrl.set(from, {
      status,
      headers: { ...header, ...(bytes ? { location: bytes } : {}) },
    });
  }
  const start = new URL(firstHop.from);
  const dns = createCountingResolver((host) => {
    if (host === start.hostname) return [{ A: [PUBLIC_ADDRESS] }];
    if (host.endsWith('.nip.io')) return [{ A: ['127.0.0.1'] }];
    return [chain.find((hop) => hop.dns)?.dns ?? {}];
  });
  const client = createSpiedClient(dns.resolver);
  const answer = await ask(client, { origin: parseOrigin(firstHop.from) }, start.pathname, {
    redirects: 'any-guarded',
  });

  expect(new Set(dialledAddresses)).toEqual(new Set([PUBLIC_ADDRESS]));
  if (vector.expect === 'allow') {
    const target = new URL(firstHop.location ?? '', firstHop.from).href;
    expect(servedUrls).toEqual([firstHop.from, target]);
    expect(dataOf(answer)).toMatchObject({
      status: 200,
      url: target,
      redirects: [{ url: firstHop.from }],
    });
  } else if (chain.length > 1) {
    expect(answer).toMatchObject({ ok: false, reason: 'redirect-loop' });
    expect(servedUrls).toEqual(chain.slice(0, 6).map((hop) => hop.from));
  } else {
    expect(servedUrls).toEqual([firstHop.from]);
    const data = dataOf(answer);
    expect(data).toMatchObject({ status: firstHop.status, redirects: [] });
    const isFollowed = [301, 302, 307, 308].includes(firstHop.status);
    expect(data.refusedRedirect === undefined).toBe(!isFollowed);
  }
}

test('the client refuses a socket whose peer is not the checked address', async () => {
  const dns = createCountingResolver(() => [{ A: [PUBLIC_ADDRESS] }]);
  const client = clientFor(
    { policy: DEFAULT_POLICY },
    { resolver: dns.resolver, extraCa: [ca.pem], connect: () => dialServer() },
  );
  const answer = await ask(client, { origin: parseOrigin('https://good.example.com') });
  expect(answer).toMatchObject({ ok: false, reason: 'refused', detail: /peer/ });
  expect(servedUrls).toEqual([]);
});

test('the client dials IPv6 first, and IPv4 if IPv6 fails', async () => {
  const addresses = { A: [PUBLIC_ADDRESS], AAAA: ['2606:4700:4700::1111'] };
  const client = createSpiedClient(createCountingResolver(() => [addresses]).resolver, (address) =>
    address.includes(':')
      ? Promise.reject(Object.assign(new Error(), { code: 'ENETUNREACH' }))
      : null,
  );
  const answer = await ask(client, { origin: parseOrigin('https://good.example.com') });
  expect(dataOf(answer).status).toBe(200);
  expect(dialledAddresses).toEqual(['2606:4700:4700::1111', PUBLIC_ADDRESS]);
});

test('the client dials the next address if an address does not answer', async () => {
  const client = createSpiedClient(
    createCountingResolver(() => [{ A: ['1.1.1.2', PUBLIC_ADDRESS] }]).resolver,
    (address, signal) =>
      address === PUBLIC_ADDRESS
        ? null
        : new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    { dialTimeoutMs: 50 },
  );
  const answer = await ask(client, { origin: parseOrigin('https://good.example.com') });
  expect(dataOf(answer).status).toBe(200);
  expect(dialledAddresses).toEqual(['1.1.1.2', PUBLIC_ADDRESS]);
});

function createSpiedClient(
  resolver: Resolver,
  fail: (address: string, signal: AbortSignal) => Promise<Socket> | null = () => null,
  limits = {},
): ProbeClient {
  const spy: Connector = async ({ address, signal }) => {
    dialledAddresses.push(address);
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

/** Gives the n-th answer to the n-th look-up of a host. A look-up sends one query for A and one for AAAA. */
function createCountingResolver(lookupsOf: (host: string) => readonly Lookup[]) {
  const queryCounts = new Map<string, number>();
  const answerNext = (family: 'A' | 'AAAA', host: string) => {
    const key = `${family} ${host}`;
    const index = queryCounts.get(key) ?? 0;
    queryCounts.set(key, index + 1);
    const lookups = lookupsOf(host);
    const { error, [family]: found = [] } = lookups[index] ?? lookups.at(-1) ?? {};
    const code = error ?? (found.length === 0 ? 'ENODATA' : null);
    return code === null
      ? Promise.resolve([...found])
      : Promise.reject(Object.assign(new Error(code), { code }));
  };
  const resolver: Resolver = {
    resolve4: (host) => answerNext('A', host),
    resolve6: (host) => answerNext('AAAA', host),
    lookup: () => Promise.reject(new Error('the hosts file was asked')),
  };
  const count = () => Math.max(...queryCounts.values());
  return { resolver, count };
}
