/** Connections that come at once, and nobody is there to accept them. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { needs } from '../../fixtures/needs.ts';
import { startHost } from '../../hosts/host-process.ts';

const COUNT = 1_000;

/** The system may allow fewer than are asked for. */
function backlogUnavailable(): string | null {
  try {
    const most = Number(readFileSync('/proc/sys/net/core/somaxconn', 'utf8'));
    return most > COUNT ? null : `a backlog of ${COUNT} (net.core.somaxconn is ${most})`;
  } catch {
    return 'Linux';
  }
}

describe('1,000 connections to a service that is busy', needs(backlogUnavailable()), () => {
  test('wait in line, and all get an answer in the end', async () => {
    const host = await startHost({ PAYMENT_MODE: 'mock', STORE_URL: 'sqlite::memory:' });
    const sockets: Socket[] = [];
    try {
      host.pause();
      await expect.poll(() => host.isStopped()).toBe(true);
      const port = Number(new URL(host.url).port);
      for (let count = 0; count < COUNT; count += 1) sockets.push(connect(port, '127.0.0.1'));
      // With a shorter line the kernel drops the first packet of those beyond it, for as long as it is full.
      await Promise.all(sockets.map((socket) => once(socket, 'connect')));
      host.wake();
      const [last] = sockets.slice(-1);
      last?.write('GET /health HTTP/1.1\r\nHost: x\r\n\r\n');
      const [answer] = last === undefined ? [] : await once(last, 'data');
      expect(String(answer)).toMatch(/^HTTP\/1\.1 200 /);
    } finally {
      host.wake();
      for (const socket of sockets) socket.destroy();
      await host.kill();
    }
  }, 60_000);
});
