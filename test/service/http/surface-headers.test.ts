/** Every answer has headers for browsers. /health and /metrics describe the service that runs. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startApp, type TestApp } from '../../fixtures/service/start-app.ts';

let service: TestApp;

beforeAll(async () => {
  service = await startApp({ environment: { RATE_LIMIT: 'off' } });
});

afterAll(() => service[Symbol.asyncDispose]());

test('any web page may call the API and use the headers of official x402 clients', async () => {
  const preflight = await service.app.inject({
    method: 'OPTIONS',
    url: '/v1/scan',
    headers: {
      origin: 'https://agent.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'payment-signature,content-type',
    },
  });
  expect(preflight.statusCode).toBe(204);
  expect(preflight.headers['access-control-allow-origin']).toBe('*');
  expect(preflight.headers['access-control-allow-credentials']).toBeUndefined();
  const allowed = String(preflight.headers['access-control-allow-headers']);
  for (const name of [
    'PAYMENT-SIGNATURE',
    'X-PAYMENT',
    'Content-Type',
    'Access-Control-Expose-Headers',
    'MCP-Protocol-Version',
  ]) {
    expect(allowed).toContain(name);
  }
  const answer = await service.get('/v1/checks', { origin: 'https://agent.example' });
  const exposedHeaders = String(answer.headers['access-control-expose-headers']);
  for (const name of [
    'PAYMENT-REQUIRED',
    'PAYMENT-RESPONSE',
    'X-PAYMENT-RESPONSE',
    'Retry-After',
    'RateLimit-Limit',
  ]) {
    expect(exposedHeaders).toContain(name);
  }
});

test('answers let browsers load only our own content, and let nobody frame it', async () => {
  const { headers } = await service.get('/v1/checks');
  const policy = String(headers['content-security-policy']);
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).toContain("script-src 'self'");
  expect(policy).not.toContain('unsafe-inline');
  expect(headers).toMatchObject({
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'x-frame-options': 'DENY',
  });
  // The header omits includeSubDomains, because other services of the domain may not support HTTPS.
  expect(headers['strict-transport-security']).toMatch(/^max-age=\d+$/);
});

test('errors are not cached', async () => {
  expect((await service.get('/nothing')).headers['cache-control']).toBe('no-store');
});

test('interface spec 4.1: /health states version and catalog, in both revisions', async () => {
  const answer = await service.get('/health');
  expect(answer.statusCode).toBe(200);
  expect(answer.json()).toEqual({
    status: 'ok',
    version: '0.3.0',
    checksVersion: '2026-08-14.2',
    paymentMode: 'mock',
    store: 'sqlite',
  });
  await using olderRevision = await startApp({ revision: '0.1.0' });
  expect((await olderRevision.get('/health')).json()).toMatchObject({
    version: '0.1.0',
    checksVersion: '2026-07-25.1',
  });
});

test('metrics count requests by route, and only loopback can read them', async () => {
  await service.get('/v1/checks');
  await service.get('/v1/status?url=secret.example.com');
  const answer = await service.get('/metrics');
  expect(answer.statusCode).toBe(200);
  expect(answer.body).toMatch(
    /http_request_duration_seconds_count\{method="GET",route="\/v1\/checks",status="200"\} [1-9]/,
  );
  expect(answer.body).toContain('scans_running 0');
  expect(answer.body).not.toContain('secret.example.com');

  const requestFrom = (remoteAddress: string, headers = {}) =>
    service.app.inject({ url: '/metrics', remoteAddress, headers });
  expect((await requestFrom('::1')).statusCode).toBe(200);
  expect((await requestFrom('::ffff:127.0.0.1')).statusCode).toBe(200);
  expect((await requestFrom('192.0.2.1')).json().error).toBe('forbidden');
});

const FORWARDING_HEADERS = {
  'x-forwarded-for': '127.0.0.1',
  forwarded: 'for=127.0.0.1',
  via: '1.1 proxy',
  'x-real-ip': '127.0.0.1',
  'x-forwarded-proto': 'https',
  'cf-connecting-ip': '127.0.0.1',
  'true-client-ip': '127.0.0.1',
};

test.each(Object.entries(FORWARDING_HEADERS))(
  'a proxy on this machine that adds only %s cannot read the metrics',
  async (name, value) => {
    const requestMetrics = ({ app }: TestApp) =>
      app.inject({ url: '/metrics', remoteAddress: '127.0.0.1', headers: { [name]: value } });
    expect((await requestMetrics(service)).statusCode).toBe(403);
    await using proxied = await startApp({ environment: { TRUST_PROXY: '127.0.0.0/8' } });
    expect((await requestMetrics(proxied)).statusCode).toBe(403);
  },
);

test('behind a trusted proxy METRICS_ALLOW applies to the forwarded address', async () => {
  const environment = { TRUST_PROXY: '127.0.0.0/8', METRICS_ALLOW: '192.0.2.0/24,127.0.0.1' };
  await using proxied = await startApp({ environment });
  const fetchStatus = async (headers: Record<string, string>) =>
    (await proxied.app.inject({ url: '/metrics', remoteAddress: '127.0.0.1', headers })).statusCode;
  expect(await fetchStatus({ 'x-forwarded-for': '192.0.2.7', via: '1.1 proxy' })).toBe(200);
  expect(await fetchStatus({ 'x-forwarded-for': '198.51.100.7' })).toBe(403);
  expect(await fetchStatus({})).toBe(200);
});

test('the metrics include the memory of the process', async () => {
  await using fresh = await startApp();
  const { body } = await fresh.get('/metrics');
  const memory = Number(/^process_resident_memory_bytes (\S+)$/m.exec(body)?.[1]);
  expect(memory).toBeGreaterThan(1e6);
});

test('METRICS_ALLOW opens the metrics to the addresses it names, and closes the metrics to all other addresses', async () => {
  await using restricted = await startApp({
    environment: { METRICS_ALLOW: '192.0.2.0/24,2001:db8::1' },
  });
  const statusFrom = async (remoteAddress: string) =>
    (await restricted.app.inject({ url: '/metrics', remoteAddress })).statusCode;
  expect(await statusFrom('192.0.2.200')).toBe(200);
  expect(await statusFrom('2001:db8::1')).toBe(200);
  expect(await statusFrom('2001:db8::2')).toBe(403);
  expect(await statusFrom('127.0.0.1')).toBe(403);
});
