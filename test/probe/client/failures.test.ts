import { createServer } from 'node:net';
import { beforeAll, describe, expect, test } from 'vitest';
import { OriginRefused } from '../../../src/guard/errors.ts';
import { ResolverDown } from '../../../src/guard/failures.ts';
import { allowOrigin, DEFAULT_POLICY, parseOrigin } from '../../../src/guard/origin.ts';
import type { Resolver } from '../../../src/guard/resolve.ts';
import { createTestCa, selfSigned, type TestCa } from '../../fixtures/tls/test-ca.ts';
import { ask, clientFor, dataOf, startOrigin, startRawOrigin } from './harness.ts';

const NEVER = 60_000;
const seller = parseOrigin('https://seller.example.com');
let ca: TestCa;

beforeAll(async () => {
  ca = await createTestCa();
});

describe('before the connection', () => {
  test('refused: the port is closed', async () => {
    const target = await closedPort();
    const client = clientFor(target);
    expect(await ask(client, target)).toMatchObject({ ok: false, reason: 'refused' });
  });

  test('an origin that cannot be connected to is not tried for each request', async () => {
    const target = await closedPort();
    const client = clientFor(target);
    const paths = Array.from({ length: 12 }, (_, index) => `/${index}`);
    const all = await Promise.all(paths.map((path) => ask(client, target, path)));
    expect(all.every((seen) => !seen.ok && seen.reason === 'refused')).toBe(true);
    expect(client.stats().requests).toBeLessThanOrEqual(6);
  });

  test('dns: the name does not exist', async () => {
    const client = clientFor({ policy: DEFAULT_POLICY }, { resolver: failing('ENOTFOUND') });
    expect(await ask(client, { origin: seller })).toMatchObject({
      ok: false,
      reason: 'dns',
      detail: 'the name does not exist (ENOTFOUND)',
    });
  });

  test('a resolver that refuses connections is our fault: the request rejects', async () => {
    const client = clientFor({ policy: DEFAULT_POLICY }, { resolver: failing('ECONNREFUSED') });
    await expect(ask(client, { origin: seller })).rejects.toThrow(ResolverDown);
    expect(await client.resolveOrigin(seller)).toMatchObject({ kind: 'our-fault' });
  });

  test('a host that the guard refuses gives no observation: the request rejects', async () => {
    const resolver = { ...failing('ENODATA'), resolve4: async () => ['127.0.0.1'] };
    const client = clientFor({ policy: DEFAULT_POLICY }, { resolver });
    await expect(ask(client, { origin: seller })).rejects.toThrow(OriginRefused);
  });

  test('a name server that never answers does not outlast the scan', async () => {
    const deadline = new AbortController();
    const never = () => new Promise<never>(() => {});
    const client = clientFor(
      { policy: DEFAULT_POLICY },
      { resolver: { resolve4: never, resolve6: never, lookup: never }, signal: deadline.signal },
    );
    const asked = ask(client, { origin: seller });
    deadline.abort();
    expect(await asked).toMatchObject({ ok: false, reason: 'timeout' });
  });
});

describe('TLS', () => {
  const cases = [
    ['tls-expired', () => ca.issue({ hosts: ['localhost'], notAfter: new Date(Date.now() - 1e6) })],
    ['tls-self-signed', () => selfSigned(['localhost'])],
    ['tls-wrong-host', () => ca.issue({ hosts: ['other.example.com'] })],
    [
      'tls-unknown-issuer',
      async () => (await createTestCa('Stranger')).issue({ hosts: ['localhost'] }),
    ],
  ] as const;
  test.each(cases)('%s', async (reason, certificate) => {
    const target = await startOrigin((_, response) => response.end(), { tls: await certificate() });
    const client = clientFor(target, { extraCa: [ca.pem] });
    const seen = await ask(client, target);
    expect(seen).toMatchObject({ ok: false, reason });
    expect(target.requests).toEqual([]);
    expect(JSON.stringify(seen)).not.toContain('example.com');
  });

  test('tls-other: the port does not use TLS', async () => {
    const plain = await startRawOrigin((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    const https = onHttps(plain.port);
    expect(await ask(clientFor(https), https)).toMatchObject({ ok: false, reason: 'tls-other' });
  });

  test('timeout: a handshake never ends', async () => {
    const silent = await startRawOrigin((socket) => socket.resume());
    const https = onHttps(silent.port);
    const seen = await ask(clientFor(https), https, '/', { timeoutMs: 300 });
    expect(seen).toMatchObject({ ok: false, reason: 'timeout' });
  });

  test('a valid certificate of the test root is accepted', async () => {
    const tls = await ca.issue({ hosts: ['localhost'] });
    const target = await startOrigin((_, response) => response.end('hello'), { tls });
    const seen = await ask(clientFor(target, { extraCa: [ca.pem] }), target);
    expect(dataOf(seen)).toMatchObject({
      status: 200,
      body: 'hello',
      url: `${target.origin.url}/`,
    });
  });

  test('an address as host: the certificate is for the address, and SNI is not sent', async () => {
    const tls = await ca.issue({ hosts: ['127.0.0.1'] });
    const target = await startOrigin((_, response) => response.end('ip'), {
      tls,
      host: '127.0.0.1',
    });
    expect(dataOf(await ask(clientFor(target, { extraCa: [ca.pem] }), target)).body).toBe('ip');
  });
});

describe('after the connection', () => {
  test('reset: the server resets it', async () => {
    const target = await startRawOrigin((socket) => {
      socket.once('data', () => socket.resetAndDestroy());
    });
    expect(await ask(clientFor(target), target)).toMatchObject({ ok: false, reason: 'reset' });
    expect(target.connections()).toBe(1);
  });

  test('timeout: the server does not answer', async () => {
    const target = await startRawOrigin((socket) => socket.resume());
    const seen = await ask(clientFor(target), target, '/', { timeoutMs: 300 });
    expect(seen).toMatchObject({ ok: false, reason: 'timeout' });
  });

  test('malformed: the server uses another protocol', async () => {
    const target = await startRawOrigin((socket) => socket.write('SSH-2.0-OpenSSH_9.9\r\n'));
    expect(await ask(clientFor(target), target)).toMatchObject({ ok: false, reason: 'malformed' });
  });

  test('malformed: the server upgrades without a request', async () => {
    const upgrade = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n';
    const target = await startRawOrigin((socket) =>
      socket.once('data', () => socket.write(upgrade)),
    );
    expect(await ask(clientFor(target), target)).toMatchObject({ ok: false, reason: 'malformed' });
  });

  test(
    'the scan runs out of time: open requests end, later ones are not sent',
    async () => {
      const deadline = new AbortController();
      const target = await startOrigin(() => deadline.abort());
      const client = clientFor(target, { signal: deadline.signal });
      const all = await Promise.all([ask(client, target, '/a'), ask(client, target, '/b')]);
      for (const seen of [...all, await ask(client, target, '/c')]) {
        expect(seen).toMatchObject({ ok: false, reason: 'timeout', detail: /scan/ });
      }
      expect(target.requests).not.toContain('GET /c');
    },
    NEVER,
  );
});

function onHttps(port: number) {
  const url = `https://localhost:${port}`;
  const policy = allowOrigin(url, DEFAULT_POLICY);
  return { policy, origin: parseOrigin(url, policy) };
}

async function closedPort() {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  const policy = allowOrigin(url, DEFAULT_POLICY);
  return { policy, origin: parseOrigin(url, policy) };
}

function failing(code: string): Resolver {
  const fail = () => Promise.reject(Object.assign(new Error(code), { code }));
  return { resolve4: fail, resolve6: fail, lookup: fail };
}
