/** A client that disconnects while it waits causes no fetch. */
import { expect, test } from 'vitest';
import { startApp } from '../../../fixtures/service/start-app.ts';
import { openFakeClient } from '../../turns/turn-clients.ts';
import { connectRaw } from './raw-client.ts';

test('a confirm whose client has disconnected fetches nothing', async () => {
  const clientLeft = Promise.withResolvers<void>();
  let fetchCount = 0;
  await using service = await startApp({
    // No waiting fetch may begin before the client has disconnected.
    wait: async (ms) => {
      await clientLeft.promise;
      service.advance(ms);
    },
    openClient: openFakeClient({
      answer() {
        fetchCount += 1;
        return 'nothing of ours';
      },
    }),
  });
  const url = 'shop.example.com';
  await service.post('/v1/verify/start', { url });
  await service.post('/v1/verify/confirm', { url });
  expect(fetchCount).toBe(1);

  const port = Number(new URL(await service.app.listen({ host: '127.0.0.1', port: 0 })).port);
  const client = await connectRaw(port);
  const body = JSON.stringify({ url });
  const head = `POST /v1/verify/confirm HTTP/1.1\r\nHost: x\r\nContent-Type: application/json`;
  client.send(`${head}\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  // An answer to this later request shows that the service has received the confirm.
  await fetch(`http://127.0.0.1:${port}/health`, { headers: { connection: 'close' } });
  client.socket.destroy();
  const countConnections = () =>
    new Promise((resolve) => service.app.server.getConnections((_error, n) => resolve(n)));
  await expect.poll(countConnections).toBe(0);
  clientLeft.resolve();
  const secondConfirm = await service.post('/v1/verify/confirm', { url });
  expect(secondConfirm.json().reason).toBe('mismatch');
  expect(fetchCount).toBe(2);
});
