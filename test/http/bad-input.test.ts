/** Every route refuses bad input with a stable error code. */
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ERROR_CODES } from '../../src/errors/error-codes.ts';
import { startApp, type TestApp } from '../fixtures/service/start-app.ts';

let service: TestApp;

beforeAll(async () => {
  service = await startApp({ environment: { RATE_LIMIT: 'off' } });
});

afterAll(() => service[Symbol.asyncDispose]());

const JSON_TYPE = { 'content-type': 'application/json' };
const FREE_POSTS = ['/v1/verify/start', '/v1/verify/confirm', '/v1/listing'];

describe.each(FREE_POSTS)('interface spec 4 and 7: POST %s refuses', (path) => {
  test.each<[string, string, Record<string, string>, number, string]>([
    ['no body', '', JSON_TYPE, 400, 'invalid_json'],
    ['a body that is not JSON', '{"url"', JSON_TYPE, 400, 'invalid_json'],
    ['a list', '[]', JSON_TYPE, 400, 'invalid_request'],
    ['null', 'null', JSON_TYPE, 400, 'invalid_request'],
    ['no url', '{}', JSON_TYPE, 400, 'invalid_request'],
    ['a url that is a number', '{"url":5}', JSON_TYPE, 400, 'invalid_request'],
    ['a database operator as the url', '{"url":{"$ne":null}}', JSON_TYPE, 400, 'invalid_request'],
    [
      'a prototype key',
      '{"url":"shop.example.com","__proto__":{"x":1}}',
      JSON_TYPE,
      400,
      'invalid_json',
    ],
    [
      'a constructor key',
      '{"url":"x.example.com","constructor":{"prototype":{}}}',
      JSON_TYPE,
      400,
      'invalid_json',
    ],
    [
      'a constructor key that holds no prototype',
      '{"url":"shop.example.com","constructor":1}',
      JSON_TYPE,
      400,
      'invalid_json',
    ],
    [
      'a key named prototype',
      '{"url":"shop.example.com","prototype":{}}',
      JSON_TYPE,
      400,
      'invalid_json',
    ],
    ['an empty url', '{"url":""}', JSON_TYPE, 400, 'invalid_url'],
    ['a url with http', '{"url":"http://shop.example.com"}', JSON_TYPE, 400, 'invalid_url'],
    ['a loopback address', '{"url":"https://127.0.0.1"}', JSON_TYPE, 400, 'invalid_url'],
    [
      'a url with a password',
      '{"url":"https://a:b@shop.example.com"}',
      JSON_TYPE,
      400,
      'invalid_url',
    ],
    [
      'a url of 3,000 characters',
      JSON.stringify({ url: `https://shop.example.com/${'a'.repeat(3_000)}` }),
      JSON_TYPE,
      400,
      'invalid_url',
    ],
    [
      'a body of type text/plain',
      '{"url":"shop.example.com"}',
      { 'content-type': 'text/plain' },
      415,
      'unsupported_media_type',
    ],
    [
      'a form as the body',
      'url=shop.example.com',
      { 'content-type': 'application/x-www-form-urlencoded' },
      415,
      'unsupported_media_type',
    ],
    [
      'a body over 4 KiB',
      JSON.stringify({ url: 'a'.repeat(5_000) }),
      JSON_TYPE,
      413,
      'body_too_large',
    ],
  ])('%s', async (_case, payload, headers, status, code) => {
    const answer = await service.app.inject({ method: 'POST', url: path, payload, headers });
    expect(answer.json()).toMatchObject({ error: code, charged: false });
    expect(answer.statusCode).toBe(status);
    expect(answer.json().message).toMatch(/\.$/);
  });
});

test('a listing setting that is not a boolean is refused, even if it is a database operator', async () => {
  const url = 'shop.example.com';
  for (const settings of [
    { listed: 'false' },
    { listed: { $ne: true } },
    { suppressEnrichment: 1 },
  ]) {
    const answer = await service.post('/v1/listing', { url, ...settings });
    expect(answer.statusCode).toBe(400);
    expect(answer.json().error).toBe('invalid_request');
  }
});

describe('interface spec 4 and 7: GET refuses', () => {
  test.each([
    ['/v1/status', 'invalid_parameter'],
    ['/v1/status?url=', 'invalid_url'],
    ['/v1/status?url=http://shop.example.com', 'invalid_url'],
    ['/v1/status?url=https://10.0.0.1', 'invalid_url'],
    ['/v1/status?url=a.example.com&url=b.example.com', 'invalid_query'],
    ['/v1/status?url[]=a.example.com', 'invalid_query'],
    ['/v1/status?url%5B$ne%5D=a', 'invalid_query'],
    ['/v1/status?url=a.example.com&__proto__=x', 'invalid_query'],
    ['/v1/report', 'invalid_parameter'],
    ['/v1/report?url=nonsense', 'invalid_url'],
    ['/v1/project', 'invalid_parameter'],
    ['/v1/project?host=%00', 'invalid_url'],
    ['/v1/project?host=[::1]', 'invalid_url'],
    ['/v1/checks?a=1&a=2', 'invalid_query'],
    ['/v1/directory?q[$regex]=.*', 'invalid_query'],
    ['/v1/featured?a=1&a=2', 'invalid_query'],
  ])('%s', async (url, code) => {
    const answer = await service.get(url);
    expect(answer.json()).toMatchObject({ error: code, charged: false });
    expect(answer.statusCode).toBe(400);
  });

  test('the error of a refused URL has a stable reason code', async () => {
    const answer = await service.get('/v1/status?url=https://10.0.0.1');
    expect(answer.json()).toMatchObject({ reason: 'blocked_ip' });
  });
});

describe('paths and methods', () => {
  test.each([
    ['GET', '/nothing'],
    ['GET', '/v2/status'],
    ['GET', '/V1/checks'],
    ['GET', '/v1/checks/'],
  ])('%s %s is 404', async (method, url) => {
    const answer = await service.app.inject({ method: method as 'GET', url });
    expect(answer.statusCode).toBe(404);
    expect(answer.json()).toMatchObject({ error: 'not_found', charged: false });
  });

  test.each([
    ['POST', '/v1/status', 'GET, HEAD'],
    ['DELETE', '/v1/directory', 'GET, HEAD'],
    ['GET', '/v1/listing', 'POST'],
    ['PUT', '/v1/verify/start', 'POST'],
    ['HEAD', '/v1/verify/confirm', 'POST'],
  ] as const)('%s %s is 405 with Allow', async (method, url, allow) => {
    const answer = await service.app.inject({ method, url });
    expect(answer.statusCode).toBe(405);
    expect(answer.headers['allow']).toBe(allow);
    if (method !== 'HEAD') expect(answer.json().error).toBe('method_not_allowed');
  });

  test('a path that cannot be decoded is 400', async () => {
    const answer = await service.get('/v1/%E0%A4%A');
    expect(answer.statusCode).toBe(400);
    expect(answer.json()).toMatchObject({ error: 'invalid_path', charged: false });
  });
});

describe('over a raw connection', () => {
  let port: number;

  beforeAll(async () => {
    port = Number(new URL(await service.app.listen({ host: '127.0.0.1', port: 0 })).port);
  });

  /** Sends the bytes unchanged. An HTTP client would repair the path and the headers. */
  function send(bytes: string): Promise<string> {
    const socket = connect(port, '127.0.0.1');
    socket.write(bytes);
    return text(socket);
  }

  test.each([
    '//v1/checks',
    '/v1//checks',
    '/v1/./checks',
    '/v1/x/../checks',
    '/v1/x/%2e%2E/checks',
    '/v1/%2e/checks',
    '/v1%2Fchecks',
    '/v1%5cchecks',
    '/v1\\checks',
  ])('a path that a proxy may read as another path is 404: %s', async (path) => {
    const answer = await send(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1.1 404 [\s\S]*"error":"not_found"/);
  });

  test('bytes that are not HTTP and headers over 32 KiB get stable error codes', async () => {
    const garbageAnswer = await send('this is no request\r\n\r\n');
    expect(garbageAnswer).toMatch(
      /^HTTP\/1.1 400 [\s\S]*"error":"invalid_http"[\s\S]*"charged":false/,
    );
    const longHeaderAnswer = await send(
      `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'a'.repeat(40_000)}\r\n\r\n`,
    );
    expect(longHeaderAnswer).toMatch(/^HTTP\/1.1 431 [\s\S]*"error":"headers_too_large"/);
  });
});

test('routes that need the store answer 503 with Retry-After while the store is lost', async () => {
  await using storeless = await startApp({ environment: { RATE_LIMIT: 'off' } });
  await storeless.store.close();
  for (const url of ['/health', '/v1/directory', '/v1/status?url=shop.example.com']) {
    const answer = await storeless.get(url);
    expect(answer.statusCode).toBe(503);
    expect(answer.json()).toMatchObject({ error: 'store_unavailable', charged: false });
    expect(answer.headers['retry-after']).toBe('10');
  }
  expect((await storeless.get('/v1/checks')).statusCode).toBe(200);
  expect((await storeless.get('/openapi.json')).statusCode).toBe(200);
});

test('every error code has an error status and a meaning', () => {
  for (const { status, meaning } of Object.values(ERROR_CODES)) {
    expect(status).toBeGreaterThanOrEqual(400);
    expect(meaning).toMatch(/\.$/);
  }
});
