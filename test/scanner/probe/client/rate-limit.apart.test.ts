import { describe, expect, test } from 'vitest';
import { readRetryAfterMs } from '../../../../src/scanner/parse/text/http-header.ts';
import { ask, clientFor, dataOf, startOrigin } from './harness.ts';

describe('Retry-After of a 429', () => {
  test('is waited for once, and no other request is sent meanwhile', async () => {
    const arrivalsMs: number[] = [];
    const target = await startOrigin((request, response) => {
      arrivalsMs.push(performance.now());
      const isFirst = target.requests.filter((line) => line.endsWith('/limited')).length === 1;
      if (request.url === '/limited' && isFirst) {
        response.writeHead(429, { 'retry-after': '1' }).end();
      } else response.end('ok');
    });
    const client = clientFor(target);
    const limitedAnswer = ask(client, target, '/limited');
    await expect.poll(() => target.requests.length).toBe(1);
    // After the client has the 429, its other requests wait too.
    await expect.poll(() => client.stats().roundTrips).toBe(1);
    const otherAnswer = ask(client, target, '/other');
    expect(dataOf(await limitedAnswer).body).toBe('ok');
    expect(dataOf(await otherAnswer).body).toBe('ok');
    const [firstMs = 0, ...laterMs] = arrivalsMs;
    expect(Math.min(...laterMs) - firstMs).toBeGreaterThan(950);
    expect(target.requests.toSorted()).toEqual(['GET /limited', 'GET /limited', 'GET /other']);
  });

  test('is not waited for twice: a second 429 is the answer', async () => {
    const target = await startOrigin((_, response) => {
      response.writeHead(429, { 'retry-after': '0' }).end('slow down');
    });
    const answer = await ask(clientFor(target), target);
    expect(answer).toMatchObject({ ok: true, data: { status: 429, body: 'slow down' } });
    expect(target.requests).toHaveLength(2);
  });

  test.each([
    ['over five seconds', 'GET', '6'],
    ['missing', 'GET', null],
    ['for a POST', 'POST', '0'],
  ] as const)('is not waited for: %s', async (_, method, retryAfter) => {
    const target = await startOrigin((_request, response) => {
      response.writeHead(429, retryAfter === null ? {} : { 'retry-after': retryAfter }).end();
    });
    const answer = await ask(clientFor(target), target, '/', { method });
    expect(answer).toMatchObject({ ok: true, data: { status: 429 } });
    expect(target.requests).toHaveLength(1);
  });

  test('is missing from five answers: the origin gets no further request', async () => {
    const target = await startOrigin((_, response) => response.writeHead(429).end());
    const client = clientFor(target);
    for (const path of ['/1', '/2', '/3', '/4', '/5']) {
      expect(dataOf(await ask(client, target, path)).status).toBe(429);
    }
    expect(await ask(client, target, '/6')).toMatchObject({ ok: false, reason: 'rate-limited' });
    expect(target.requests).toHaveLength(5);
  });
});

describe('readRetryAfterMs', () => {
  const nowMs = Date.parse('Wed, 21 Oct 2026 07:28:00 GMT');
  test.each([
    ['3', 3_000],
    ['0', 0],
    ['Wed, 21 Oct 2026 07:28:05 GMT', 5_000],
    ['Wed, 21 Oct 2026 07:27:00 GMT', 0],
    ['soon', null],
    ['-1', null],
    ['1.5', null],
    ['2026', 2_026_000],
    ['2026-10-21', null],
  ])('of %s', (value, expected) => {
    expect(readRetryAfterMs({ headers: [['retry-after', value]] }, nowMs)).toBe(expected);
  });

  test('is null without a header', () => {
    expect(readRetryAfterMs({ headers: [] }, nowMs)).toBeNull();
  });
});
