/** Connections that arrive while the service cannot accept them wait in the backlog. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { needs } from '../../../fixtures/needs.ts';
import { startInstance } from '../../../hosts/instance-process.ts';

const CONNECTIONS = 1_000;

/** Returns what the machine lacks: Linux limits the backlog of a process. Null if nothing is missing. */
function backlogUnavailable(): string | null {
  try {
    const maxBacklog = Number(readFileSync('/proc/sys/net/core/somaxconn', 'utf8'));
    return maxBacklog > CONNECTIONS
      ? null
      : `a backlog of ${CONNECTIONS} (net.core.somaxconn is ${maxBacklog})`;
  } catch {
    return 'Linux';
  }
}

describe('1,000 connections to a paused service', needs(backlogUnavailable()), () => {
  test('are all established while the service is paused; afterwards the last connection gets an answer', async () => {
    const instance = await startInstance({ PAYMENT_MODE: 'mock', STORE_URL: 'sqlite::memory:' });
    const sockets: Socket[] = [];
    try {
      instance.pause();
      await expect.poll(() => instance.isStopped()).toBe(true);
      const port = Number(new URL(instance.url).port);
      for (let count = 0; count < CONNECTIONS; count += 1) sockets.push(connect(port, '127.0.0.1'));
      // With a shorter backlog the kernel would drop the first packet of the connections that do not fit.
      await Promise.all(sockets.map((socket) => once(socket, 'connect')));
      instance.wake();
      const [lastSocket] = sockets.slice(-1);
      lastSocket?.write('GET /health HTTP/1.1\r\nHost: x\r\n\r\n');
      const [answer] = lastSocket === undefined ? [] : await once(lastSocket, 'data');
      expect(String(answer)).toMatch(/^HTTP\/1\.1 200 /);
    } finally {
      instance.wake();
      for (const socket of sockets) socket.destroy();
      await instance.kill();
    }
  }, 60_000);
});
