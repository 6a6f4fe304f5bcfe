import { connect, createServer, type Socket } from 'node:net';
import { listenLocally } from '../../fixtures/service/local-server.ts';

/**
 * Listens before the server at `port`: opening a connection takes a round trip of `roundTripMs`, and
 * each byte half of one, whichever way it goes. Returns the port of the distant end.
 */
export async function putAtDistance(port: number, roundTripMs: number): Promise<number> {
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1').setNoDelay(true);
    // Loopback connects at once: what the client sends first waits as long as its SYN would have.
    const openMs = performance.now() + roundTripMs;
    carry(near.setNoDelay(true), far, roundTripMs / 2, openMs);
    carry(far, near, roundTripMs / 2, 0);
  });
  return (await listenLocally(server)).port;
}

/** In order, because timers of one due time fire in the order in which they were set. */
function carry(from: Socket, to: Socket, oneWayMs: number, notBeforeMs: number): void {
  const later = (work: () => void) => {
    const now = performance.now();
    setTimeout(work, Math.max(now, notBeforeMs) + oneWayMs - now);
  };
  from.on('data', (bytes) => later(() => to.writable && to.write(bytes)));
  from.on('end', () => later(() => to.end()));
  from.on('error', () => to.destroy());
  from.on('close', () => later(() => to.destroy()));
}
