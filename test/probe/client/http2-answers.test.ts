/** An answer over HTTP/2 is what HTTP/1.1 would have brought, and what is lost is asked for over that. */
import type { IncomingHttpHeaders, RequestListener } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { ProbeRequest } from '../../../src/probe/client/client.ts';
import {
  answer,
  CODE,
  END_HEADERS,
  END_STREAM,
  type Fields,
  FRAME,
  frame,
  headers,
  number,
  settings,
} from '../../fixtures/origins/http2-frames.ts';
import { ask, clientFor, dataOf } from './harness.ts';
import {
  bodyOf,
  clientWithSession,
  eachStream,
  OVER_1,
  OVER_2,
  startFrames,
  startSpoken,
} from './http2-harness.ts';

const OK: Fields = [[':status', '200']];
const POST = { method: 'POST', body: '{}' } as const;

type Fixed = {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string | Buffer;
  readonly ask?: Partial<ProbeRequest>;
};

const ANSWERS: Readonly<Record<string, Fixed>> = {
  'a body': { body: 'ok' },
  'no body': { status: 204 },
  'a challenge': { status: 402, headers: { 'Payment-Required': 'eyJ9' }, body: '{}' },
  'repeated headers': { headers: { 'Set-Cookie': ['a=1', 'b=2'], Link: ['</a>', '</b>'] } },
  'a header in UTF-8': { headers: { x: Buffer.from('café').toString('latin1') } },
  'a header in Latin-1': { headers: { x: 'caf\u00e9' } },
  'an empty header': { headers: { x: '' } },
  'bytes that are no text': { body: Buffer.of(0xff, 0xfe, 0, 1) },
  'a packed body': { headers: { 'content-encoding': 'gzip' }, body: gzipSync('packed') },
  'a bomb': { headers: { 'content-encoding': 'gzip' }, body: gzipSync(Buffer.alloc(9_000_000)) },
  'more than its cap': { body: 'x'.repeat(100_000) },
  'a redirect': {
    status: 302,
    headers: { location: '/a%20body' },
    ask: { redirects: 'same-origin' },
  },
  'a redirect that is not followed': { status: 307, headers: { location: 'https://other.test/' } },
  'a HEAD': { body: 'not sent', ask: { method: 'HEAD' } },
  'a HEAD with a length': { headers: { 'content-length': '9' }, ask: { method: 'HEAD' } },
  'a POST': { body: 'posted', ask: POST },
  'an error': { status: 500, body: 'broken' },
  'a 429 that is not waited for': { status: 429, headers: { 'retry-after': '3600' } },
};

type Both = {
  readonly request: Parameters<RequestListener>[0] | Http2ServerRequest;
  readonly response: Parameters<RequestListener>[1] | Http2ServerResponse;
};

function sendFixed({ request, response }: Both): void {
  const fixed = ANSWERS[decodeURIComponent(request.url ?? '').slice(1)];
  const { status = 200, headers: fields = {}, body = '' } = fixed ?? { status: 404 };
  response.sendDate = false;
  if (status !== 204 && fields['content-length'] === undefined) {
    response.setHeader('content-length', request.method === 'HEAD' ? 0 : Buffer.byteLength(body));
  }
  for (const [name, value] of Object.entries(fields)) response.setHeader(name, value);
  response.statusCode = status;
  if (request.method === 'HEAD') response.end();
  else response.end(body);
}

describe('the same over either', () => {
  test.each(Object.entries(ANSWERS))('%s', async (name, fixed) => {
    const versions: string[] = [];
    const send = (both: Both) => {
      versions.push(both.request.httpVersion);
      sendFixed(both);
    };
    const target = await startSpoken(
      (request, response) => send({ request, response }),
      (request, response) => send({ request, response }),
    );
    const path = `/${encodeURIComponent(name)}`;
    const plain = clientFor(target, { extraCa: [target.ca] });
    const overHttp1 = await ask(plain, target, path, fixed.ask);
    expect(new Set(versions)).toEqual(new Set(['1.1']));
    const client = await clientWithSession(target);
    versions.length = 0;
    const overHttp2 = await ask(client, target, path, fixed.ask);
    expect(new Set(versions)).toEqual(new Set(['2.0']));
    expect(timeless(overHttp2)).toEqual(timeless(overHttp1));
  });

  test('what is asked', async () => {
    const asked: IncomingHttpHeaders[] = [];
    const listen = ({ request, response }: Both) => {
      asked.push(request.headers);
      response.end();
    };
    const target = await startSpoken(
      (request, response) => listen({ request, response }),
      (request, response) => listen({ request, response }),
    );
    await ask(clientFor(target, { extraCa: [target.ca] }), target, '/p?q=1', POST);
    const client = await clientWithSession(target);
    await ask(client, target, '/p?q=1', POST);
    const [one, , two] = asked;
    const { host, connection, ...fields } = one ?? {};
    expect(connection).toBe('keep-alive');
    expect(Object.fromEntries(Object.entries(two ?? {}))).toEqual({
      ':authority': host,
      ':method': 'POST',
      ':path': '/p?q=1',
      ':scheme': 'https',
      ...fields,
    });
  });
});

describe('what one server does and another does not', () => {
  const whole = (stream: number) => answer(stream, OVER_2);
  test.each([
    [
      'trailers',
      (stream: number) => [
        headers(stream, OK),
        frame(FRAME.data, OVER_2, { stream }),
        headers(stream, [['x-trailer', 'y']], END_HEADERS | END_STREAM),
      ],
    ],
    [
      'padding and empty frames',
      (stream: number) => [
        headers(stream, OK),
        frame(FRAME.data, '', { stream }),
        frame(FRAME.data, `\x02${OVER_2}xx`, { stream, flags: 8 | END_STREAM }),
      ],
    ],
    ['interim answers', (stream: number) => [headers(stream, [[':status', '103']]), whole(stream)]],
    [
      'data after the end',
      (stream: number) => [whole(stream), frame(FRAME.data, 'more', { stream })],
    ],
    [
      'a reset after the end',
      (stream: number) => [whole(stream), frame(FRAME.reset, number(CODE.none), { stream })],
    ],
    [
      'a ping, a window and a priority',
      (stream: number) => [
        frame(FRAME.ping, 'pingping'),
        frame(FRAME.window, number(9)),
        frame(FRAME.priority, Buffer.alloc(5), { stream }),
        whole(stream),
      ],
    ],
  ])('%s: the answer is the same', async (_, parts) => {
    const target = await startFrames(
      eachStream(settings(), (socket, stream) => socket.write(Buffer.concat(parts(stream)))),
    );
    const client = await clientWithSession(target);
    const seen = await ask(client, target, '/a');
    expect(seen).toMatchObject({ ok: true, truncated: false, data: { status: 200, headers: [] } });
    expect(dataOf(seen).body).toBe(OVER_2);
  });

  test('a body after a HEAD is none', async () => {
    const target = await startFrames(
      eachStream(settings(), (socket, stream) => socket.write(answer(stream))),
    );
    const client = await clientWithSession(target);
    const seen = await ask(client, target, '/a', { method: 'HEAD' });
    expect(seen).toMatchObject({ ok: true, truncated: false, data: { status: 200, body: '' } });
    expect(target.overHttp1).toEqual(['GET /']);
    expect(await bodyOf(client, target, '/b')).toMatch(/^over HTTP/);
  });

  test('a header that HTTP/1.1 refuses is left out', async () => {
    const target = await startFrames(
      eachStream(settings(), (socket, stream) => {
        const flags = END_HEADERS | END_STREAM;
        socket.write(headers(stream, [...OK, ['bad', 'y\0z'], ['good', 'y']], flags));
      }),
    );
    const client = await clientWithSession(target);
    expect(dataOf(await ask(client, target, '/a')).headers).toEqual([['good', 'y']]);
  });
});

describe('what is lost', () => {
  test('a GOAWAY in the middle: what it leaves out is asked for over HTTP/1.1', async () => {
    const streams: number[] = [];
    const target = await startFrames(
      eachStream(settings(), (socket, stream, count) => {
        streams.push(stream);
        if (count !== 6) return;
        const last = Buffer.concat([number(streams[2] ?? 0), number(CODE.none)]);
        const answers = streams.slice(0, 3).map((one) => answer(one, OVER_2));
        socket.write(Buffer.concat([frame(FRAME.goaway, last), ...answers]));
      }),
    );
    const client = await clientWithSession(target);
    const paths = ['/a', '/b', '/c', '/d', '/e', '/f'];
    const bodies = await Promise.all(paths.map((path) => bodyOf(client, target, path)));
    expect(bodies).toEqual([OVER_2, OVER_2, OVER_2, OVER_1, OVER_1, OVER_1]);
    expect(await bodyOf(client, target, '/after')).toBe(OVER_1);
  });

  test('a POST that was sent is never sent again', async () => {
    const target = await startFrames(
      eachStream(settings(), (socket, stream, count) => {
        if (count === 1) socket.write(answer(stream, OVER_2));
        else socket.destroy();
      }),
    );
    const client = await clientWithSession(target);
    expect(await bodyOf(client, target, '/a')).toBe(OVER_2);
    const [posted, got] = await Promise.all([
      ask(client, target, '/posted', POST),
      ask(client, target, '/got'),
    ]);
    expect(posted).toMatchObject({ ok: false, reason: 'reset' });
    expect(dataOf(got).body).toBe(OVER_1);
    expect(target.overHttp1).not.toContain('POST /posted');
  });

  test.each([CODE.refused, CODE.useHttp1])(
    'a POST for which nothing was done (%i) is sent over HTTP/1.1',
    async (code) => {
      const target = await startFrames(
        eachStream(settings(), (socket, stream, count) => {
          const refusal = frame(FRAME.reset, number(code), { stream });
          socket.write(count === 1 ? answer(stream, OVER_2) : refusal);
        }),
      );
      const client = await clientWithSession(target);
      expect(await bodyOf(client, target, '/a')).toBe(OVER_2);
      expect(await bodyOf(client, target, '/posted', POST)).toBe(OVER_1);
      expect(target.overHttp1.filter((line) => line === 'POST /posted')).toHaveLength(1);
    },
  );

  test('a path that hangs does not take those behind it with it', async () => {
    const target = await startFrames(
      eachStream(settings(), (socket, stream, count) => {
        if (count === 1) socket.write(answer(stream, OVER_2));
      }),
    );
    const client = await clientWithSession(target, { limits: { stallMs: 300 } });
    expect(await bodyOf(client, target, '/a')).toBe(OVER_2);
    const hanging = ask(client, target, '/hangs', { timeoutMs: 3_000 });
    const rest = await Promise.all(['/b', '/c'].map((path) => bodyOf(client, target, path)));
    expect(rest).toEqual([OVER_1, OVER_1]);
    expect(await hanging).toMatchObject({ ok: false, reason: 'timeout' });
    expect(target.overHttp1).not.toContain('GET /hangs');
  });
});

describe('a 429', () => {
  test('is waited for once, and nothing is sent meanwhile', async () => {
    const at: number[] = [];
    const target = await startSpoken((_, response) => {
      at.push(performance.now());
      if (at.length > 1) response.end(OVER_2);
      else response.writeHead(429, { 'retry-after': '1' }).end();
    });
    const client = await clientWithSession(target);
    const first = ask(client, target, '/a');
    expect(dataOf(await first).body).toBe(OVER_2);
    expect((at[1] ?? 0) - (at[0] ?? 0)).toBeGreaterThan(900);
  });

  test('leaves four requests at a time', async () => {
    let open = 0;
    let most = 0;
    let isFirst = true;
    const target = await startSpoken((_, response) => {
      if (isFirst) {
        isFirst = false;
        response.writeHead(429, { 'retry-after': '0' }).end();
        return;
      }
      most = Math.max(most, ++open);
      setTimeout(() => {
        open -= 1;
        response.end(OVER_2);
      }, 20);
    });
    const client = await clientWithSession(target);
    await ask(client, target, '/limited');
    const paths = Array.from({ length: 12 }, (_, index) => `/${index}`);
    await Promise.all(paths.map((path) => bodyOf(client, target, path)));
    expect(most).toBeLessThanOrEqual(4);
  });
});

test('a request that nothing follows is never offered HTTP/2', async () => {
  const target = await startSpoken((_, response) => response.end(OVER_2));
  const client = clientFor(target, { extraCa: [target.ca] });
  expect(await bodyOf(client, target, '/a')).toBe(OVER_1);
  expect(await bodyOf(client, target, '/b')).toBe(OVER_1);
});

function timeless(seen: Awaited<ReturnType<typeof ask>>): unknown {
  const { ms: _, ...rest } = seen;
  if (!rest.ok) return rest;
  return { ...rest, data: { ...rest.data, firstByteMs: 0 } };
}
