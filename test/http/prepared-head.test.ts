/** Answers whose head was written before are, byte for byte, those that Node would write. */
import { once } from 'node:events';
import { connect } from 'node:net';
import Fastify, { type FastifyInstance } from 'fastify';
import { expect, test } from 'vitest';
import answerHeaders from '../../plugins/answer-headers.ts';

const HEADERS = { 'content-type': 'text/plain; charset=utf-8', 'x-long': 'e'.repeat(4_000) };
const RATE = { 'ratelimit-limit': 9, 'ratelimit-remaining': 7, 'ratelimit-reset': 3 };

/** `/prepared` and `/usual` say the same, by Fastify alone or by a head that was prepared. */
async function startBoth(body: string | Buffer) {
  const app = Fastify();
  const statuses: number[] = [];
  app.addHook('onResponse', async (_request, reply) => void statuses.push(reply.statusCode));
  await app.register(answerHeaders);
  app.addAnswerHeaders({ 'x-always': 'yes' });
  const head = app.prepareHead(402, HEADERS);
  app.get('/prepared', (request, reply) => {
    if (request.headers['x-set'] === 'raw') reply.raw.setHeader('x-before', 'set');
    reply.rateHeaders = RATE;
    reply.sendPrepared(head, body);
  });
  app.get('/usual', (request, reply) => {
    if (request.headers['x-set'] === 'raw') reply.raw.setHeader('x-before', 'set');
    reply.rateHeaders = RATE;
    reply.code(402).headers(HEADERS).send(body);
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  return { app, statuses, [Symbol.asyncDispose]: () => app.close() };
}

/** All that comes back until `isWhole` says so, or the connection ends. */
async function answersTo(
  app: FastifyInstance,
  request: string,
  isWhole: (text: string) => boolean,
) {
  const address = app.server.address();
  if (typeof address !== 'object' || address === null) throw new Error('it does not listen');
  const socket = connect(address.port, '127.0.0.1').setEncoding('utf8');
  let text = '';
  const ended = once(socket, 'close');
  socket.on('data', (piece: string) => {
    text += piece;
    if (isWhole(text)) socket.end();
  });
  socket.write(request);
  await ended;
  return text;
}

/** Each piece is sent once all before it have arrived and their answers, if any, are there. */
async function answersToPieces(app: FastifyInstance, pieces: readonly string[]) {
  const address = app.server.address();
  if (typeof address !== 'object' || address === null) throw new Error('it does not listen');
  const socket = connect(address.port, '127.0.0.1').setNoDelay(true).setEncoding('utf8');
  let text = '';
  let asked = 0;
  socket.on('data', (piece: string) => {
    text += piece;
  });
  for (const piece of pieces) {
    if (piece.startsWith('GET')) asked += 1;
    await new Promise<void>((resolve) => socket.write(piece, () => resolve()));
    await expect.poll(() => text.split('one.').length - 1).toBe(asked);
  }
  socket.destroy();
  return text;
}

/** Names and values, without the date; their order means nothing. */
function partsOf(answer: string) {
  const [head = '', body] = answer.split('\r\n\r\n');
  const [status, ...lines] = head.split('\r\n');
  const kept = lines.filter((line) => !line.startsWith('Date: ')).sort();
  return { status, lines: kept, hasDate: kept.length === lines.length - 1, body };
}

const ASKED = {
  'a connection that stays': 'GET # HTTP/1.1\r\nHost: a\r\n\r\n',
  'a connection that closes': 'GET # HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
  'HTTP/1.0': 'GET # HTTP/1.0\r\n\r\n',
  'HTTP/1.0, kept open': 'GET # HTTP/1.0\r\nConnection: keep-alive\r\n\r\n',
  'a header that was set before': 'GET # HTTP/1.1\r\nHost: a\r\nX-Set: raw\r\n\r\n',
  'the head alone': 'HEAD # HTTP/1.1\r\nHost: a\r\n\r\n',
} as const;

const BODIES = { ascii: 'plain.', 'beyond ASCII': 'große – Ünïcode.', bytes: Buffer.from('€.') };

test.each(
  Object.entries(BODIES).flatMap(([kind, body]) =>
    Object.entries(ASKED).map(([what, request]) => ({ kind, body, what, request })),
  ),
)('$what, a body of $kind', async ({ body, request }) => {
  await using both = await startBoth(body);
  const end = request.startsWith('HEAD') ? '\r\n\r\n' : '.';
  const isWhole = (text: string) => text.includes('\r\n\r\n') && text.endsWith(end);
  const ask = (path: string) => answersTo(both.app, request.replace('#', path), isWhole);
  const [prepared, usual] = [partsOf(await ask('/prepared')), partsOf(await ask('/usual'))];
  expect(prepared).toEqual(usual);
  expect(prepared.status).toBe('HTTP/1.1 402 Payment Required');
  expect(prepared.lines).toContain('x-always: yes');
  expect(prepared.hasDate).toBe(true);
});

test('requests that come in a row are answered in a row, and all are seen to end', async () => {
  await using both = await startBoth('one.');
  const request = ASKED['a connection that stays'].replace('#', '/prepared');
  const isWhole = (text: string) => text.split('one.').length === 4;
  const text = await answersTo(both.app, request.repeat(3), isWhole);
  expect(text.match(/HTTP\/1\.1 402/g)).toHaveLength(3);
  expect(both.statuses).toEqual([402, 402, 402]);
});

const LONG = 'x'.repeat(200_000);
const WITH_BODY = {
  'a body that comes along': ['Content-Length: 9\r\n\r\n{"a":"b"}'],
  'a body in pieces': [
    `Content-Length: ${LONG.length}\r\n\r\n`,
    LONG.slice(0, 70_000),
    LONG.slice(70_000),
  ],
  'a body of chunks': ['Transfer-Encoding: chunked\r\n\r\n', '5\r\nhello\r\n', '0\r\n\r\n'],
  'a body that waits to be asked for': [
    'Expect: 100-continue\r\nContent-Length: 5\r\n\r\n',
    'hello',
  ],
} as const;

test.each(Object.entries(WITH_BODY))(
  '%s is dropped, and the next request answered',
  async (_what, pieces) => {
    await using both = await startBoth('one.');
    const request = [`GET /prepared HTTP/1.1\r\nHost: a\r\n${pieces[0]}`, ...pieces.slice(1)];
    const text = await answersToPieces(both.app, [...request, ...request, ...request]);
    expect(text.match(/HTTP\/1\.1 402/g)).toHaveLength(3);
    expect(both.statuses).toEqual([402, 402, 402]);
  },
);

test('a client that leaves in the middle of its body hurts no other', async () => {
  await using both = await startBoth('one.');
  const half = 'GET /prepared HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{"a"';
  await answersTo(both.app, half, (text) => text.endsWith('one.'));
  const usual = ASKED['a connection that stays'].replace('#', '/prepared');
  expect(await answersTo(both.app, usual, (text) => text.endsWith('one.'))).toContain(' 402 ');
});

test('who watches how heads are written sees those that were prepared', async () => {
  await using both = await startBoth('one.');
  const { statusCode, headers, body } = await both.app.inject('/prepared');
  expect(statusCode).toBe(402);
  expect(headers).toMatchObject({ 'x-always': 'yes', 'ratelimit-remaining': '7' });
  expect(body).toBe('one.');
});

test.each([{ 'x-bad': 'two\r\nlines' }, { 'x bad': 'name' }])(
  'a header that could not be sent is refused when the head is prepared',
  async (headers) => {
    await using both = await startBoth('one.');
    expect(() => both.app.prepareHead(200, headers as Record<Lowercase<string>, string>)).toThrow(
      /ERR_(?:INVALID_CHAR|INVALID_HTTP_TOKEN)|Invalid character|valid HTTP token/,
    );
  },
);
