/** The client opens connections during the first request, for the requests that follow it. */
import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { createTestCa, selfSigned } from '../../../fixtures/tls/test-ca.ts';
import { ask, clientFor, dataOf, startOrigin, startRawOrigin } from './harness.ts';

const FIRST_OF_MANY = { isFirstOfMany: true } as const;
const PATHS = Array.from({ length: 12 }, (_, index) => `/${index}`);

const ca = await createTestCa();
const certificate = await ca.issue({ hosts: ['localhost'] });

test('six connections finish TLS before the first answer arrives', async () => {
  const openSockets = new Set<Socket>();
  const sixOpen = Promise.withResolvers<void>();
  const addSocket = (socket: Socket) => {
    openSockets.add(socket);
    if (openSockets.size === 6) sixOpen.resolve();
  };
  const target = await startRawOrigin(
    (socket) => {
      addSocket(socket);
      socket.on('data', async () => {
        await sixOpen.promise;
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
      });
    },
    { tls: certificate },
  );
  const client = clientFor(target, { extraCa: [ca.pem] });
  expect(dataOf(await ask(client, target, '/', FIRST_OF_MANY)).body).toBe('ok');
  const answers = await Promise.all(PATHS.slice(0, 6).map((path) => ask(client, target, path)));
  expect(answers.every((answer) => dataOf(answer).body === 'ok')).toBe(true);
  expect(target.connections()).toBe(6);
  expect(client.stats()).toMatchObject({ requests: 7, sockets: 6, roundTrips: 2 });
});

test('a request that is not the first of many opens one connection', async () => {
  const target = await startOrigin((_, response) => response.end('ok'));
  const client = clientFor(target);
  expect(dataOf(await ask(client, target)).body).toBe('ok');
  expect(target.connections()).toBe(1);
});

test('the client opens no further connection if the first handshake fails', async () => {
  const selfSignedCertificate = await selfSigned(['localhost']);
  let clockReadings = 0;
  const target = await startOrigin((_, response) => response.end('never'), {
    tls: selfSignedCertificate,
  });
  const client = clientFor(target, {
    processorTime: () => {
      clockReadings += 1;
      return 0;
    },
  });
  const answer = await ask(client, target, '/', FIRST_OF_MANY);
  expect(answer).toMatchObject({ ok: false, reason: 'tls-self-signed' });
  expect(client.stats()).toMatchObject({ requests: 1, sockets: 0 });
  const firstTryReadings = clockReadings;
  expect(await ask(client, target, '/again')).toMatchObject({ reason: 'tls-self-signed' });
  // The second request reads the clock as often as the first, so the first made only one handshake.
  expect(clockReadings).toBe(2 * firstTryReadings);
});

test('if the origin closes connections before their use, all requests still get their answers', async () => {
  const fiveClosed = Promise.withResolvers<void>();
  let connections = 0;
  let closedCount = 0;
  const target = await startRawOrigin((socket) => {
    connections += 1;
    if (connections > 1 && connections <= 6) {
      socket.once('close', () => {
        closedCount += 1;
        if (closedCount === 5) fiveClosed.resolve();
      });
      socket.destroy();
      return;
    }
    socket.on('data', async (bytes) => {
      await fiveClosed.promise;
      const requestCount = bytes.toString().split('\r\n\r\n').length - 1;
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'.repeat(requestCount));
    });
  });
  const client = clientFor(target);
  expect(dataOf(await ask(client, target, '/', FIRST_OF_MANY)).body).toBe('ok');
  const answers = await Promise.all(PATHS.map((path) => ask(client, target, path)));
  expect(answers.map((answer) => dataOf(answer).body)).toEqual(PATHS.map(() => 'ok'));
});
