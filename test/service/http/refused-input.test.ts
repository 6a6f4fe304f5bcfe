/** Every route refuses a bad query or body with a stable error code. */
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ERROR_CODES, type ErrorCode } from '../../../src/service/errors/error-codes.ts';
import { startApp, type TestApp } from '../../fixtures/service/start-app.ts';

let service: TestApp;

beforeAll(async () => {
  service = await startApp({ environment: { RATE_LIMIT: 'off' } });
});

afterAll(() => service[Symbol.asyncDispose]());

const FREE_POSTS = ['/v1/verify/start', '/v1/verify/confirm', '/v1/listing'];

describe.each(FREE_POSTS)('interface spec 4 and 7: POST %s refuses', (path) => {
  test.each<[string, string, ErrorCode]>([
    ['no body', '', 'invalid_json'],
    ['a body that is not JSON', '{"url"', 'invalid_json'],
    ['a list', '[]', 'invalid_request'],
    ['null', 'null', 'invalid_request'],
    ['no url', '{}', 'invalid_request'],
    ['a url that is a number', '{"url":5}', 'invalid_request'],
    ['a database operator as the url', '{"url":{"$ne":null}}', 'invalid_request'],
    ['a prototype key', '{"url":"x.dev","__proto__":{"x":1}}', 'invalid_json'],
    ['a constructor key', '{"url":"x.dev","constructor":{"prototype":{}}}', 'invalid_json'],
    [
      'a constructor key that holds no prototype',
      '{"url":"x.dev","constructor":1}',
      'invalid_json',
    ],
    ['a key named prototype', '{"url":"x.dev","prototype":{}}', 'invalid_json'],
    ['an empty url', '{"url":""}', 'invalid_url'],
    ['a url with http', '{"url":"http://x.dev"}', 'invalid_url'],
    ['a loopback address', '{"url":"https://127.0.0.1"}', 'invalid_url'],
    ['a url with a password', '{"url":"https://a:b@x.dev"}', 'invalid_url'],
    [
      'a url of 3,000 characters',
      JSON.stringify({ url: `https://x.dev/${'a'.repeat(3_000)}` }),
      'invalid_url',
    ],
    ['a body over 4 KiB', JSON.stringify({ url: 'a'.repeat(5_000) }), 'body_too_large'],
  ])('%s', async (_case, payload, code) => {
    const answer = await service.post(path, payload);
    expect(answer.json()).toMatchObject({ error: code, charged: false });
    expect(answer.statusCode).toBe(ERROR_CODES[code].status);
    expect(answer.json().message).toMatch(/\.$/);
  });

  test.each([
    ['text/plain', '{"url":"shop.example.com"}'],
    ['application/x-www-form-urlencoded', 'url=shop.example.com'],
  ])('a body of type %s', async (type, body) => {
    const answer = await service.post(path, body, { 'content-type': type });
    expect(answer.statusCode).toBe(415);
    expect(answer.json()).toMatchObject({ error: 'unsupported_media_type', charged: false });
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
