/** Starts a service, opens thousands of idle connections to it, and prints the memory they took as JSON. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { startApp } from '../../../fixtures/service/start-app.ts';

const CONNECTIONS = Number(process.argv[2]);
/** Connections opened at the same time. The backlog of a socket does not hold all of them. */
const BATCH_SIZE = 200;
const MIB = 1_024 * 1_024;

await using service = await startApp({ limits: { requestTimeoutMs: 120_000 } });
const port = Number(
  new URL(await service.app.listen({ host: '127.0.0.1', port: 0, backlog: CONNECTIONS })).port,
);
const statusOf = async () => (await fetch(`http://127.0.0.1:${port}/v1/checks`)).status;
await statusOf();

const before = process.memoryUsage.rss();
const sockets: Socket[] = [];
while (sockets.length < CONNECTIONS) {
  const batch = Array.from({ length: Math.min(BATCH_SIZE, CONNECTIONS - sockets.length) }, () =>
    connect(port, '127.0.0.1'),
  );
  await Promise.all(batch.map((socket) => once(socket, 'connect')));
  sockets.push(...batch);
}
// Half of the connections have sent one request, as kept-alive connections have.
for (const socket of sockets.slice(0, CONNECTIONS / 2)) {
  socket.write('GET /health HTTP/1.1\r\nHost: x\r\n\r\n');
}
await Promise.all(sockets.slice(0, CONNECTIONS / 2).map((socket) => once(socket, 'data')));
const countConnections = () =>
  new Promise<number>((resolve, reject) =>
    service.app.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  );
// The service may not have accepted the last connections yet.
let openCount = await countConnections();
for (let attempts = 0; openCount < CONNECTIONS && attempts < 100; attempts += 1) {
  await delay(100);
  openCount = await countConnections();
}
const statuses = [await statusOf(), await statusOf()];
const grownMiB = (process.memoryUsage.rss() - before) / MIB;
for (const socket of sockets) socket.destroy();
statuses.push(await statusOf());
process.stdout.write(`${JSON.stringify({ held: openCount, statuses, grownMiB })}\n`);
