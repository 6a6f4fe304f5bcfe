/** GET /v1/report is free in 0.3.0. */
import { expect, test } from 'vitest';
import { DAY_MS, startApp } from '../../../fixtures/service/start-app.ts';

const REPORT_PATH = '/v1/report?url=https://shop.example.com';

test('interface spec 2.2 and 4.2, 0.3.0: the report of the last 24 hours is free', async () => {
  await using service = await startApp({ revision: '0.3.0' });
  const scannedAt = new Date(service.now()).toISOString();
  await service.publish('shop.example.com', { grade: 'B', score: 81 });
  const answer = await service.get(REPORT_PATH);
  expect(answer.statusCode).toBe(200);
  const { results, ...report } = answer.json();
  expect(report).toEqual({
    origin: 'https://shop.example.com',
    grade: 'B',
    score: 81,
    cache: 'hit',
    checksVersion: '2026-08-14.2',
    scannedAt,
    reportUrl: 'https://scanner.example/o/shop.example.com',
    paidBy: 'payer',
    payableBy: null,
    payability: [],
    clients: [],
    advice: [],
    indexed: [],
    otherWays: [],
  });
  expect(results).toHaveLength(25);
  expect(results[0]).toEqual({
    id: 'P1',
    title: 'http-reachable',
    category: 'protocol',
    severity: 'critical',
    status: 'pass',
    basis: 'measured',
    outcome: 'seen',
    evidence: 'Evidence of P1.',
    fix: 'Fix of P1.',
  });
});

test('interface spec 3 and 7, 0.3.0: after 24 hours the answer is 404 and points to the scan', async () => {
  await using service = await startApp({ revision: '0.3.0' });
  const answerBeforeScan = await service.get(REPORT_PATH);
  expect(answerBeforeScan.statusCode).toBe(404);
  await service.publish('shop.example.com');
  service.advance(DAY_MS - 1);
  expect((await service.get(REPORT_PATH)).statusCode).toBe(200);
  service.advance(1);
  const answer = await service.get(REPORT_PATH);
  expect(answer.statusCode).toBe(404);
  expect(answer.json()).toEqual({
    error: 'no_fresh_report',
    message:
      'No result for https://shop.example.com is fresher than 24 hours. POST /v1/scan with {"url":"https://shop.example.com"} makes one.',
    charged: false,
    scan: { method: 'POST', path: '/v1/scan' },
  });
});

test('interface spec 3: a newer published scan replaces the report', async () => {
  await using service = await startApp();
  await service.publish('shop.example.com', { grade: 'B', score: 81 });
  service.advance(1_000);
  await service.publish('shop.example.com', { grade: 'A', score: 97 });
  expect((await service.get(REPORT_PATH)).json()).toMatchObject({ grade: 'A', score: 97 });
});
