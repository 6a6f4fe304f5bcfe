import { AssertionError } from 'node:assert';
import { describe, expect, test } from 'vitest';
import { OriginRefused, OurFault } from '../../../../src/scanner/guard/failures.ts';
import { dial } from '../../../../src/scanner/guard/guarded-connect.ts';
import type { Resolver } from '../../../../src/scanner/guard/name-servers.ts';
import { allowOrigin, DEFAULT_POLICY, parseOrigin } from '../../../../src/scanner/guard/origin.ts';
import { freePort } from '../../../fixtures/service/free-port.ts';
import { createTestCa, selfSigned } from '../../../fixtures/tls/test-ca.ts';
import { ask, clientFor, dataOf, startOrigin, startRawOrigin } from './harness.ts';

const TEST_TIMEOUT_MS = 60_000;
const seller = parseOrigin('https://seller.example.com');
const ca = await createTestCa();

describe('before the connection', () => {
  test('refused: the port is closed', async () => {
    const target = await findClosedPort();
    const client = clientFor(target);
    expect(await ask(client, target)).toMatchObject({ ok: false, reason: 'refused' });
  });

  test.each([
    ['EMFILE', 'reduce the load of this machine'],
    ['ENFILE', 'reduce the load of this machine'],
    ['ENOBUFS', 'reduce the load of this machine'],
    ['ENOMEM', 'reduce the load of this machine'],
    ['EADDRNOTAVAIL', 'reduce the load of this machine'],
    ['EAFNOSUPPORT', 'check the network of this machine'],
    ['EPERM', 'check the network of this machine'],
  ])('%s is a fault of this machine: the request rejects and says "%s"', async (code, remedy) => {
    const target = await findClosedPort();
    const connect = () => Promise.reject(Object.assign(new Error(code), { code }));
    const client = clientFor(target, { connect });
    const error = await ask(client, target).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(OurFault);
    expect(String(error)).toContain(`(${code}): ${remedy}`);
  });

  test.each([
    new AssertionError({ message: 'assert(this.ptr != null)' }),
    new TypeError('Cannot read properties of null'),
    new RangeError('Array buffer allocation failed'),
    Object.assign(new Error('invalid request path'), { code: 'UND_ERR_INVALID_ARG' }),
  ])('a fault of our own program blames neither origin nor network (%s)', async (fault) => {
    const target = await findClosedPort();
    const client = clientFor(target, { connect: () => Promise.reject(fault) });
    const error = await ask(client, target).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(OurFault);
    expect(String(error)).toContain('defect of the scanner');
    expect(String(error)).not.toContain('network');
  });

  test('a defect of our resolver is not a failure of the name servers', async () => {
    const resolve4 = () => Promise.reject(new TypeError('Cannot read properties of null'));
    const resolver = { ...createFailingResolver('ECONNREFUSED'), resolve4 };
    const client = clientFor({ policy: DEFAULT_POLICY }, { resolver });
    await expect(client.resolveOrigin(seller)).rejects.toThrow(TypeError);
  });

  test.each(['EHOSTUNREACH', 'EACCES', 'ENETUNREACH'])(
    '%s, which a router in front of a seller can send, is a finding',
    async (code) => {
      const target = await findClosedPort();
      const connect = () => Promise.reject(Object.assign(new Error(code), { code }));
      const answer = await ask(clientFor(target, { connect }), target);
      expect(answer).toMatchObject({ ok: false });
    },
  );

  test('an address to which this machine has no route is our fault', async () => {
    // The zone of the address does not exist, so the system has no route.
    const lookup = async () => [{ address: 'fe80::1%999999', family: 6 as const }];
    const connect = () => Promise.reject(Object.assign(new Error(), { code: 'ENETUNREACH' }));
    const url = 'http://localhost:4021';
    const policy = allowOrigin(url, DEFAULT_POLICY);
    const resolver = { ...createFailingResolver('ENODATA'), lookup };
    const client = clientFor({ policy }, { connect, resolver });
    await expect(ask(client, { origin: parseOrigin(url, policy) })).rejects.toThrow(OurFault);
  });

  test('an origin that cannot be connected to is not tried for each request', async () => {
    const target = await findClosedPort();
    const client = clientFor(target);
    const paths = Array.from({ length: 12 }, (_, index) => `/${index}`);
    const answers = await Promise.all(paths.map((path) => ask(client, target, path)));
    expect(answers.every((answer) => !answer.ok && answer.reason === 'refused')).toBe(true);
    expect(client.stats().requests).toBeLessThanOrEqual(6);
  });

  test('dns: the name does not exist', async () => {
    const client = clientFor(
      { policy: DEFAULT_POLICY },
      { resolver: createFailingResolver('ENOTFOUND') },
    );
    expect(await ask(client, { origin: seller })).toMatchObject({
      ok: false,
      reason: 'dns',
      detail: 'the name does not exist (ENOTFOUND)',
    });
  });

  test('a resolver that refuses connections is our fault: the request rejects', async () => {
    const client = clientFor(
      { policy: DEFAULT_POLICY },
      { resolver: createFailingResolver('ECONNREFUSED') },
    );
    await expect(ask(client, { origin: seller })).rejects.toThrow(OurFault);
    expect(await client.resolveOrigin(seller)).toMatchObject({ kind: 'our-fault' });
  });

  test('a host that the guard refuses gives no observation: the request rejects', async () => {
    const resolver = { ...createFailingResolver('ENODATA'), resolve4: async () => ['127.0.0.1'] };
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
    const pending = ask(client, { origin: seller });
    deadline.abort();
    expect(await pending).toMatchObject({ ok: false, reason: 'timeout' });
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
  test.each(cases)(
    'a certificate fails with %s before any request',
    async (reason, certificate) => {
      const target = await startOrigin((_, response) => response.end(), {
        tls: await certificate(),
      });
      const client = clientFor(target, { extraCa: [ca.pem] });
      const answer = await ask(client, target);
      expect(answer).toMatchObject({ ok: false, reason });
      expect(target.requests).toEqual([]);
      expect(JSON.stringify(answer)).not.toContain('example.com');
    },
  );

  test('tls-other: the port does not use TLS', async () => {
    const plainOrigin = await startRawOrigin((socket) =>
      socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'),
    );
    const httpsTarget = toHttpsTarget(plainOrigin.port);
    expect(await ask(clientFor(httpsTarget), httpsTarget)).toMatchObject({
      ok: false,
      reason: 'tls-other',
    });
  });

  test('timeout: a handshake never ends', async () => {
    const silentOrigin = await startRawOrigin((socket) => socket.resume());
    const httpsTarget = toHttpsTarget(silentOrigin.port);
    const answer = await ask(clientFor(httpsTarget), httpsTarget, '/', { timeoutMs: 300 });
    expect(answer).toMatchObject({ ok: false, reason: 'timeout' });
  });

  test('a valid certificate of the test root is accepted', async () => {
    const tls = await ca.issue({ hosts: ['localhost'] });
    const target = await startOrigin((_, response) => response.end('hello'), { tls });
    const answer = await ask(clientFor(target, { extraCa: [ca.pem] }), target);
    expect(dataOf(answer)).toMatchObject({
      status: 200,
      body: 'hello',
      url: `${target.origin.url}/`,
    });
  });

  test('a certificate for an IP address is accepted if the host of the origin is this address', async () => {
    const tls = await ca.issue({ hosts: ['127.0.0.1'] });
    const target = await startOrigin((_, response) => response.end('ip'), {
      tls,
      host: '127.0.0.1',
    });
    expect(dataOf(await ask(clientFor(target, { extraCa: [ca.pem] }), target)).body).toBe('ip');
  });
});

describe('after the connection', () => {
  test('reset: the server resets the connection', async () => {
    const target = await startRawOrigin((socket) => {
      socket.once('data', () => socket.resetAndDestroy());
    });
    expect(await ask(clientFor(target), target)).toMatchObject({ ok: false, reason: 'reset' });
    expect(target.connections()).toBe(1);
  });

  test('timeout: the server does not answer', async () => {
    const target = await startRawOrigin((socket) => socket.resume());
    const answer = await ask(clientFor(target), target, '/', { timeoutMs: 300 });
    expect(answer).toMatchObject({ ok: false, reason: 'timeout' });
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

  test.each([
    ['a status below 100', 'HTTP/1.1 000 Zero\r\n\r\n'],
    ['a 101 without Upgrade', 'HTTP/1.1 101 Switching Protocols\r\n\r\n'],
  ])('malformed: %s, which breaks an assertion of undici', async (_name, answer) => {
    const target = await startRawOrigin((socket) => socket.once('data', () => socket.end(answer)));
    expect(await ask(clientFor(target), target)).toMatchObject({ ok: false, reason: 'malformed' });
  });

  test.each([
    Object.assign(new Error('no room'), { code: 'ENOBUFS' }),
    new TypeError('Cannot read properties of null'),
  ])('if this machine breaks an answer off, the request rejects (%s)', async (error) => {
    const beginning = 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf';
    const target = await startRawOrigin((socket) =>
      socket.once('data', () => socket.write(beginning)),
    );
    const client = clientFor(target, {
      connect: async (...args) => {
        const transport = await dial(...args);
        transport.once('data', () => setImmediate(() => transport.destroy(error)));
        return transport;
      },
    });
    await expect(ask(client, target)).rejects.toThrow(OurFault);
  });

  test(
    'if the scan runs out of time, open requests end and later requests are not sent',
    async () => {
      const deadline = new AbortController();
      const target = await startOrigin(() => deadline.abort());
      const client = clientFor(target, { signal: deadline.signal });
      const answers = await Promise.all([ask(client, target, '/a'), ask(client, target, '/b')]);
      for (const answer of [...answers, await ask(client, target, '/c')]) {
        expect(answer).toMatchObject({ ok: false, reason: 'timeout', detail: /scan/ });
      }
      expect(target.requests).not.toContain('GET /c');
    },
    TEST_TIMEOUT_MS,
  );
});

function toHttpsTarget(port: number) {
  const url = `https://localhost:${port}`;
  const policy = allowOrigin(url, DEFAULT_POLICY);
  return { policy, origin: parseOrigin(url, policy) };
}

async function findClosedPort() {
  const url = `http://127.0.0.1:${await freePort()}`;
  const policy = allowOrigin(url, DEFAULT_POLICY);
  return { policy, origin: parseOrigin(url, policy) };
}

function createFailingResolver(code: string): Resolver {
  const fail = () => Promise.reject(Object.assign(new Error(code), { code }));
  return { resolve4: fail, resolve6: fail, lookup: fail };
}
