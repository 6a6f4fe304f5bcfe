/** A stopping service finishes the requests that run, and refuses new ones. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { startApp } from '../../fixtures/service/start-app.ts';

test('a request that arrives while the service stops gets 503 with the usual error body', async () => {
  await using service = await startApp();
  const letLookupEnd = Promise.withResolvers<void>();
  const lookupBegan = Promise.withResolvers<void>();
  service.store.directory.findGrade = async () => {
    lookupBegan.resolve();
    await letLookupEnd.promise;
    return null;
  };
  const { app } = service;
  const port = Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port);
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const answers = text(socket);
  socket.write('GET /v1/status?url=shop.example.com HTTP/1.1\r\nHost: x\r\n\r\n');
  await lookupBegan.promise;

  const appClosed = app.close();
  // The server stops listening only after the plugins know that it stops.
  while (app.server.listening) await new Promise((resolve) => setImmediate(resolve));
  socket.write('GET /v1/checks HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(app.server, 'request');
  letLookupEnd.resolve();
  const [finishedAnswer, refusedAnswer] = (await answers).split(/(?=HTTP\/1\.1 )/);
  expect(finishedAnswer).toMatch(/^HTTP\/1.1 200 [\s\S]*"known":false/);
  expect(refusedAnswer).toMatch(/^HTTP\/1.1 503 [\s\S]*retry-after: 10[\s\S]*"error":"saturated"/);
  await appClosed;
});

test('a stopping service does not wait for connections on which no request has arrived', async () => {
  await using service = await startApp();
  const { app } = service;
  const port = Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port);
  const accepted = once(app.server, 'connection');
  const socket = connect(port, '127.0.0.1');
  await accepted;
  const received = text(socket);
  await app.close();
  expect(await received).toBe('');
});
