import type { ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import type { ProbeClient } from '../../../../src/scanner/probe/client/client.ts';
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
const OK_ANSWER = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

describe('a connection', () => {
  test('carries one request at a time, is one of at most six, and repeats no request', async () => {
    let mostOnOneSocket = 0;
    const openRequests = new Map<unknown, number>();
    const target = await startOrigin(({ socket }, response) => {
      openRequests.set(socket, (openRequests.get(socket) ?? 0) + 1);
      mostOnOneSocket = Math.max(mostOnOneSocket, ...openRequests.values());
      setImmediate(() => {
        openRequests.set(socket, (openRequests.get(socket) ?? 0) - 1);
        response.end('ok');
      });
    });
    const client = clientFor(target);
    await ask(client, target);
    const answers = await askAll(client, target, PATHS);

    expect(answers.every((answer) => dataOf(answer).body === 'ok')).toBe(true);
    expect(target.requests.toSorted()).toEqual(
      ['GET /', ...PATHS.map((p) => `GET ${p}`)].toSorted(),
    );
    expect(mostOnOneSocket).toBe(1);
    expect(target.connections()).toBe(6);
    expect(client.stats()).toMatchObject({ requests: 33, sockets: 6 });
  });

  test('carries two of twelve requests, because six connections share them', async () => {
    const waiting: ServerResponse[] = [];
    const target = await startOrigin((_, response) => {
      waiting.push(response);
      if (waiting.length === 6) for (const each of waiting.splice(0)) each.end('ok');
    });
    const client = clientFor(target);
    expect((await askAll(client, target, PATHS.slice(0, 12))).every((answer) => answer.ok)).toBe(
      true,
    );
    expect(client.stats()).toMatchObject({ requests: 12, sockets: 6, roundTrips: 2 });
  });

  test('stays open after a HEAD request', async () => {
    const target = await startOrigin((_, response) => response.end('ok'));
    const client = clientFor(target, { limits: { socketsPerOrigin: 1 } });
    const answers = await Promise.all(
      PATHS.map((path, index) => ask(client, target, path, { method: index % 2 ? 'HEAD' : 'GET' })),
    );
    expect(answers.map((answer) => dataOf(answer).body)).toEqual(
      PATHS.map((_, i) => (i % 2 ? '' : 'ok')),
    );
    expect(target.requests).toHaveLength(32);
    expect(target.connections()).toBe(1);
  });

  test('brings each answer to its own request', async () => {
    const target = await startOrigin((request, response) => response.end(request.url));
    const client = clientFor(target);
    const answers = await askAll(client, target, PATHS);
    expect(answers.map((answer) => dataOf(answer).body)).toEqual(PATHS);
  });

  test('is opened for each request, if the origin closes it after each answer', async () => {
    const lines: string[] = [];
    const target = await startRawOrigin((socket) => {
      let pending = 0;
      onRequestLine(socket, (line) => {
        lines.push(line);
        pending += 1;
        expect(pending).toBe(1);
        // Like HTTP/1.0, the origin closes after one answer.
        setImmediate(() => socket.end('HTTP/1.0 200 OK\r\n\r\nold'));
      });
    });
    const client = clientFor(target);
    const answers = await askAll(client, target, PATHS);
    expect(answers.every((answer) => dataOf(answer).body === 'old')).toBe(true);
    expect(lines.toSorted()).toEqual(PATHS.map((path) => `GET ${path} HTTP/1.1`).toSorted());
  });

  test('serves a waiting POST before all other waiting requests', async () => {
    const target = await startOrigin((_, response) => response.end('ok'));
    const client = clientFor(target, { limits: { socketsPerOrigin: 1 } });
    const pending = askAll(client, target, PATHS.slice(0, 4));
    const post = ask(client, target, '/post', { method: 'POST', body: '{}' });
    expect((await Promise.all([post, pending])).flat().every((answer) => answer.ok)).toBe(true);
    expect(target.requests.indexOf('POST /post')).toBeLessThan(2);
  });
});

describe('if answers are slow,', () => {
  test('a path that hangs delays no other path, and is requested only once', async () => {
    const target = await startOrigin((request, response) => {
      if (request.url !== '/hang') response.end('ok');
    });
    const client = clientFor(target, { limits: { connectTimeoutMs: 100 } });
    await ask(client, target);
    const [hungAnswer, answers] = await Promise.all([
      ask(client, target, '/hang', { timeoutMs: 1_500 }),
      askAll(client, target, PATHS),
    ]);
    expect(hungAnswer).toMatchObject({ ok: false, reason: 'timeout' });
    expect(answers.every((answer) => dataOf(answer).body === 'ok')).toBe(true);
    expect(target.requests.filter((line) => line === 'GET /hang')).toHaveLength(1);
    for (const path of PATHS) {
      const sendCount = target.requests.filter((line) => line === `GET ${path}`).length;
      expect(sendCount).toBeGreaterThanOrEqual(1);
      expect(sendCount).toBeLessThanOrEqual(2);
    }
  });

  test('four paths that hang leave time for the other paths', async () => {
    const hanging = ['/h1', '/h2', '/h3', '/h4'];
    const target = await startOrigin((request, response) => {
      if (!hanging.includes(request.url ?? '')) response.end('ok');
    });
    const client = clientFor(target, { limits: { connectTimeoutMs: 100 } });
    await ask(client, target);
    const [hungAnswer, answers] = await Promise.all([
      askAll(client, target, hanging, 1_000),
      askAll(client, target, PATHS.slice(0, 20)),
    ]);
    expect(hungAnswer.map((answer) => answer.ok)).toEqual([false, false, false, false]);
    expect(answers.every((answer) => answer.ok)).toBe(true);
    for (const path of hanging) {
      expect(target.requests.filter((line) => line === `GET ${path}`)).toHaveLength(1);
    }
  });

  test('slow answers one after another on a connection are not late', async () => {
    // This origin serves its connections in parallel, and answers on each connection every 200 ms.
    const target = await startRawOrigin((socket) => {
      let tail = Promise.resolve();
      onRequestLine(socket, () => {
        tail = tail.then(() => new Promise((resolve) => setTimeout(resolve, 200)));
        tail = tail.then(() => void socket.write(OK_ANSWER));
      });
    });
    const client = clientFor(target, { limits: { connectTimeoutMs: 30_000 } });
    await ask(client, target);
    // Eight answers on a connection take 1,600 ms, which is over the limit of a single request.
    const answers = await askAll(client, target, PATHS, 1_500);
    expect(answers.filter((answer) => !answer.ok)).toEqual([]);
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
          for (const _ of lines.splice(0)) socket.write(OK_ANSWER);
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
    const answers = await askAll(client, target, PATHS);
    expect(answers.filter((answer) => !answer.ok)).toEqual([]);
  });
});

function askAll(client: ProbeClient, target: TestOrigin, paths: string[], timeoutMs = 30_000) {
  return Promise.all(paths.map((path) => ask(client, target, path, { timeoutMs })));
}
