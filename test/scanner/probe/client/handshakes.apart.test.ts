/** TLS handshakes cost the scanner a bounded number of bytes, connections and processor time. */
import { createServer as createTcpServer } from 'node:net';
import { createServer, type Server, type TlsOptions } from 'node:tls';
import { describe, expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../../../src/scanner/guard/limits.ts';
import { readThreadTime } from '../../../../src/scanner/guard/timers.ts';
import { pour } from '../../../fixtures/origins/hostile-origin.ts';
import { costlyChain, finiteFieldParameters } from '../../../fixtures/tls/costly-handshakes.ts';
import { createTestCa } from '../../../fixtures/tls/test-ca.ts';
import { ask, clientFor, dataOf, listen, startOrigin, type TestOrigin } from './harness.ts';

const ca = await createTestCa();
const certificate = await ca.issue({ hosts: ['localhost'] });

const ANSWER = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
const CLOSING_ANSWER = 'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok';

/** Starts a TLS server that gives every request the same answer. */
function startTls(options: TlsOptions, answer = ANSWER) {
  const server: Server = createServer(options, (socket) => {
    socket.on('error', () => {
      // The client closes a connection that it refuses.
    });
    socket.on('data', () => socket.write(answer));
  }).on('tlsClientError', () => {});
  return listen(server, { tls: certificate });
}

function createTrustingClient(target: Parameters<typeof clientFor>[0], limits = {}) {
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
    const beforeMs = readThreadTime();
    const answer = await ask(createTrustingClient(target), target);
    expect(answer).toMatchObject({ ok: false, reason: 'tls-other' });
    // The client would compute two modular powers, which take 130 ms each at 8,192 bits.
    expect(readThreadTime() - beforeMs).toBeLessThan(1_000);
  });

  test.each(['ffdhe2048', 'ffdhe4096', 'ffdhe8192'])(
    '%s of TLS 1.3 is not offered',
    async (group) => {
      const target = await startTls({ ...certificate, ecdhCurve: group, minVersion: 'TLSv1.3' });
      expect(await ask(createTrustingClient(target), target)).toMatchObject({
        ok: false,
        reason: 'tls-other',
      });
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
    const target = await startTls({ ...certificate, ...options });
    expect(dataOf(await ask(createTrustingClient(target), target)).body).toBe('ok');
  });
});

describe('the bytes of a handshake', () => {
  /** A name takes 2 bytes more than its length. */
  const issueWithNames = (bytes: number) =>
    ca.issue({
      hosts: [
        'localhost',
        ...Array.from({ length: Math.floor(bytes / 64) }, (_, i) => `${i}`.padEnd(61, 'x')),
      ],
    });

  test.each(['TLSv1.2', 'TLSv1.3'] as const)('%s: 15 KiB are read', async (version) => {
    const tls = await issueWithNames(15 * 1_024);
    const target = await startTls({ ...tls, minVersion: version, maxVersion: version });
    expect(dataOf(await ask(createTrustingClient(target), target)).body).toBe('ok');
  });

  test.each(['TLSv1.2', 'TLSv1.3'] as const)('%s: 17 KiB are refused', async (version) => {
    const tls = await issueWithNames(17 * 1_024);
    const target = await startTls({ ...tls, minVersion: version, maxVersion: version });
    const answer = await ask(createTrustingClient(target), target);
    expect(answer).toMatchObject({ ok: false, reason: 'tls-other' });
    expect(answer).toHaveProperty('detail', expect.stringContaining('16384 bytes'));
  });

  test('a flood of records that complete no handshake message ends at once', async () => {
    const server = createTcpServer((socket) => {
      socket.on('error', () => {});
      // This ServerHello declares the largest length, and never ends.
      socket.once('data', () => {
        socket.write(Buffer.from('160303400002003ffc0303', 'hex'));
        pour(socket, '\0'.repeat(4_096));
      });
    });
    const target = await listen(server, { tls: certificate });
    const client = createTrustingClient(target);
    expect(await ask(client, target)).toMatchObject({ ok: false, reason: 'tls-other' });
    expect(client.stats().bytes).toBeLessThan(300_000);
  });
});

describe('the processor time of a handshake', () => {
  test('is not spent on a certificate chain that would take half a second', async () => {
    const tls = await costlyChain('localhost', 69);
    const target = await startTls(tls);
    const beforeMs = readThreadTime();
    expect(await ask(createTrustingClient(target), target)).toMatchObject({
      ok: false,
      reason: 'tls-other',
    });
    expect(readThreadTime() - beforeMs).toBeLessThan(1_000);
  });

  /** A clock that advances by `ms` at each reading. */
  const createTickingClock = (ms: number) => {
    let now = 0;
    return () => {
      now += ms;
      return now;
    };
  };
  const createTimedClient = (target: TestOrigin, processorTime: () => number, limits = {}) =>
    clientFor(target, { extraCa: [ca.pem], limits, processorTime });

  test("may be 150 ms, and 151 ms are the server's fault", async () => {
    // TLS 1.2 takes two flights of the server, TLS 1.3 one.
    const target = await startTls({ ...certificate, minVersion: 'TLSv1.3' });
    const fastClient = createTimedClient(target, createTickingClock(150));
    expect(dataOf(await ask(fastClient, target)).status).toBe(200);
    expect(fastClient.stats().handshakeMs).toBe(150);
    const slowAnswer = await ask(createTimedClient(target, createTickingClock(151)), target);
    expect(slowAnswer).toMatchObject({ ok: false, reason: 'tls-other' });
  });

  test.each([
    [100, 5],
    [99, 6],
  ])(
    'of %i ms each allows %i handshakes a scan, and later requests fail with budget',
    async (ms, count) => {
      const target = await startTls({ ...certificate, minVersion: 'TLSv1.3' }, CLOSING_ANSWER);
      const client = createTimedClient(target, createTickingClock(ms), {
        maxTlsMs: DEFAULT_LIMITS.maxTlsMs,
      });
      const reasons: string[] = [];
      for (let index = 0; index < 8; index += 1) {
        const answer = await ask(client, target, `/${index}`);
        reasons.push(answer.ok ? 'ok' : answer.reason);
      }
      expect(client.stats().sockets).toBe(count);
      expect(reasons.slice(count)).toEqual(Array(8 - count).fill('budget'));
      expect(DEFAULT_LIMITS).toMatchObject({ maxTlsMs: 500, maxHandshakeMs: 150 });
    },
  );

  test('is not spent on a second handshake that the server begins on an open connection', async () => {
    const server = createServer({ ...certificate, maxVersion: 'TLSv1.2' }, (socket) => {
      socket.on('error', () => {});
      socket.on('data', () => {
        socket.renegotiate({}, () => {});
      });
    }).on('tlsClientError', () => {});
    const target = await listen(server, { tls: certificate });
    const answer = await ask(createTrustingClient(target), target, '/', { timeoutMs: 2_000 });
    expect(answer.ok).toBe(false);
  });
});

describe('the number of connections', () => {
  test('is limited for servers that close after each answer', async () => {
    const target = await startOrigin((_, response) => {
      response.writeHead(200, { connection: 'close' }).end('ok');
    });
    const client = clientFor(target, { limits: { maxConnections: 5 } });
    const reasons: string[] = [];
    for (let index = 0; index < 7; index += 1) {
      const answer = await ask(client, target, `/${index}`);
      reasons.push(answer.ok ? 'ok' : answer.reason);
    }
    expect(reasons).toEqual(['ok', 'ok', 'ok', 'ok', 'ok', 'budget', 'budget']);
    expect(target.connections()).toBe(5);
    expect(DEFAULT_LIMITS.maxConnections).toBe(60);
  });

  test('allows sixty honest handshakes in a scan', async () => {
    const target = await startTls(certificate, CLOSING_ANSWER);
    const client = createTrustingClient(target);
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, index) => ask(client, target, `/${index}`)),
    );
    expect(answers.filter((answer) => !answer.ok)).toEqual([]);
    expect(client.stats().sockets).toBe(60);
  });
});
