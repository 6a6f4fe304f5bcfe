import { expect, test } from 'vitest';
import { DAY_MS, startApp, type TestApp } from '../../fixtures/service/start-app.ts';
import type { CannedScan } from '../../scan/fake-scanner.ts';

const BASE = 'eip155:8453';
const USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';

const WITHOUT_LIMIT = { environment: { RATE_LIMIT: 'off' } };

async function statisticsOf({ get }: TestApp, query = '') {
  const answer = await get(`/v1/statistics${query}`);
  expect(answer.statusCode).toBe(200);
  return answer.json();
}

/** A scan whose one resource asks for so many base units of USDC on Base. */
function selling(amount: string, more: CannedScan = {}): CannedScan {
  const offer = {
    pointer: '/accepts/0',
    scheme: 'exact',
    network: BASE,
    asset: USDC.toLowerCase(),
    amount,
    client: '@x402/evm',
    verdict: 'signs',
    words: null,
  } as const;
  const resource = { method: 'GET', path: '/', payableBy: 'default', words: null } as const;
  const payability = [{ ...resource, offers: [offer, offer] }];
  return { ...more, report: { payability, payableBy: 'default', ...more.report } };
}

async function publishMany(service: TestApp, hosts: number, scan: (n: number) => CannedScan) {
  for (let n = 0; n < hosts; n += 1) await service.publish(`h${n}.example.com`, scan(n));
}

test('nothing was published: every count is 0', async () => {
  await using service = await startApp();
  const { disclaimer, provenance, unit, checks, ...rest } = await statisticsOf(service);
  expect(disclaimer).toContain('no');
  expect(provenance).toContain('unverified');
  expect(unit).toMatch(/^host-days/);
  expect(checks).toHaveLength(25);
  expect(checks[0]).toEqual({ id: 'P1', pass: 0, warn: 0, fail: 0, notDetermined: 0 });
  expect(rest).toEqual({
    asOf: new Date(service.now()).toISOString(),
    days: 7,
    origins: 0,
    grades: { A: 0, B: 0, C: 0, D: 0, F: 0 },
    payableBy: { default: 0, settings: 0, unknown: 0, nobody: 0, noChallenge: 0 },
    offers: { byScheme: {}, byNetwork: {}, byAsset: {} },
    prices: { p10: null, p50: null, p90: null, count: 0 },
  });
});

test('counts a host once a day, and an offer once for host and day', async () => {
  await using service = await startApp(WITHOUT_LIMIT);
  await publishMany(service, 10, (n) =>
    selling(String((n + 1) * 10_000), {
      grade: n < 5 ? 'A' : 'B',
      results: { S5: { status: 'warn', basis: 'not_determined' } },
    }),
  );
  await publishMany(service, 10, () => selling('990000', { grade: 'F' }));
  const today = await statisticsOf(service, '?days=1');
  expect(today).toMatchObject({
    days: 1,
    origins: 10,
    grades: { A: 5, B: 5, C: 0, D: 0, F: 0 },
    payableBy: { default: 10, nobody: 0 },
    offers: { byScheme: { exact: 10 }, byNetwork: { [BASE]: 10 }, byAsset: { [USDC]: 10 } },
    prices: { p10: 0.01, p50: 0.05, p90: 0.09, count: 10 },
  });
  const check = (id: string) => today.checks.find((one: { id: string }) => one.id === id);
  expect(check('P1')).toEqual({ id: 'P1', pass: 10, warn: 0, fail: 0, notDetermined: 0 });
  expect(check('S5')).toEqual({ id: 'S5', pass: 0, warn: 0, fail: 0, notDetermined: 10 });
  service.advance(DAY_MS);
  await publishMany(service, 5, () => selling('990000', { grade: 'F' }));
  expect(await statisticsOf(service, '?days=1')).toMatchObject({ origins: 5, grades: { F: 5 } });
  const week = { days: 7, origins: 15, grades: { A: 5, B: 5, F: 5 }, prices: { count: 15 } };
  expect(await statisticsOf(service)).toMatchObject(week);
  await service.store.purge(service.now());
  expect(await statisticsOf(service)).toMatchObject(week);
});

test('reaches back as many UTC days as it is asked for', async () => {
  await using service = await startApp(WITHOUT_LIMIT);
  await publishMany(service, 5, () => ({ grade: 'C' }));
  const originsOver = async (days: number) =>
    (await statisticsOf(service, `?days=${days}`)).origins;
  service.advance(6 * DAY_MS);
  expect([await originsOver(1), await originsOver(7), await originsOver(30)]).toEqual([0, 5, 5]);
  await service.store.purge(service.now());
  service.advance(DAY_MS);
  expect([await originsOver(7), await originsOver(30)]).toEqual([0, 5]);
  service.advance(22 * DAY_MS);
  await service.store.purge(service.now());
  expect(await originsOver(30)).toBe(5);
  service.advance(DAY_MS);
  expect(await originsOver(30)).toBe(0);
});

test('shows no count of 1 to 4, nor one that would tell it', async () => {
  await using service = await startApp(WITHOUT_LIMIT);
  await publishMany(service, 4, () => selling('10000'));
  const few = await statisticsOf(service);
  expect(few).toMatchObject({
    origins: null,
    grades: { A: null, B: 0 },
    offers: { byScheme: { exact: null } },
    prices: { p10: null, p50: null, p90: null, count: null },
  });
  await publishMany(service, 13, (n) => selling('10000', { grade: n < 10 ? 'A' : 'B' }));
  const more = await statisticsOf(service);
  expect(more).toMatchObject({ origins: 13, grades: { A: null, B: null, C: 0 } });
});

test('names that an origin makes up are "other"', async () => {
  await using service = await startApp(WITHOUT_LIMIT);
  await publishMany(service, 5, (n) => {
    const { report } = selling('10000');
    const [resource] = report?.payability ?? [];
    const offers = (resource?.offers ?? []).map((offer) => ({
      ...offer,
      scheme: `__proto__${n}`,
      network: `eip155:9999${n}`,
      asset: `<script>${n}`,
    }));
    return { report: { payability: resource ? [{ ...resource, offers }] : [] } };
  });
  const { offers, prices } = await statisticsOf(service);
  expect(offers).toEqual({
    byScheme: { other: 5 },
    byNetwork: { other: 5 },
    byAsset: { other: 5 },
  });
  expect(prices.count).toBe(0);
});

test('an opted-out host is out at once', async () => {
  await using service = await startApp(WITHOUT_LIMIT);
  await publishMany(service, 6, () => ({ grade: 'A' }));
  expect(await statisticsOf(service)).toMatchObject({ origins: 6 });
  await service.store.listing.set('h0.example.com', { listed: false });
  expect(await statisticsOf(service)).toMatchObject({ origins: 5 });
});

test.each(['0', '2', '07', '7.0', '-1', '31', '', 'week'])('days=%s is refused', async (days) => {
  await using service = await startApp();
  const answer = await service.get(`/v1/statistics?days=${days}`);
  expect([answer.statusCode, answer.json().error]).toEqual([400, 'invalid_parameter']);
});

test('a repeated parameter is refused', async () => {
  await using service = await startApp();
  expect((await service.get('/v1/statistics?days=1&days=7')).statusCode).toBe(400);
});

test('30 a minute and client, and only in revision 0.3.0', async () => {
  await using service = await startApp();
  const statuses: number[] = [];
  for (let n = 0; n < 31; n += 1) statuses.push((await service.get('/v1/statistics')).statusCode);
  expect(statuses).toEqual([...Array.from({ length: 30 }, () => 200), 429]);
  await using older = await startApp({ revision: '0.1.0' });
  expect((await older.get('/v1/statistics')).statusCode).toBe(404);
});
