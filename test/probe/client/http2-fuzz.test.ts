/** Frames in any order: each request ends, in bounds, no POST is sent twice, and nothing is thrown. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { HttpMethod } from '../../../src/model/observation.ts';
import {
  answer,
  CODE,
  END_HEADERS,
  END_STREAM,
  FRAME,
  frame,
  headers,
  number,
  SETTING,
  settings,
} from '../../fixtures/origins/http2-frames.ts';
import { ask } from './harness.ts';
import { clientWithSession, eachStream, startFrames } from './http2-harness.ts';

const LIMITS = { stallMs: 60, requestTimeoutMs: 250, dialTimeoutMs: 500 };

/** What a server sends for the request on a stream. */
const MOVES = {
  answer: (stream: number) => answer(stream),
  head: (stream: number) => headers(stream, [[':status', '200']]),
  'head that ends': (stream: number) =>
    headers(stream, [[':status', '402']], END_HEADERS | END_STREAM),
  interim: (stream: number) => headers(stream, [[':status', '103']]),
  'half a head': (stream: number) => headers(stream, [[':status', '200']], 0),
  'no status': (stream: number) => headers(stream, [['x', 'y']]),
  body: (stream: number) => frame(FRAME.data, 'ok', { stream }),
  end: (stream: number) => frame(FRAME.data, '', { stream, flags: END_STREAM }),
  'a body for another': (stream: number) => frame(FRAME.data, 'ok', { stream: stream + 2 }),
  refusal: (stream: number) => frame(FRAME.reset, number(CODE.refused), { stream }),
  reset: (stream: number) => frame(FRAME.reset, number(CODE.internal), { stream }),
  'reset without an error': (stream: number) => frame(FRAME.reset, number(CODE.none), { stream }),
  goodbye: (stream: number) =>
    frame(FRAME.goaway, Buffer.concat([number(stream), number(CODE.none)])),
  'an angry goodbye': () => frame(FRAME.goaway, Buffer.concat([number(0), number(CODE.internal)])),
  'no streams': () => settings([[SETTING.maxConcurrentStreams, 0]]),
  'no windows': () => settings([[SETTING.initialWindowSize, 0]]),
  'a window too wide': () => frame(FRAME.window, number(0x7fffffff)),
  ping: () => frame(FRAME.ping, 'pingping'),
  'a short ping': () => frame(FRAME.ping, 'ping'),
  'a promise': (stream: number) => frame(FRAME.push, number(2), { stream, flags: END_HEADERS }),
  garbage: () => Buffer.from('HTTP/1.1 200 OK\r\n\r\n'),
  silence: () => Buffer.alloc(0),
} as const satisfies Readonly<Record<string, (stream: number) => Buffer>>;

type Move = keyof typeof MOVES | 'close';
const names = Object.keys(MOVES) as (keyof typeof MOVES)[]; // its own keys
const move = fc.oneof(
  { weight: 5, arbitrary: fc.constant<Move>('answer') },
  { weight: 5, arbitrary: fc.constantFrom<Move>(...names, 'close') },
);
const script = fc.array(fc.array(move, { minLength: 1, maxLength: 4 }), {
  minLength: 1,
  maxLength: 8,
});
const methods = fc.array(fc.constantFrom<HttpMethod>('GET', 'GET', 'HEAD', 'POST'), {
  minLength: 1,
  maxLength: 12,
});

test('whatever frames a server sends', async () => {
  await fc.assert(fc.asyncProperty(script, methods, play), { numRuns: 40, endOnFailure: true });
});

async function play(
  moves: readonly (readonly Move[])[],
  kinds: readonly HttpMethod[],
): Promise<void> {
  let overHttp2 = 0;
  const target = await startFrames(
    eachStream(settings(), (socket, stream, count) => {
      overHttp2 += 1;
      for (const one of moves[(count - 1) % moves.length] ?? []) {
        if (one === 'close') socket.destroy();
        else if (!socket.destroyed) socket.write(MOVES[one](stream));
      }
    }),
  );
  const client = await clientWithSession(target, { limits: LIMITS });
  const all = await Promise.all(
    kinds.map((method, index) =>
      ask(client, target, `/${index}`, {
        method,
        capBytes: 1_000,
        ...(method === 'POST' ? { body: '{}' } : {}),
      }),
    ),
  );
  expect(all).toHaveLength(kinds.length);
  expect(client.stats().requests).toBeLessThanOrEqual(2 * kinds.length + 1);
  expect(overHttp2).toBeLessThanOrEqual(kinds.length);
  const posts = target.overHttp1.filter((line) => line.startsWith('POST'));
  expect(new Set(posts).size).toBe(posts.length);
  expect(JSON.parse(JSON.stringify(all))).toEqual(all);
  client.close();
}
