/** The client opens connections during the first request, for the requests that follow it. */
import type { Socket } from 'node:net';
import { beforeAll, expect, test } from 'vitest';
import {
  createTestCa,
  type ServerCertificate,
  selfSigned,
  type TestCa,
} from '../../fixtures/tls/test-ca.ts';
import { ask, clientFor, dataOf, startOrigin, startRawOrigin } from './harness.ts';

const FIRST = { isFirstOfMany: true } as const;
const PATHS = Array.from({ length: 12 }, (_, index) => `/${index}`);

let ca: TestCa;
let good: ServerCertificate;

beforeAll(async () => {
  ca = await createTestCa();
  good = await ca.issue({ hosts: ['localhost'] });
});

test('six connections finish TLS before the first answer arrives', async () => {
  const open = new Set<Socket>();
  const six = Promise.withResolvers<void>();
  const count = (socket: Socket) => {
    open.add(socket);
    if (open.size === 6) six.resolve();
  };
  const target = await startRawOrigin(
    (socket) => {
      count(socket);
      socket.on('data', async () => {
        await six.promise;
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
      });
    },
    { tls: good },
  );
  const client = clientFor(target, { extraCa: [ca.pem] });
  expect(dataOf(await ask(client, target, '/', FIRST)).body).toBe('ok');
  const all = await Promise.all(PATHS.slice(0, 6).map((path) => ask(client, target, path)));
  expect(all.every((seen) => dataOf(seen).body === 'ok')).toBe(true);
  expect(target.connections()).toBe(6);
  expect(client.stats()).toMatchObject({ requests: 7, sockets: 6, roundTrips: 2 });
});

test('a request without a successor opens one connection', async () => {
  const target = await startOrigin((_, response) => response.end('ok'));
  const client = clientFor(target);
  expect(dataOf(await ask(client, target)).body).toBe('ok');
  expect(target.connections()).toBe(1);
});

test('a failed first handshake is followed by no second', async () => {
  const bad = await selfSigned(['localhost']);
  let handshakes = 0;
  const target = await startOrigin((_, response) => response.end('never'), { tls: bad });
  const client = clientFor(target, {
    processorTime: () => {
      handshakes += 1;
      return 0;
    },
  });
  const seen = await ask(client, target, '/', FIRST);
  expect(seen).toMatchObject({ ok: false, reason: 'tls-self-signed' });
  expect(client.stats()).toMatchObject({ requests: 1, sockets: 0 });
  const after = handshakes;
  expect(await ask(client, target, '/again')).toMatchObject({ reason: 'tls-self-signed' });
  // One more connection costs the same again, because the failed one was the only one.
  expect(handshakes).toBe(2 * after);
});

test('connections that the origin closes before their use cost no request', async () => {
  const closed = Promise.withResolvers<void>();
  let connections = 0;
  let gone = 0;
  const target = await startRawOrigin((socket) => {
    connections += 1;
    if (connections > 1 && connections <= 6) {
      socket.once('close', () => {
        gone += 1;
        if (gone === 5) closed.resolve();
      });
      socket.destroy();
      return;
    }
    socket.on('data', async (bytes) => {
      await closed.promise;
      const heads = bytes.toString().split('\r\n\r\n').length - 1;
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'.repeat(heads));
    });
  });
  const client = clientFor(target);
  expect(dataOf(await ask(client, target, '/', FIRST)).body).toBe('ok');
  const all = await Promise.all(PATHS.map((path) => ask(client, target, path)));
  expect(all.map((seen) => dataOf(seen).body)).toEqual(PATHS.map(() => 'ok'));
});
