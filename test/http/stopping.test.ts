/** A service that is told to stop. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { startApp } from '../fixtures/service/start-app.ts';

test('a request that comes while the service stops is 503, in the form of all errors', async () => {
  await using service = await startApp();
  const release = Promise.withResolvers<void>();
  const isHeld = Promise.withResolvers<void>();
  service.store.directory.findGrade = async () => {
    isHeld.resolve();
    await release.promise;
    return null;
  };
  const { app } = service;
  const port = Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port);
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const answers = text(socket);
  socket.write('GET /v1/status?url=shop.example.com HTTP/1.1\r\nHost: x\r\n\r\n');
  await isHeld.promise;

  const closed = app.close();
  // The server no longer listens once its plugins were told that it stops.
  while (app.server.listening) await new Promise((resolve) => setImmediate(resolve));
  socket.write('GET /v1/checks HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(app.server, 'request');
  release.resolve();
  const [finished, refused] = (await answers).split(/(?=HTTP\/1\.1 )/);
  expect(finished).toMatch(/^HTTP\/1.1 200 [\s\S]*"known":false/);
  expect(refused).toMatch(/^HTTP\/1.1 503 [\s\S]*retry-after: 10[\s\S]*"error":"saturated"/);
  await closed;
});
