/** Bodies, headers and queries are accepted at their size limits and refused above them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startApp, type TestApp } from '../../../fixtures/service/start-app.ts';
import { sendRaw } from './raw-client.ts';

const BODY_BYTES = 4_096;

describe.each([
  ['without a proxy', {}, ''],
  ['behind a trusted proxy', { TRUST_PROXY: '127.0.0.0/8' }, 'X-Forwarded-For: 192.0.2.1\r\n'],
])('%s', (_case, environment, proxyHeader) => {
  let service: TestApp;
  let port: number;

  beforeAll(async () => {
    service = await startApp({ environment: { RATE_LIMIT: 'off', ...environment } });
    port = Number(new URL(await service.app.listen({ host: '127.0.0.1', port: 0 })).port);
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const get = (path: string, headers = '') =>
    sendRaw(
      port,
      `GET ${path} HTTP/1.1\r\nHost: x\r\n${proxyHeader}${headers}Connection: close\r\n\r\n`,
    );
  const post = (framing: string) =>
    sendRaw(
      port,
      `POST /v1/verify/start HTTP/1.1\r\nHost: x\r\n${proxyHeader}Content-Type: application/json\r\nConnection: close\r\n${framing}`,
    );
  /** A JSON body with a URL, padded to this number of bytes. */
  const createBody = (bytes: number) => {
    const body = JSON.stringify({ url: 'shop.example.com', filler: '' });
    return body.replace('""', `"${'x'.repeat(bytes - body.length)}"`);
  };
  const withLength = (body: string) => `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  const inOneChunk = (body: string) =>
    `Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;

  test.each([
    ['a body', withLength],
    ['a body in chunks', inOneChunk],
  ])('%s of 4 KiB is read, and a body with one more byte is 413', async (_case, toFraming) => {
    expect(await post(toFraming(createBody(BODY_BYTES)))).toMatch(/^HTTP\/1\.1 200 [\s\S]*"token"/);
    const tooLargeAnswer = await post(toFraming(createBody(BODY_BYTES + 1)));
    expect(tooLargeAnswer).toMatch(
      /^HTTP\/1\.1 413 [\s\S]*"error":"body_too_large"[\s\S]*"charged":false/,
    );
  });

  test('a length over the limit is refused before the body is sent', async () => {
    expect(await post('Content-Length: 9999999999\r\n\r\n')).toMatch(/^HTTP\/1\.1 413 /);
  });

  test('a request with two lengths, or a length and chunks, is refused', async () => {
    const twoLengths = await post('Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}');
    expect(twoLengths).toMatch(/^HTTP\/1\.1 400 [\s\S]*"error":"invalid_http"/);
    const lengthAndChunks = await post(
      'Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    );
    expect(lengthAndChunks).toMatch(/^HTTP\/1\.1 400 [\s\S]*"error":"invalid_http"/);
  });

  test('headers of 30 KiB are read, and headers of 33 KiB are 431', async () => {
    const createHeader = (bytes: number) => `X-Long: ${'a'.repeat(bytes)}\r\n`;
    expect(await get('/v1/checks', createHeader(30 * 1_024))).toMatch(/^HTTP\/1\.1 200 /);
    const tooLargeAnswer = await get('/v1/checks', createHeader(33 * 1_024));
    expect(tooLargeAnswer).toMatch(/^HTTP\/1\.1 431 [\s\S]*"error":"headers_too_large"/);
  });

  test('100 small headers are read, and 8,000 small headers are 431', async () => {
    const createHeaders = (count: number) =>
      Array.from({ length: count }, (_value, n) => `X-${n}: a\r\n`).join('');
    expect(await get('/v1/checks', createHeaders(100))).toMatch(/^HTTP\/1\.1 200 /);
    expect(await get('/v1/checks', createHeaders(8_000))).toMatch(/^HTTP\/1\.1 431 /);
  });

  test('a search of 253 characters is answered, and a search of 254 characters is 400', async () => {
    const q = 'a'.repeat(253);
    expect(await get(`/v1/directory?q=${q}`)).toMatch(/^HTTP\/1\.1 200 /);
    const tooLargeAnswer = await get(`/v1/directory?q=${q}a`);
    expect(tooLargeAnswer).toMatch(/^HTTP\/1\.1 400 [\s\S]*"error":"invalid_parameter"/);
  });

  test('a URL of 2,048 characters is parsed, and a URL of 2,049 characters is 400', async () => {
    const createUrl = (length: number) => `https://shop.example.com/${'a'.repeat(length - 25)}`;
    expect(createUrl(2_048)).toHaveLength(2_048);
    expect(await get(`/v1/status?url=${createUrl(2_048)}`)).toMatch(/^HTTP\/1\.1 200 /);
    const tooLargeAnswer = await get(`/v1/status?url=${createUrl(2_049)}`);
    expect(tooLargeAnswer).toMatch(/^HTTP\/1\.1 400 [\s\S]*"reason":"not_a_string_or_too_long"/);
  });

  test('a query of thousands of parameters is answered, and delays no other request', async () => {
    const parameters = Array.from({ length: 4_000 }, (_value, n) => `p${n}=`).join('&');
    expect(parameters.length).toBeLessThan(32 * 1_024);
    const [longAnswer, healthAnswer] = await Promise.all([
      get(`/v1/checks?${parameters}`),
      get('/health'),
    ]);
    expect(longAnswer).toMatch(/^HTTP\/1\.1 200 /);
    expect(healthAnswer).toMatch(/^HTTP\/1\.1 200 /);
  });

  test.each([
    'not an address',
    '999.999.999.999',
    '::::',
    '%00',
    `${'192.0.2.1, '.repeat(2_000)}192.0.2.2`,
  ])('a malformed X-Forwarded-For is accepted: %.40s', async (address) => {
    const answer = await get('/v1/status?url=shop.example.com', `X-Forwarded-For: ${address}\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  });
});
