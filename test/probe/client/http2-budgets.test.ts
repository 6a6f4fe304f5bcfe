/** Each limit of a scan holds over HTTP/2 as it does over HTTP/1.1. */
import { describe, expect, test } from 'vitest';
import { pour } from '../../fixtures/origins/hostile-origin.ts';
import {
  END_HEADERS,
  END_STREAM,
  type Fields,
  FRAME,
  frame,
  headers,
  longHeaders,
  settings,
} from '../../fixtures/origins/http2-frames.ts';
import { ask, dataOf } from './harness.ts';
import {
  bodyOf,
  clientWithSession,
  eachStream,
  OVER_1,
  OVER_2,
  startFrames,
  startSpoken,
} from './http2-harness.ts';

const KIB = 1_024;
const OK: Fields = [[':status', '200']];
const PATHS = Array.from({ length: 12 }, (_, index) => `/${index}`);

describe('an answer', () => {
  test('is cut at its cap, and costs no more than its window; those beside it are whole', async () => {
    const target = await startSpoken((request, response) => {
      if (request.url !== '/endless') {
        response.end(OVER_2);
        return;
      }
      response.writeHead(402, { 'payment-required': 'x' });
      const more = () => {
        while (!response.destroyed && response.write('z'.repeat(16 * KIB))) {}
      };
      response.on('drain', more);
      more();
    });
    const client = await clientWithSession(target);
    const [endless, ...rest] = await Promise.all([
      ask(client, target, '/endless'),
      ...PATHS.map((path) => bodyOf(client, target, path)),
    ]);
    expect(endless).toMatchObject({ ok: true, truncated: true, data: { status: 402 } });
    expect(dataOf(endless).body).toHaveLength(64 * KIB);
    expect(dataOf(endless).headers).toContainEqual(['payment-required', 'x']);
    expect(rest).toEqual(PATHS.map(() => OVER_2));
    expect(target.overHttp1).toEqual(['GET /']);
    expect(client.stats().bytes).toBeLessThan(KIB * KIB);
  });

  test('has 128 headers; one of 129 is asked for over HTTP/1.1', async () => {
    const target = await startFrames(
      eachStream(settings(), (socket, stream, count) => {
        const many: Fields = Array.from({ length: 127 + count }, () => ['x', 'y'] as const);
        socket.write(headers(stream, [...OK, ...many], END_HEADERS | END_STREAM));
      }),
    );
    const client = await clientWithSession(target);
    expect(dataOf(await ask(client, target, '/most')).headers).toHaveLength(128);
    expect(await bodyOf(client, target, '/over')).toBe(OVER_1);
  });

  test('has headers of 40 KiB; one with 70 KiB is asked for over HTTP/1.1', async () => {
    const target = await startFrames(
      eachStream(settings(), (socket, stream, count) => {
        const large: Fields = [['x', 'v'.repeat(40 * KIB)]];
        const more: Fields = count === 1 ? [] : [['y', 'v'.repeat(30 * KIB)]];
        socket.write(longHeaders(stream, [...OK, ...large, ...more]));
      }),
    );
    const client = await clientWithSession(target);
    expect(dataOf(await ask(client, target, '/large')).headers[0]?.[1]).toHaveLength(40 * KIB);
    expect(await bodyOf(client, target, '/huge')).toBe(OVER_1);
  });

  test('has eight interim ones before it; one with nine is asked for over HTTP/1.1', async () => {
    const target = await startFrames(
      eachStream(settings(), (socket, stream, count) => {
        const early = Array.from({ length: 7 + count }, () =>
          headers(stream, [[':status', '103']]),
        );
        const last = headers(stream, OK, END_HEADERS | END_STREAM);
        socket.write(Buffer.concat([...early, last]));
      }),
    );
    const client = await clientWithSession(target);
    expect(await bodyOf(client, target, '/eight')).toBe('');
    expect(await bodyOf(client, target, '/nine')).toBe(OVER_1);
  });

  test('comes in 20,000 pieces as small as they like, and no more', async () => {
    const target = await startFrames(
      eachStream(settings(), (socket, stream, count) => {
        const piece = frame(FRAME.data, 'x', { stream });
        const many = Array.from({ length: 19_998 + 2 * count }, () => piece);
        const last = frame(FRAME.data, '', { stream, flags: END_STREAM });
        socket.write(Buffer.concat([headers(stream, OK), ...many, last]));
      }),
    );
    const client = await clientWithSession(target);
    const cap = { capBytes: 256 * KIB };
    expect(await bodyOf(client, target, '/many', cap)).toHaveLength(20_000);
    expect(await bodyOf(client, target, '/more', cap)).toBe(OVER_1);
  });

  test.each([
    ['pings', (_: number) => frame(FRAME.ping, 'pingping')],
    ['frames of no known type', (_: number) => frame(FRAME.unknown, 'x'.repeat(50))],
    ['continued headers', (stream: number) => frame(FRAME.continuation, '', { stream })],
  ])('pays for %s', async (_, part) => {
    const target = await startFrames(
      eachStream(settings(), (socket, stream) => {
        socket.write(headers(stream, OK, 0));
        pour(socket, Buffer.concat(Array.from({ length: 200 }, () => part(stream))));
      }),
    );
    const client = await clientWithSession(target);
    const before = client.stats().bytes;
    expect(await bodyOf(client, target, '/flood', { capBytes: 2 * KIB * KIB })).toBe(OVER_1);
    // Its head of 64 KiB, as much again, and what two reads of a socket bring beyond that.
    expect(client.stats().bytes - before).toBeLessThan((64 + 64 + 128) * KIB);
  });

  test('that drips ends by the clock, and those beside it do not wait', async () => {
    const target = await startSpoken((request, response) => {
      if (request.url !== '/drip') {
        response.end(OVER_2);
        return;
      }
      response.write('z');
      const timer = setInterval(() => response.write('z'), 100);
      response.on('close', () => clearInterval(timer));
    });
    const client = await clientWithSession(target);
    const drip = ask(client, target, '/drip', { timeoutMs: 2_000 });
    const rest = await Promise.all(PATHS.map((path) => bodyOf(client, target, path)));
    expect(rest).toEqual(PATHS.map(() => OVER_2));
    expect(await drip).toMatchObject({
      ok: true,
      truncated: true,
      data: { status: 200, bodyFailure: 'timeout' },
    });
    expect(await bodyOf(client, target, '/after')).toBe(OVER_2);
    expect(target.overHttp1).toEqual(['GET /']);
  });

  test('that never begins ends by the clock, and those beside it do not wait', async () => {
    const target = await startSpoken((request, response) => {
      if (request.url !== '/hangs') response.end(OVER_2);
    });
    const client = await clientWithSession(target, { limits: { stallMs: 300 } });
    const hanging = ask(client, target, '/hangs', { timeoutMs: 2_000 });
    const rest = await Promise.all(PATHS.map((path) => bodyOf(client, target, path)));
    expect(rest).toEqual(PATHS.map(() => OVER_2));
    expect(await hanging).toMatchObject({ ok: false, reason: 'timeout' });
    expect(target.overHttp1).toEqual(['GET /']);
  });
});

describe('a scan', () => {
  test('has so many requests', async () => {
    const target = await startSpoken((_, response) => response.end(OVER_2));
    const client = await clientWithSession(target, { limits: { maxRequests: 6 } });
    const all = await Promise.all(PATHS.map((path) => ask(client, target, path)));
    expect(all.filter((seen) => seen.ok)).toHaveLength(5);
    expect(all.filter((seen) => !seen.ok && seen.reason === 'budget')).toHaveLength(7);
    expect(client.stats().requests).toBe(6);
  });

  test('has so many bytes: the answer that uses them up is cut, no further one is asked for', async () => {
    const target = await startSpoken((_, response) => response.end('b'.repeat(40_000)));
    const client = await clientWithSession(target, { limits: { maxBytes: 70_000 } });
    expect(await ask(client, target, '/1')).toMatchObject({ ok: true, truncated: false });
    expect(await ask(client, target, '/2')).toMatchObject({
      ok: true,
      truncated: true,
      data: { bodyFailure: 'budget' },
    });
    expect(await ask(client, target, '/3')).toMatchObject({ ok: false, reason: 'budget' });
    expect(target.overHttp1).toEqual(['GET /']);
  });

  test('has so many bytes: frames that are no answer use them up too', async () => {
    const target = await startFrames(
      eachStream(settings(), (socket) => pour(socket, frame(FRAME.unknown, 'x'.repeat(200)))),
    );
    const client = await clientWithSession(target, { limits: { maxBytes: 40_000 } });
    expect(await ask(client, target, '/flood')).toMatchObject({ ok: false, reason: 'budget' });
    expect(await ask(client, target, '/next')).toMatchObject({ ok: false, reason: 'budget' });
    expect(target.overHttp1).toEqual(['GET /']);
  });

  test('spends half of its time for TLS on frames, and the rest on HTTP/1.1', async () => {
    let step = 0;
    let now = 0;
    const processorTime = () => {
      now += step;
      return now;
    };
    const target = await startFrames(
      eachStream(settings(), (socket) => {
        const ping = frame(FRAME.ping, 'pingping');
        const timer = setInterval(() => socket.write(ping), 1);
        socket.on('close', () => clearInterval(timer));
      }),
    );
    const limits = { maxTlsMs: 400, maxHandshakeMs: 1_000 };
    const client = await clientWithSession(target, { processorTime, limits });
    step = 10;
    expect(await bodyOf(client, target, '/flood')).toBe(OVER_1);
    // Two readings of the clock for each read of a socket: half of it lies between two of them.
    expect(now).toBeGreaterThan(2 * 200);
    expect(now).toBeLessThan(2 * 300);
  });

  test('has four sockets to an origin, a session among them', async () => {
    let open = 0;
    let most = 0;
    const target = await startFrames(
      eachStream(settings(), (socket, stream, count) => {
        // Two answers that never end, and nothing for the others, which move.
        if (count <= 2) socket.write(headers(stream, OK));
      }),
    );
    target.server.on('connection', (socket) => {
      most = Math.max(most, ++open);
      socket.on('close', () => (open -= 1));
    });
    const client = await clientWithSession(target, { limits: { stallMs: 300 } });
    const all = await Promise.all(
      PATHS.map((path) => ask(client, target, path, { timeoutMs: 3_000 })),
    );
    expect(all.filter((seen) => seen.ok && seen.data.body === OVER_1)).toHaveLength(10);
    expect(all.filter((seen) => seen.ok && seen.data.bodyFailure === 'timeout')).toHaveLength(2);
    expect(most).toBeLessThanOrEqual(4);
  });

  test('opens no connection but through its guard', async () => {
    const { dial } = await import('../../../src/guard/guarded-connect.ts');
    const dialled: string[] = [];
    const target = await startSpoken((_, response) => response.end(OVER_2));
    const client = await clientWithSession(target, {
      connect: (to) => {
        dialled.push(`${to.address}:${to.port}`);
        return dial(to);
      },
    });
    expect(await bodyOf(client, target, '/a')).toBe(OVER_2);
    expect(new Set(dialled)).toEqual(new Set([`127.0.0.1:${target.port}`]));
    expect(target.connections()).toBeLessThanOrEqual(dialled.length);
  });
});
