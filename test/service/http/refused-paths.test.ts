/** The service refuses connections and paths that it does not know, or that two parsers could read differently. */
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startApp, type TestApp } from '../../fixtures/service/start-app.ts';

const CLIENT_IP = '198.51.100.7';
const OTHER_CLIENT_IP = '203.0.113.9';

let service: TestApp;
let port: number;

beforeAll(async () => {
  service = await startApp({ environment: { RATE_LIMIT: 'off' } });
  port = Number(new URL(await service.app.listen({ host: '127.0.0.1', port: 0 })).port);
});

afterAll(() => service[Symbol.asyncDispose]());

/** Sends the bytes unchanged. An HTTP client would repair the path and the headers. */
function send(bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(bytes);
  return text(socket);
}

async function sendLines(...lines: readonly string[]) {
  const answer = await send(`${[...lines, 'Connection: close'].join('\r\n')}\r\n\r\n`);
  const [head = '', body = ''] = answer.split('\r\n\r\n');
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
});

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

test('a path over 512 characters is 404, and the service does not parse it', async () => {
  // The service neither decodes these paths nor matches them to a route.
  for (const path of [`/%zz${'a'.repeat(509)}`, `/o/${'a'.repeat(510)}`, '/a'.repeat(15_000)]) {
    expect(path.length).toBeGreaterThan(512);
    const answer = await service.get(path);
    expect(answer.statusCode).toBe(404);
    expect(answer.json()).toMatchObject({ error: 'not_found', charged: false });
  }
  const longestPath = `/%zz${'a'.repeat(508)}`;
  expect(longestPath).toHaveLength(512);
  expect((await service.get(longestPath)).json().error).toBe('invalid_path');
});

test('a query does not count towards the length of the path', async () => {
  expect((await service.get(`/v1/checks?${'a'.repeat(2_000)}=1`)).statusCode).toBe(200);
  expect((await service.get(`/${'a'.repeat(511)}?q=1`)).json().error).toBe('not_found');
});

async function fetchErrorCodes(limited: TestApp, requests: number, url: string, from = CLIENT_IP) {
  const codes: string[] = [];
  for (let sent = 0; sent < requests; sent += 1) {
    const answer = await limited.app.inject({ method: 'GET', url, remoteAddress: from });
    codes.push(answer.json().error);
  }
  return codes;
}

test('the 404 and 405 answers of a client share one bucket of 60 a minute', async () => {
  await using limited = await startApp();
  const unknownPathCodes = await fetchErrorCodes(limited, 58, '/nothing');
  expect(new Set(unknownPathCodes)).toEqual(new Set(['not_found']));
  // A known path counts as unknown if a proxy may read it as another path.
  expect(await fetchErrorCodes(limited, 1, '/o/shop%2fexample')).toEqual(['not_found']);
  expect(await fetchErrorCodes(limited, 1, '/v1/listing')).toEqual(['method_not_allowed']);

  const refusal = await limited.app.inject({ url: '/v1/nothing', remoteAddress: CLIENT_IP });
  expect(refusal.statusCode).toBe(429);
  expect(refusal.json()).toMatchObject({ error: 'rate_limited', charged: false });
  expect(refusal.headers).toMatchObject({
    'retry-after': '60',
    'ratelimit-limit': '60',
    'ratelimit-remaining': '0',
  });
  expect(await fetchErrorCodes(limited, 1, '/v1/listing')).toEqual(['rate_limited']);
  // Known paths and other clients have buckets of their own.
  expect(
    (await limited.app.inject({ url: '/v1/checks', remoteAddress: CLIENT_IP })).statusCode,
  ).toBe(200);
  expect(await fetchErrorCodes(limited, 1, '/nothing', OTHER_CLIENT_IP)).toEqual(['not_found']);
  limited.advance(60_000);
  expect(await fetchErrorCodes(limited, 1, '/nothing')).toEqual(['not_found']);
});

test('a path that cannot be decoded counts in the bucket of unknown paths, and its answer has the usual headers', async () => {
  await using limited = await startApp();
  expect(new Set(await fetchErrorCodes(limited, 59, '/v1/%zz'))).toEqual(new Set(['invalid_path']));
  const answer = await limited.app.inject({ url: '/o/%E0%A4%A?q=%zz', remoteAddress: CLIENT_IP });
  expect(answer.statusCode).toBe(400);
  expect(answer.json()).toMatchObject({ error: 'invalid_path', charged: false });
  expect(answer.headers).toMatchObject({
    'ratelimit-limit': '60',
    'ratelimit-remaining': '0',
    'access-control-allow-origin': '*',
    'content-security-policy': expect.stringContaining("default-src 'none'"),
    'x-content-type-options': 'nosniff',
  });
  expect(await fetchErrorCodes(limited, 1, '/v1/%zz')).toEqual(['rate_limited']);
  expect(await fetchErrorCodes(limited, 1, '/nothing')).toEqual(['rate_limited']);
  expect(await fetchErrorCodes(limited, 1, '/v1/%zz', OTHER_CLIENT_IP)).toEqual(['invalid_path']);
});

test('the longest host has its report page and its badge', async () => {
  const label = (letter: string) => letter.repeat(63);
  const host = `${label('a')}.${label('b')}.${label('c')}.${'d'.repeat(57)}.com`;
  expect(host).toHaveLength(253);
  await service.publish(`https://${host}`);
  const status = await service.get(`/v1/status?url=${host}`);
  const page = await service.get(new URL(status.json().reportUrl).pathname);
  expect(page.statusCode).toBe(200);
  expect(page.body).toContain(host);
  expect((await service.get(`/badge/${host}.svg`)).statusCode).toBe(200);
});
