import type { ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import type { ProbeClient } from '../../../src/probe/client/client.ts';
import {
  ask,
  clientFor,
  dataOf,
  onRequestLine,
  startOrigin,
  startRawOrigin,
  type TestOrigin,
} from './harness.ts';

const PATHS = Array.from({ length: 32 }, (_, index) => `/${index}`);
const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

describe('a connection', () => {
  test('carries one request at a time, there are at most six, and each request is sent once', async () => {
    let most = 0;
    const open = new Map<unknown, number>();
    const target = await startOrigin(({ socket }, response) => {
      open.set(socket, (open.get(socket) ?? 0) + 1);
      most = Math.max(most, ...open.values());
      setImmediate(() => {
        open.set(socket, (open.get(socket) ?? 0) - 1);
        response.end('ok');
      });
    });
    const client = clientFor(target);
    await ask(client, target);
    const all = await askAll(client, target, PATHS);

    expect(all.every((seen) => dataOf(seen).body === 'ok')).toBe(true);
    expect(target.requests.toSorted()).toEqual(
      ['GET /', ...PATHS.map((p) => `GET ${p}`)].toSorted(),
    );
    expect(most).toBe(1);
    expect(target.connections()).toBe(6);
    expect(client.stats()).toMatchObject({ requests: 33, sockets: 6 });
  });

  test('carries one of six requests at once, and the seventh after one of them', async () => {
    const waiting: ServerResponse[] = [];
    const target = await startOrigin((_, response) => {
      waiting.push(response);
      if (waiting.length === 6) for (const each of waiting.splice(0)) each.end('ok');
    });
    const client = clientFor(target);
    expect((await askAll(client, target, PATHS.slice(0, 12))).every((seen) => seen.ok)).toBe(true);
    expect(client.stats()).toMatchObject({ requests: 12, sockets: 6, roundTrips: 2 });
  });

  test('is kept after HEAD', async () => {
    const target = await startOrigin((_, response) => response.end('ok'));
    const client = clientFor(target, { limits: { socketsPerOrigin: 1 } });
    const all = await Promise.all(
      PATHS.map((path, index) => ask(client, target, path, { method: index % 2 ? 'HEAD' : 'GET' })),
    );
    expect(all.map((seen) => dataOf(seen).body)).toEqual(PATHS.map((_, i) => (i % 2 ? '' : 'ok')));
    expect(target.requests).toHaveLength(32);
    expect(target.connections()).toBe(1);
  });

  test('brings each answer to its own request', async () => {
    const target = await startOrigin((request, response) => response.end(request.url));
    const client = clientFor(target);
    const all = await askAll(client, target, PATHS);
    expect(all.map((seen) => dataOf(seen).body)).toEqual(PATHS);
  });

  test('is opened for each request, if the origin closes it after each answer', async () => {
    const heads: string[] = [];
    const target = await startRawOrigin((socket) => {
      let pending = 0;
      onRequestLine(socket, (line) => {
        heads.push(line);
        pending += 1;
        expect(pending).toBe(1);
        // Like HTTP/1.0, the origin closes after one answer.
        setImmediate(() => socket.end('HTTP/1.0 200 OK\r\n\r\nold'));
      });
    });
    const client = clientFor(target);
    const all = await askAll(client, target, PATHS);
    expect(all.every((seen) => dataOf(seen).body === 'old')).toBe(true);
    expect(heads.toSorted()).toEqual(PATHS.map((path) => `GET ${path} HTTP/1.1`).toSorted());
  });

  test('serves a waiting POST before all other waiting requests', async () => {
    const target = await startOrigin((_, response) => response.end('ok'));
    const client = clientFor(target, { limits: { socketsPerOrigin: 1 } });
    const pending = askAll(client, target, PATHS.slice(0, 4));
    const post = ask(client, target, '/post', { method: 'POST', body: '{}' });
    expect((await Promise.all([post, pending])).flat().every((seen) => seen.ok)).toBe(true);
    expect(target.requests.indexOf('POST /post')).toBeLessThan(2);
  });
});

describe('a path that hangs', () => {
  test('does not delay later ones, and is itself requested once', async () => {
    const target = await startOrigin((request, response) => {
      if (request.url !== '/hang') response.end('ok');
    });
    const client = clientFor(target, { limits: { connectTimeoutMs: 100 } });
    await ask(client, target);
    const [hung, all] = await Promise.all([
      ask(client, target, '/hang', { timeoutMs: 1_500 }),
      askAll(client, target, PATHS),
    ]);
    expect(hung).toMatchObject({ ok: false, reason: 'timeout' });
    expect(all.every((seen) => dataOf(seen).body === 'ok')).toBe(true);
    expect(target.requests.filter((line) => line === 'GET /hang')).toHaveLength(1);
    for (const path of PATHS) {
      const times = target.requests.filter((line) => line === `GET ${path}`).length;
      expect(times).toBeGreaterThanOrEqual(1);
      expect(times).toBeLessThanOrEqual(2);
    }
  });

  test('leaves time for the other paths, even if four paths hang', async () => {
    const hanging = ['/h1', '/h2', '/h3', '/h4'];
    const target = await startOrigin((request, response) => {
      if (!hanging.includes(request.url ?? '')) response.end('ok');
    });
    const client = clientFor(target, { limits: { connectTimeoutMs: 100 } });
    await ask(client, target);
    const [hung, all] = await Promise.all([
      askAll(client, target, hanging, 1_000),
      askAll(client, target, PATHS.slice(0, 20)),
    ]);
    expect(hung.map((seen) => seen.ok)).toEqual([false, false, false, false]);
    expect(all.every((seen) => seen.ok)).toBe(true);
    for (const path of hanging) {
      expect(target.requests.filter((line) => line === `GET ${path}`)).toHaveLength(1);
    }
  });

  test('slow answers one after another on a connection are not late', async () => {
    // Serves its connections in parallel, but each strictly in order, 200 ms an answer.
    const target = await startRawOrigin((socket) => {
      let tail = Promise.resolve();
      onRequestLine(socket, () => {
        tail = tail.then(() => new Promise((resolve) => setTimeout(resolve, 200)));
        tail = tail.then(() => void socket.write(OK));
      });
    });
    const client = clientFor(target, { limits: { connectTimeoutMs: 30_000 } });
    await ask(client, target);
    // Eight answers in a row take 1,600 ms, which is over the limit of one request.
    const all = await askAll(client, target, PATHS, 1_500);
    expect(all.filter((seen) => !seen.ok)).toEqual([]);
    expect(client.stats().requests).toBe(33);
  });

  test('a server that serves one connection at a time answers everything', async () => {
    const sockets: { serve: () => void; isOpen: boolean }[] = [];
    const target = await startRawOrigin((socket) => {
      const lines: string[] = [];
      const entry = {
        isOpen: true,
        serve: () => {
          if (sockets.find((each) => each.isOpen) !== entry) return;
          for (const _ of lines.splice(0)) socket.write(OK);
        },
      };
      sockets.push(entry);
      onRequestLine(socket, (line) => {
        lines.push(line);
        entry.serve();
      });
      socket.on('close', () => {
        entry.isOpen = false;
        sockets.find((each) => each.isOpen)?.serve();
      });
    });
    const client = clientFor(target, { limits: { connectTimeoutMs: 100 } });
    await ask(client, target);
    const all = await askAll(client, target, PATHS);
    expect(all.filter((seen) => !seen.ok)).toEqual([]);
  });
});

function askAll(client: ProbeClient, target: TestOrigin, paths: string[], timeoutMs = 30_000) {
  return Promise.all(paths.map((path) => ask(client, target, path, { timeoutMs })));
}
