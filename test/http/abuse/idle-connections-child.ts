/** A service of its own with thousands of idle connections to it; prints what that cost, as JSON. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { startApp } from '../../fixtures/service/start-app.ts';

const COUNT = Number(process.argv[2]);
/** At once: the backlog of a listening socket is shorter than all of them. */
const BATCH = 200;
const MIB = 1_024 * 1_024;

await using service = await startApp({ limits: { requestTimeoutMs: 120_000 } });
const port = Number(
  new URL(await service.app.listen({ host: '127.0.0.1', port: 0, backlog: COUNT })).port,
);
const statusOf = async () => (await fetch(`http://127.0.0.1:${port}/v1/checks`)).status;
await statusOf();

const before = process.memoryUsage.rss();
const sockets: Socket[] = [];
while (sockets.length < COUNT) {
  const batch = Array.from({ length: Math.min(BATCH, COUNT - sockets.length) }, () =>
    connect(port, '127.0.0.1'),
  );
  await Promise.all(batch.map((socket) => once(socket, 'connect')));
  sockets.push(...batch);
}
// Half of them have asked for something once, as kept-alive connections have.
for (const socket of sockets.slice(0, COUNT / 2)) {
  socket.write('GET /health HTTP/1.1\r\nHost: x\r\n\r\n');
}
await Promise.all(sockets.slice(0, COUNT / 2).map((socket) => once(socket, 'data')));
const connections = () =>
  new Promise<number>((resolve, reject) =>
    service.app.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  );
// The last of them may still wait to be accepted.
let held = await connections();
for (let tries = 0; held < COUNT && tries < 100; tries += 1) {
  await delay(100);
  held = await connections();
}
const statuses = [await statusOf(), await statusOf()];
const grownMiB = (process.memoryUsage.rss() - before) / MIB;
for (const socket of sockets) socket.destroy();
statuses.push(await statusOf());
process.stdout.write(`${JSON.stringify({ held, statuses, grownMiB })}\n`);
