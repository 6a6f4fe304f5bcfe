/** The service refuses requests that two HTTP parsers could read differently. */
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startApp, type TestApp } from '../fixtures/service/start-app.ts';

let service: TestApp;
let port: number;

beforeAll(async () => {
  service = await startApp({ environment: { RATE_LIMIT: 'off' } });
  port = Number(new URL(await service.app.listen({ host: '127.0.0.1', port: 0 })).port);
});

afterAll(() => service[Symbol.asyncDispose]());

async function sendLines(...lines: readonly string[]) {
  const socket = connect(port, '127.0.0.1');
  socket.write(`${[...lines, 'Connection: close'].join('\r\n')}\r\n\r\n`);
  const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
  return { status: Number(head.split(' ')[1]), head: head.toLowerCase(), body };
}

describe('the Host header:', () => {
  test.each([
    ['no Host header', ['GET /v1/checks HTTP/1.1']],
    ['two Host headers', ['GET /v1/checks HTTP/1.1', 'Host: a.example', 'Host: b.example']],
    ['two equal Host headers', ['GET /v1/checks HTTP/1.1', 'Host: a.example', 'host: a.example']],
    ['no Host header and an unknown path', ['GET /nothing HTTP/1.1']],
    [
      'two Host headers that buys a scan',
      ['POST /v1/scan HTTP/1.1', 'Host: a.example', 'HOST: b.example', 'Content-Length: 0'],
    ],
  ])('a request with %s is refused', async (_case, lines) => {
    const { status, head, body } = await sendLines(...lines);
    expect(status).toBe(400);
    expect(JSON.parse(body)).toEqual({
      error: 'invalid_http',
      message: 'A request names its host once. Send one Host header.',
      charged: false,
    });
    expect(head).toContain('access-control-allow-origin: *');
    expect(head).toContain('x-content-type-options: nosniff');
  });

  test('a request with one Host header, or none in HTTP/1.0, is accepted', async () => {
    expect((await sendLines('GET /v1/checks HTTP/1.1', 'Host: a.example')).status).toBe(200);
    expect((await sendLines('GET /v1/checks HTTP/1.0')).status).toBe(200);
  });
});

describe('a body with a content encoding', () => {
  const BODY = '{"url":"shop.example.com"}';
  const post = (url: string, encoding: string, payload: string | Buffer) =>
    service.app.inject({
      method: 'POST',
      url,
      payload,
      headers: { 'content-type': 'application/json', 'content-encoding': encoding },
    });

  test.each([
    ['gzip', gzipSync(BODY)],
    ['gzip', BODY],
    ['br', BODY],
    ['GZIP, identity', BODY],
  ])('is refused: %s', async (encoding, payload) => {
    for (const url of ['/v1/verify/start', '/v1/preflight', '/mcp']) {
      const answer = await post(url, encoding, payload);
      expect([answer.statusCode, answer.json().error]).toEqual([415, 'unsupported_media_type']);
    }
  });

  test('is accepted if the label says "identity"', async () => {
    expect((await post('/v1/verify/start', 'identity', BODY)).statusCode).toBe(200);
  });

  test('is not read if the call is unpaid, and the answer is 402', async () => {
    expect((await post('/v1/scan', 'gzip', gzipSync(BODY))).statusCode).toBe(402);
  });
});
