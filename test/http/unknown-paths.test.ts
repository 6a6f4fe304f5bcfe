/** Unknown paths get 404 and wrong methods 405, within a rate limit of their own. */
import { expect, test } from 'vitest';
import { startApp, type TestApp } from '../fixtures/service/start-app.ts';

const CLIENT_IP = '198.51.100.7';
const OTHER_CLIENT_IP = '203.0.113.9';

async function fetchErrorCodes(service: TestApp, requests: number, url: string, from = CLIENT_IP) {
  const codes: string[] = [];
  for (let sent = 0; sent < requests; sent += 1) {
    const answer = await service.app.inject({ method: 'GET', url, remoteAddress: from });
    codes.push(answer.json().error);
  }
  return codes;
}

test('the 404 and 405 answers of a client share one bucket of 60 a minute', async () => {
  await using service = await startApp();
  const unknownPathCodes = await fetchErrorCodes(service, 58, '/nothing');
  expect(new Set(unknownPathCodes)).toEqual(new Set(['not_found']));
  // A known path counts as unknown if a proxy may read it as another path.
  expect(await fetchErrorCodes(service, 1, '/o/shop%2fexample')).toEqual(['not_found']);
  expect(await fetchErrorCodes(service, 1, '/v1/listing')).toEqual(['method_not_allowed']);

  const refusal = await service.app.inject({ url: '/v1/nothing', remoteAddress: CLIENT_IP });
  expect(refusal.statusCode).toBe(429);
  expect(refusal.json()).toMatchObject({ error: 'rate_limited', charged: false });
  expect(refusal.headers).toMatchObject({
    'retry-after': '60',
    'ratelimit-limit': '60',
    'ratelimit-remaining': '0',
  });
  expect(await fetchErrorCodes(service, 1, '/v1/listing')).toEqual(['rate_limited']);
  // Known paths and other clients have buckets of their own.
  expect(
    (await service.app.inject({ url: '/v1/checks', remoteAddress: CLIENT_IP })).statusCode,
  ).toBe(200);
  expect(await fetchErrorCodes(service, 1, '/nothing', OTHER_CLIENT_IP)).toEqual(['not_found']);
  service.advance(60_000);
  expect(await fetchErrorCodes(service, 1, '/nothing')).toEqual(['not_found']);
});

test('a path over 512 characters is 404, and the service does not parse it', async () => {
  await using service = await startApp({ environment: { RATE_LIMIT: 'off' } });
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
  await using service = await startApp({ environment: { RATE_LIMIT: 'off' } });
  expect((await service.get(`/v1/checks?${'a'.repeat(2_000)}=1`)).statusCode).toBe(200);
  expect((await service.get(`/${'a'.repeat(511)}?q=1`)).json().error).toBe('not_found');
});

test('a path that cannot be decoded counts in the bucket of unknown paths, and its answer has the usual headers', async () => {
  await using service = await startApp();
  expect(new Set(await fetchErrorCodes(service, 59, '/v1/%zz'))).toEqual(new Set(['invalid_path']));
  const answer = await service.app.inject({ url: '/o/%E0%A4%A?q=%zz', remoteAddress: CLIENT_IP });
  expect(answer.statusCode).toBe(400);
  expect(answer.headers).toMatchObject({
    'ratelimit-limit': '60',
    'ratelimit-remaining': '0',
    'access-control-allow-origin': '*',
    'content-security-policy': expect.stringContaining("default-src 'none'"),
    'x-content-type-options': 'nosniff',
  });
  expect(await fetchErrorCodes(service, 1, '/v1/%zz')).toEqual(['rate_limited']);
  expect(await fetchErrorCodes(service, 1, '/nothing')).toEqual(['rate_limited']);
  expect(await fetchErrorCodes(service, 1, '/v1/%zz', OTHER_CLIENT_IP)).toEqual(['invalid_path']);
});

test('the longest host has its report page and its badge', async () => {
  await using service = await startApp();
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
