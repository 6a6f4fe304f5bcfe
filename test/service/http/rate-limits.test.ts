/** Every route except /health limits how many requests a client may send in a minute. */
import { describe, expect, test } from 'vitest';
import { type Answer, startApp, type TestApp } from '../../fixtures/service/start-app.ts';

const CLIENT_IP = '198.51.100.7';

async function sendRequests(service: TestApp, path: string, requests: number, from = CLIENT_IP) {
  const answers: Answer[] = [];
  for (let sent = 0; sent < requests; sent += 1) {
    const method = POST_PATHS.has(path) ? 'POST' : 'GET';
    const payload = POST_PATHS.has(path) ? { payload: { url: 'shop.example.com' } } : {};
    answers.push(await service.app.inject({ method, url: path, remoteAddress: from, ...payload }));
  }
  return answers;
}

async function fetchStatuses(service: TestApp, path: string, requests: number, from = CLIENT_IP) {
  const answers = await sendRequests(service, path, requests, from);
  return answers.map(({ statusCode }) => statusCode);
}

const POST_PATHS = new Set(['/v1/verify/start', '/v1/verify/confirm', '/v1/listing']);

type Limit = readonly [path: string, requestsPerMinute: number];

const LIMITS: Readonly<Record<'0.1.0' | '0.3.0', readonly Limit[]>> = {
  '0.1.0': [
    ['/v1/status?url=shop.example.com', 10],
    ['/v1/checks', 10],
    ['/v1/directory', 30],
    ['/v1/featured', 30],
    ['/v1/project?host=shop.example.com', 30],
    ['/v1/verify/start', 10],
    ['/v1/verify/confirm', 10],
    ['/v1/listing', 10],
  ],
  '0.3.0': [
    ['/v1/status?url=shop.example.com', 30],
    ['/v1/checks', 30],
    ['/v1/report?url=shop.example.com', 30],
    ['/v1/directory', 30],
    ['/v1/featured', 30],
    ['/v1/project?host=shop.example.com', 30],
    ['/v1/verify/start', 10],
    ['/v1/verify/confirm', 10],
    ['/v1/listing', 10],
  ],
};

describe.each(['0.1.0', '0.3.0'] as const)('interface spec 8, %s', (revision) => {
  test.each<Limit>([...LIMITS[revision]])('%s takes %i requests a minute', async (path, limit) => {
    await using service = await startApp({ revision });
    const answers = await sendRequests(service, path, limit + 1);
    // Verification has its own caps, which answer 429 with other error codes.
    const codes = answers.map((answer) => answer.json().error);
    expect(codes.indexOf('rate_limited')).toBe(limit);
    expect(answers[0]?.headers['ratelimit-limit']).toBe(String(limit));
  });
});

test('every answer states how many requests remain, and a 429 also states when to come back', async () => {
  await using service = await startApp();
  const firstAnswer = await service.get('/v1/checks');
  expect(firstAnswer.headers).toMatchObject({
    'ratelimit-limit': '30',
    'ratelimit-remaining': '29',
    'ratelimit-reset': '60',
  });
  service.advance(20_000);
  for (let sent = 1; sent < 30; sent += 1) await service.get('/v1/checks');
  const refusal = await service.get('/v1/checks');
  expect(refusal.statusCode).toBe(429);
  expect(refusal.headers).toMatchObject({
    'ratelimit-limit': '30',
    'ratelimit-remaining': '0',
    'ratelimit-reset': '40',
    'retry-after': '40',
  });
  expect(refusal.json()).toEqual({
    error: 'rate_limited',
    message: 'You sent more than 30 requests in a minute. Wait 40 s, as Retry-After says.',
    charged: false,
  });
  service.advance(40_000);
  expect((await service.get('/v1/checks')).statusCode).toBe(200);
});

test('a start of verification over its own cap states that cap and not the rate limit', async () => {
  await using service = await startApp();
  const [ninthAnswer] = (await sendRequests(service, '/v1/verify/start', 9)).slice(-1);
  expect(ninthAnswer?.json().error).toBe('challenge_limit');
  expect(ninthAnswer?.headers).toMatchObject({
    'retry-after': '3600',
    'ratelimit-limit': '8',
    'ratelimit-remaining': '0',
    'ratelimit-reset': '3600',
  });
});

test('requests are counted separately for each route and client, and an IPv6 /64 is one client', async () => {
  await using service = await startApp({ revision: '0.1.0' });
  await fetchStatuses(service, '/v1/checks', 10);
  expect(await fetchStatuses(service, '/v1/checks', 1)).toEqual([429]);
  expect(await fetchStatuses(service, '/v1/checks', 1, '::ffff:198.51.100.7')).toEqual([429]);
  expect(await fetchStatuses(service, '/v1/checks', 1, '198.51.100.8')).toEqual([200]);
  expect(await fetchStatuses(service, '/v1/directory', 1)).toEqual([200]);

  await fetchStatuses(service, '/v1/checks', 10, '2001:db8::1');
  expect(await fetchStatuses(service, '/v1/checks', 1, '2001:db8::ffff:2')).toEqual([429]);
  expect(await fetchStatuses(service, '/v1/checks', 1, '2001:db8:0:1::1')).toEqual([200]);
});

test('paid routes take 60 requests a minute without a payment header, and 120 with one', async () => {
  await using service = await startApp();
  const unpaidStatuses = [];
  for (let sent = 0; sent <= 60; sent += 1) {
    unpaidStatuses.push((await service.post('/v1/scan', { url: 'shop.example.com' })).statusCode);
  }
  expect(unpaidStatuses.indexOf(429)).toBe(60);
  expect(new Set(unpaidStatuses.slice(0, 60))).toEqual(new Set([402]));
  const paidStatuses = [];
  for (let sent = 0; sent <= 120; sent += 1) {
    const answer = await service.post('/v1/scan', { url: 'x' }, { 'payment-signature': 'junk' });
    paidStatuses.push(answer.statusCode);
  }
  expect(paidStatuses.indexOf(429)).toBe(120);
  // The service refuses before it looks up whether this payment was charged.
  const refusal = await service.post('/v1/scan', { url: 'x' }, { 'payment-signature': 'junk' });
  expect(refusal.json()).toMatchObject({ error: 'rate_limited', charged: null });
  expect((await service.post('/v1/scan', { url: 'x' })).json()).toMatchObject({ charged: false });
});

test('/health has no limit, and RATE_LIMIT=off removes every limit', async () => {
  await using limited = await startApp();
  expect(new Set(await fetchStatuses(limited, '/health', 200))).toEqual(new Set([200]));
  await using unlimited = await startApp({ environment: { RATE_LIMIT: 'off' } });
  expect(new Set(await fetchStatuses(unlimited, '/v1/checks', 40))).toEqual(new Set([200]));
});

test('the forwarded address identifies a client only behind a trusted proxy', async () => {
  const forwardedFor = (address: string) => ({ 'x-forwarded-for': address });
  await using proxied = await startApp({
    revision: '0.1.0',
    environment: { TRUST_PROXY: '127.0.0.0/8' },
  });
  for (let sent = 0; sent < 10; sent += 1)
    await proxied.get('/v1/checks', forwardedFor('192.0.2.1'));
  expect((await proxied.get('/v1/checks', forwardedFor('192.0.2.1'))).statusCode).toBe(429);
  expect((await proxied.get('/v1/checks', forwardedFor('192.0.2.2'))).statusCode).toBe(200);

  await using direct = await startApp({ revision: '0.1.0' });
  for (let sent = 0; sent < 10; sent += 1)
    await direct.get('/v1/checks', forwardedFor(`192.0.2.${sent}`));
  expect((await direct.get('/v1/checks', forwardedFor('192.0.2.99'))).statusCode).toBe(429);
});

test.each([
  ['IPv4', (n: number) => `198.51.100.7:${50_000 + n}`, '198.51.100.7', '198.51.100.8:50000'],
  ['IPv6', (n: number) => `[2001:db8::${n}]:${50_000 + n}`, '2001:db8::f', '[2001:db8:0:1::1]:443'],
])(
  'a forwarded %s address with another port is still the same client',
  async (_family, withPort, withoutPort, otherClient) => {
    await using service = await startApp({
      revision: '0.1.0',
      environment: { TRUST_PROXY: '127.0.0.0/8' },
    });
    const requestFrom = (address: string) =>
      service.get('/v1/checks', { 'x-forwarded-for': address });
    for (let sent = 0; sent < 10; sent += 1)
      expect((await requestFrom(withPort(sent))).statusCode).toBe(200);
    expect((await requestFrom(withPort(10))).statusCode).toBe(429);
    expect((await requestFrom(withoutPort)).statusCode).toBe(429);
    expect((await requestFrom(otherClient)).statusCode).toBe(200);
  },
);
