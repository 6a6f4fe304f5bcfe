/** TLS handshakes cost the scanner a bounded number of bytes, connections and processor time. */
import { createServer as createTcpServer } from 'node:net';
import { createServer, type Server, type TlsOptions } from 'node:tls';
import { beforeAll, describe, expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../../src/guard/limits.ts';
import { readThreadTime } from '../../../src/guard/timers.ts';
import { pour } from '../../fixtures/origins/hostile-origin.ts';
import { costlyChain, finiteFieldParameters } from '../../fixtures/tls/costly-handshakes.ts';
import { createTestCa, type ServerCertificate, type TestCa } from '../../fixtures/tls/test-ca.ts';
import { ask, clientFor, dataOf, listen, startOrigin, type TestOrigin } from './harness.ts';

let ca: TestCa;
let good: ServerCertificate;

beforeAll(async () => {
  ca = await createTestCa();
  good = await ca.issue({ hosts: ['localhost'] });
});

const ANSWER = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
const CLOSING = 'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok';

/** A TLS server of one configuration; answers each request alike. */
function startTls(options: TlsOptions, answer = ANSWER) {
  const server: Server = createServer(options, (socket) => {
    socket.on('error', () => {
      // The client closes a connection that it refuses.
    });
    socket.on('data', () => socket.write(answer));
  }).on('tlsClientError', () => {});
  return listen(server, { tls: good });
}

function trusting(target: Parameters<typeof clientFor>[0], limits = {}) {
  return clientFor(target, { extraCa: [ca.pem], limits });
}

describe('finite-field Diffie-Hellman', () => {
  test.each([
    ['DHE-RSA-AES128-GCM-SHA256', 2_048],
    ['DHE-RSA-AES256-GCM-SHA384', 4_096],
    ['DHE-RSA-AES128-SHA256', 8_192],
    ['DHE-RSA-CHACHA20-POLY1305', 9_984],
    ['DHE-RSA-AES256-SHA', 3_072],
  ])('%s with %i bits is refused before its arithmetic', async (ciphers, bits) => {
    const tls = await costlyChain('localhost', 0);
    const dhparam = finiteFieldParameters(bits);
    const target = await startTls({ ...tls, ciphers, dhparam, maxVersion: 'TLSv1.2' });
    const before = readThreadTime();
    const seen = await ask(trusting(target), target);
    expect(seen).toMatchObject({ ok: false, reason: 'tls-other' });
    // A modular power of 8,192 bits takes the client 130 ms, twice.
    expect(readThreadTime() - before).toBeLessThan(1_000);
  });

  test.each(['ffdhe2048', 'ffdhe4096', 'ffdhe8192'])(
    '%s of TLS 1.3 is not offered',
    async (group) => {
      const target = await startTls({ ...good, ecdhCurve: group, minVersion: 'TLSv1.3' });
      expect(await ask(trusting(target), target)).toMatchObject({ ok: false, reason: 'tls-other' });
    },
  );

  test.each([
    { ecdhCurve: 'X25519', minVersion: 'TLSv1.3' },
    { ecdhCurve: 'P-256', minVersion: 'TLSv1.3' },
    { ecdhCurve: 'P-384', maxVersion: 'TLSv1.2' },
    { ecdhCurve: 'P-521', maxVersion: 'TLSv1.2' },
    { ciphers: 'ECDHE-ECDSA-AES256-GCM-SHA384', maxVersion: 'TLSv1.2' },
    { ciphers: 'ECDHE-ECDSA-CHACHA20-POLY1305', maxVersion: 'TLSv1.2' },
  ] as const)('common parameters of sellers still work: %o', async (options) => {
    const target = await startTls({ ...good, ...options });
    expect(dataOf(await ask(trusting(target), target)).body).toBe('ok');
  });
});

describe('the bytes of a handshake', () => {
  /** A name takes 2 bytes more than its length. */
  const withNames = (bytes: number) =>
    ca.issue({
      hosts: [
        'localhost',
        ...Array.from({ length: Math.floor(bytes / 64) }, (_, i) => `${i}`.padEnd(61, 'x')),
      ],
    });

  test.each(['TLSv1.2', 'TLSv1.3'] as const)('%s: 15 KiB are read', async (version) => {
    const tls = await withNames(15 * 1_024);
    const target = await startTls({ ...tls, minVersion: version, maxVersion: version });
    expect(dataOf(await ask(trusting(target), target)).body).toBe('ok');
  });

  test.each(['TLSv1.2', 'TLSv1.3'] as const)('%s: 17 KiB are refused', async (version) => {
    const tls = await withNames(17 * 1_024);
    const target = await startTls({ ...tls, minVersion: version, maxVersion: version });
    const seen = await ask(trusting(target), target);
    expect(seen).toMatchObject({ ok: false, reason: 'tls-other' });
    expect(seen).toHaveProperty('detail', expect.stringContaining('16384 bytes'));
  });

  test('a flood of records that begin no handshake ends at once', async () => {
    const server = createTcpServer((socket) => {
      socket.on('error', () => {});
      // A handshake record of a ServerHello that is as long as they get, and never ends.
      socket.once('data', () => {
        socket.write(Buffer.from('160303400002003ffc0303', 'hex'));
        pour(socket, '\0'.repeat(4_096));
      });
    });
    const target = await listen(server, { tls: good });
    const client = trusting(target);
    expect(await ask(client, target)).toMatchObject({ ok: false, reason: 'tls-other' });
    expect(client.stats().bytes).toBeLessThan(300_000);
  });
});

describe('the processor time of a handshake', () => {
  test('a certificate chain that takes half a second never reaches the arithmetic', async () => {
    const tls = await costlyChain('localhost', 69);
    const target = await startTls(tls);
    const before = readThreadTime();
    expect(await ask(trusting(target), target)).toMatchObject({ ok: false, reason: 'tls-other' });
    expect(readThreadTime() - before).toBeLessThan(1_000);
  });

  /** A clock that advances by `ms` at each reading. */
  const ticking = (ms: number) => {
    let now = 0;
    return () => {
      now += ms;
      return now;
    };
  };
  const clientOn = (target: TestOrigin, processorTime: () => number, limits = {}) =>
    clientFor(target, { extraCa: [ca.pem], limits, processorTime });

  test("150 ms are accepted from an honest server on a slow day, 151 are the server's fault", async () => {
    // TLS 1.2 takes two flights of the server, TLS 1.3 one.
    const target = await startTls({ ...good, minVersion: 'TLSv1.3' });
    const within = clientOn(target, ticking(150));
    expect(dataOf(await ask(within, target)).status).toBe(200);
    expect(within.stats().handshakeMs).toBe(150);
    const over = await ask(clientOn(target, ticking(151)), target);
    expect(over).toMatchObject({ ok: false, reason: 'tls-other' });
  });

  test.each([
    [100, 5],
    [99, 6],
  ])(
    'with %i ms each allows %i handshakes a scan, and the rest is its budget',
    async (ms, count) => {
      const target = await startTls({ ...good, minVersion: 'TLSv1.3' }, CLOSING);
      const client = clientOn(target, ticking(ms), { maxTlsMs: DEFAULT_LIMITS.maxTlsMs });
      const reasons: string[] = [];
      for (let index = 0; index < 8; index += 1) {
        const seen = await ask(client, target, `/${index}`);
        reasons.push(seen.ok ? 'ok' : seen.reason);
      }
      expect(client.stats().sockets).toBe(count);
      expect(reasons.slice(count)).toEqual(Array(8 - count).fill('budget'));
      expect(DEFAULT_LIMITS).toMatchObject({ maxTlsMs: 500, maxHandshakeMs: 150 });
    },
  );

  test('a server may not begin another handshake on an open connection', async () => {
    const server = createServer({ ...good, maxVersion: 'TLSv1.2' }, (socket) => {
      socket.on('error', () => {});
      socket.on('data', () => {
        socket.renegotiate({}, () => {});
      });
    }).on('tlsClientError', () => {});
    const target = await listen(server, { tls: good });
    const seen = await ask(trusting(target), target, '/', { timeoutMs: 2_000 });
    expect(seen.ok).toBe(false);
  });
});

describe('the number of connections', () => {
  test('reaches the limit for servers that close after each answer', async () => {
    const target = await startOrigin((_, response) => {
      response.writeHead(200, { connection: 'close' }).end('ok');
    });
    const client = clientFor(target, { limits: { maxConnections: 5 } });
    const reasons: string[] = [];
    for (let index = 0; index < 7; index += 1) {
      const seen = await ask(client, target, `/${index}`);
      reasons.push(seen.ok ? 'ok' : seen.reason);
    }
    expect(reasons).toEqual(['ok', 'ok', 'ok', 'ok', 'ok', 'budget', 'budget']);
    expect(target.connections()).toBe(5);
    expect(DEFAULT_LIMITS.maxConnections).toBe(60);
  });

  test('allows sixty honest handshakes in a scan', async () => {
    const target = await startTls(good, CLOSING);
    const client = trusting(target);
    const all = await Promise.all(
      Array.from({ length: 60 }, (_, index) => ask(client, target, `/${index}`)),
    );
    expect(all.filter((seen) => !seen.ok)).toEqual([]);
    expect(client.stats().sockets).toBe(60);
  });
});
