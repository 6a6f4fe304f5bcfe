/** The limits count bytes on the socket, including those that are neither header nor body. */
import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { pour } from '../../../fixtures/origins/hostile-origin.ts';
import { createTestCa } from '../../../fixtures/tls/test-ca.ts';
import { ask, clientFor, dataOf, onRequestLine, startRawOrigin } from './harness.ts';

const KIB = 1_024;
const STATUS_LINE = 'HTTP/1.1 200 OK\r\n';
const CHUNKED_HEAD = `${STATUS_LINE}transfer-encoding: chunked\r\n\r\n`;

const ca = await createTestCa();

/** Each server sends `part` without end. `hasHeader` says that `start` has a whole header. */
const ENDLESS_ANSWERS: readonly [name: string, start: string, part: string, hasHeader: boolean][] =
  [
    ['chunk extensions', `${CHUNKED_HEAD}1;`, 'x'.repeat(16 * KIB), true],
    [
      'chunk extensions of many chunks',
      CHUNKED_HEAD,
      `1;${'x'.repeat(500)}\r\na\r\n`.repeat(20),
      true,
    ],
    ['blank lines', '', '\r\n'.repeat(8 * KIB), false],
    ['zeros before a chunk size', CHUNKED_HEAD, '0'.repeat(16 * KIB), true],
  ];

describe.each(['http', 'https'])('over %s', (scheme) => {
  const startEndless = async (start: string, part: string) =>
    startRawOrigin(
      (socket: Socket) => {
        socket.once('data', () => {
          socket.write(start);
          pour(socket, part);
        });
      },
      scheme === 'https' ? { tls: await ca.issue({ hosts: ['localhost'] }) } : {},
    );

  test.each(ENDLESS_ANSWERS)(
    '%s without end exhausts the bytes of the answer',
    async (_, start, part, hasHeader) => {
      const target = await startEndless(start, part);
      const client = clientFor(target, { extraCa: [ca.pem] });
      const answer = await ask(client, target, '/', { capBytes: 4 * KIB });
      if (hasHeader) {
        expect(answer).toMatchObject({
          ok: true,
          truncated: true,
          data: { bodyFailure: 'malformed' },
        });
      } else {
        expect(answer).toMatchObject({ ok: false, reason: 'malformed' });
      }
      // The sum of 4 x 4 KiB, 64 KiB, the handshake and one more read.
      expect(client.stats().bytes).toBeLessThan((16 + 64 + 64 + 16 + 64) * KIB);
      expect(client.stats().bytes).toBeGreaterThan((16 + 64) * KIB);
    },
  );

  test('all answers of a scan together end at the byte limit of the scan', async () => {
    const target = await startEndless(`${CHUNKED_HEAD}1;`, 'x'.repeat(16 * KIB));
    const client = clientFor(target, { extraCa: [ca.pem], limits: { maxBytes: 400 * KIB } });
    const answers = await Promise.all(
      Array.from({ length: 8 }, (__, i) => ask(client, target, `/${i}`, { capBytes: 64 * KIB })),
    );
    const reasons = answers.map((answer) => (answer.ok ? answer.data.bodyFailure : answer.reason));
    expect(reasons).toContain('budget');
    expect(client.stats().bytes).toBeLessThan(2 * 400 * KIB);
    expect(await ask(client, target, '/late')).toMatchObject({ ok: false, reason: 'budget' });
  });
});

test('TLS records of one byte each count as the 23 bytes that they take', async () => {
  const writeOneByOne = (socket: Socket, bytesLeft: number) => {
    if (bytesLeft > 0) socket.write('a', () => writeOneByOne(socket, bytesLeft - 1));
  };
  const target = await startRawOrigin(
    (socket) => {
      onRequestLine(socket, (line) => {
        const bytes = line.includes('/short') ? 4_000 : 16_000;
        socket.write(`${STATUS_LINE}content-length: ${bytes}\r\n\r\n`, () =>
          writeOneByOne(socket, bytes),
        );
      });
    },
    { tls: await ca.issue({ hosts: ['localhost'] }) },
  );
  const client = clientFor(target, { extraCa: [ca.pem] });
  const shortAnswer = dataOf(await ask(client, target, '/short', { capBytes: 16 * KIB }));
  expect(shortAnswer.body).toHaveLength(4_000);
  expect(shortAnswer.bodyFailure).toBeUndefined();
  const longAnswer = dataOf(await ask(client, target, '/long', { capBytes: 16 * KIB }));
  expect(longAnswer.bodyFailure).toBe('malformed');
  expect(longAnswer.body.length).toBeLessThan(16_000);
});

/** Returns an answer of `bytes` bytes. A chunk extension fills it. */
function toAnswer(bytes: number): string {
  const start = `${CHUNKED_HEAD}1;`;
  const end = '\r\na\r\n0\r\n\r\n';
  return `${start}${'x'.repeat(bytes - start.length - end.length)}${end}`;
}

describe('an answer on the wire', () => {
  const CAP_BYTES = KIB;
  const MAX_WIRE_BYTES = 4 * CAP_BYTES + 64 * KIB;

  test.each([
    [MAX_WIRE_BYTES, undefined],
    [2 * MAX_WIRE_BYTES, 'malformed'],
  ])('of %i bytes ends with the body failure %s', async (bytes, bodyFailure) => {
    const target = await startRawOrigin((socket) => {
      onRequestLine(socket, () => socket.write(toAnswer(bytes)));
    });
    const answer = await ask(clientFor(target), target, '/', { capBytes: CAP_BYTES });
    expect(dataOf(answer).bodyFailure).toBe(bodyFailure);
  });

  test('has its own limit, which does not count the answer before', async () => {
    const target = await startRawOrigin((socket) => {
      onRequestLine(socket, () => socket.write(toAnswer(MAX_WIRE_BYTES - 10 * KIB)));
    });
    const client = clientFor(target, { limits: { socketsPerOrigin: 1 } });
    for (const path of ['/1', '/2', '/3']) {
      const answer = await ask(client, target, path, { capBytes: CAP_BYTES });
      expect(answer).toMatchObject({ ok: true, truncated: false, data: { body: 'a' } });
    }
    expect(client.stats().sockets).toBe(1);
  });

  test('may follow eight interim answers, if their sum is below a limit', async () => {
    const toInterim = (bytes: number) => `HTTP/1.1 103 Early\r\nlink: ${'x'.repeat(bytes)}\r\n\r\n`;
    const target = await startRawOrigin((socket) => {
      onRequestLine(socket, (line) => {
        const bytes = line.includes('/long') ? 60 * KIB : 8 * KIB;
        socket.write(`${toInterim(bytes).repeat(8)}${STATUS_LINE}content-length: 2\r\n\r\nok`);
      });
    });
    const client = clientFor(target);
    expect(dataOf(await ask(client, target, '/short', { capBytes: CAP_BYTES })).body).toBe('ok');
    expect(await ask(client, target, '/long', { capBytes: CAP_BYTES })).toMatchObject({
      ok: false,
      reason: 'malformed',
    });
  });

  test('comes over a new connection if the idle connection is flooded with blank lines', async () => {
    const connectionClosed = Promise.withResolvers<void>();
    let connections = 0;
    const target = await startRawOrigin((socket) => {
      connections += 1;
      const isFirst = connections === 1;
      onRequestLine(socket, () => socket.write(`${STATUS_LINE}content-length: 2\r\n\r\nok`));
      if (!isFirst) return;
      socket.once('data', () => setTimeout(() => pour(socket, '\r\n'.repeat(8 * KIB)), 50));
      socket.once('close', () => connectionClosed.resolve());
    });
    const client = clientFor(target);
    expect(dataOf(await ask(client, target, '/1')).body).toBe('ok');
    await connectionClosed.promise;
    expect(dataOf(await ask(client, target, '/2')).body).toBe('ok');
  });
});
