import { expect, test } from 'vitest';
import { DAY_MS, startApp, type TestApp } from '../../../fixtures/service/start-app.ts';
import type { CannedScan } from '../../../scanner/scan/fake-scanner.ts';

const BASE_NETWORK = 'eip155:8453';
const USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';

const WITHOUT_LIMIT = { environment: { RATE_LIMIT: 'off' } };

async function fetchStatistics({ get }: TestApp, query = '') {
  const answer = await get(`/v1/statistics${query}`);
  expect(answer.statusCode).toBe(200);
  return answer.json();
}

/** Returns the scan of a seller with one resource, which costs `amount` base units of USDC on Base. */
function toSellerScan(amount: string, overrides: CannedScan = {}): CannedScan {
  const offer = {
    pointer: '/accepts/0',
    scheme: 'exact',
    network: BASE_NETWORK,
    asset: USDC.toLowerCase(),
    amount,
    client: '@x402/evm',
    verdict: 'signs',
    words: null,
  } as const;
  const resource = { method: 'GET', path: '/', payableBy: 'default', words: null } as const;
  const payability = [{ ...resource, offers: [offer, offer] }];
  return { ...overrides, report: { payability, payableBy: 'default', ...overrides.report } };
}

async function publishMany(service: TestApp, hosts: number, scan: (n: number) => CannedScan) {
  for (let n = 0; n < hosts; n += 1) await service.publish(`h${n}.example.com`, scan(n));
}

/** Moves the clock by whole days. The purge adds up the statistics of the days that have ended. */
async function advanceDays(service: TestApp, days = 1) {
  service.advance(days * DAY_MS);
  await service.store.purge(service.now());
}

test('every count is 0 until a day with ten hosts has ended', async () => {
  await using service = await startApp(WITHOUT_LIMIT);
  const expectZeros = async () => {
    const { disclaimer, provenance, unit, checks, ...rest } = await fetchStatistics(service);
    expect(disclaimer).toContain('no');
    expect(provenance).toContain('unverified');
    expect(unit).toMatch(/^host-days/);
    expect(checks).toHaveLength(25);
    expect(checks[0]).toEqual({ id: 'P1', pass: 0, warn: 0, fail: 0, notDetermined: 0 });
    expect(rest).toEqual({
      asOf: new Date(service.now()).toISOString(),
      days: 7,
      rounding: 5,
      origins: 0,
      grades: { A: 0, B: 0, C: 0, D: 0, F: 0 },
      payableBy: { default: 0, settings: 0, unknown: 0, nobody: 0, noChallenge: 0 },
      availability: { payable: 0, notPayable: 0, down: 0, notChecked: 0 },
      offers: { byScheme: {}, byNetwork: {}, byAsset: {} },
      prices: { p10: null, p50: null, p90: null, count: 0 },
    });
  };
  await expectZeros();
  await publishMany(service, 9, () => toSellerScan('10000'));
  await expectZeros();
  await advanceDays(service);
  await expectZeros();
  await publishMany(service, 1, () => toSellerScan('10000'));
  await expectZeros();
  await advanceDays(service);
  expect(await fetchStatistics(service)).toMatchObject({ origins: 10, prices: { count: 10 } });
});

test('a host counts once a day, and each offer of a host counts once a day', async () => {
  await using service = await startApp(WITHOUT_LIMIT);
  await publishMany(service, 10, (n) =>
    toSellerScan(String((n + 1) * 10_000), {
      grade: n < 5 ? 'A' : 'B',
      results: { S5: { status: 'warn', basis: 'not_determined' } },
    }),
  );
  await publishMany(service, 10, () => toSellerScan('990000', { grade: 'F' }));
  expect(await fetchStatistics(service, '?days=1')).toMatchObject({ origins: 0 });
  await advanceDays(service);
  const yesterday = await fetchStatistics(service, '?days=1');
  expect(yesterday).toMatchObject({
    days: 1,
    origins: 10,
    grades: { A: 5, B: 5, C: 0, D: 0, F: 0 },
    payableBy: { default: 10, nobody: 0 },
    offers: { byScheme: { exact: 10 }, byNetwork: { [BASE_NETWORK]: 10 }, byAsset: { [USDC]: 10 } },
    // Ten different prices: each percentile would be the price of one seller.
    prices: { p10: null, p50: null, p90: null, count: 10 },
  });
  const findCheck = (checkId: string) =>
    yesterday.checks.find(({ id }: { id: string }) => id === checkId);
  expect(findCheck('P1')).toEqual({ id: 'P1', pass: 10, warn: 0, fail: 0, notDetermined: 0 });
  expect(findCheck('S5')).toEqual({ id: 'S5', pass: 0, warn: 0, fail: 0, notDetermined: 10 });
  await publishMany(service, 14, () => toSellerScan('990000', { grade: 'F' }));
  await advanceDays(service);
  expect(await fetchStatistics(service, '?days=1')).toMatchObject({
    origins: 10,
    grades: { F: 10 },
  });
  const week = { days: 7, origins: 20, grades: { A: 5, B: 5, F: 10 }, prices: { count: 20 } };
  expect(await fetchStatistics(service)).toMatchObject(week);
});

test('the answer covers the requested number of UTC days before today', async () => {
  await using service = await startApp(WITHOUT_LIMIT);
  await publishMany(service, 10, () => ({ grade: 'C' }));
  const countOriginsByRange = async () => {
    const countOrigins = async (days: number) =>
      (await fetchStatistics(service, `?days=${days}`)).origins;
    return [await countOrigins(1), await countOrigins(7), await countOrigins(30)];
  };
  expect(await countOriginsByRange()).toEqual([0, 0, 0]);
  await advanceDays(service);
  expect(await countOriginsByRange()).toEqual([10, 10, 10]);
  await advanceDays(service);
  expect(await countOriginsByRange()).toEqual([0, 10, 10]);
  await advanceDays(service, 5);
  expect(await countOriginsByRange()).toEqual([0, 10, 10]);
  await advanceDays(service);
  expect(await countOriginsByRange()).toEqual([0, 0, 10]);
  await advanceDays(service, 22);
  expect(await countOriginsByRange()).toEqual([0, 0, 10]);
  await advanceDays(service);
  expect(await countOriginsByRange()).toEqual([0, 0, 0]);
});

test('schemes, networks and assets that an origin invents count as "other"', async () => {
  await using service = await startApp(WITHOUT_LIMIT);
  await publishMany(service, 10, (n) => {
    const { report } = toSellerScan('10000');
    const [resource] = report?.payability ?? [];
    const offers = (resource?.offers ?? []).map((offer) => ({
      ...offer,
      scheme: `__proto__${n}`,
      network: `eip155:9999${n}`,
      asset: `<script>${n}`,
    }));
    return { report: { payability: resource ? [{ ...resource, offers }] : [] } };
  });
  await advanceDays(service);
  const { offers, prices } = await fetchStatistics(service);
  expect(offers).toEqual({
    byScheme: { other: 10 },
    byNetwork: { other: 10 },
    byAsset: { other: 10 },
  });
  expect(prices.count).toBe(0);
});

test('an opted-out host does not count', async () => {
  await using service = await startApp(WITHOUT_LIMIT);
  await publishMany(service, 10, () => ({ grade: 'A' }));
  await service.store.listing.set('h0.example.com', { listed: false });
  await advanceDays(service);
  expect(await fetchStatistics(service)).toMatchObject({ origins: 0 });
  await publishMany(service, 10, () => ({ grade: 'A' }));
  await advanceDays(service);
  // Nine hosts count on each of the two days.
  expect(await fetchStatistics(service)).toMatchObject({ origins: 15, grades: { A: 15 } });
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

test('a client may request /statistics and /v1/statistics 30 times a minute together, and 0.1.0 has neither', async () => {
  await using service = await startApp();
  const statuses: number[] = [];
  for (let n = 0; n < 32; n += 1) {
    const path = n % 2 === 0 ? '/v1/statistics' : '/statistics';
    statuses.push((await service.get(path)).statusCode);
  }
  expect(statuses).toEqual([...Array.from({ length: 30 }, () => 200), 429, 429]);
  await using olderRevision = await startApp({ revision: '0.1.0' });
  expect((await olderRevision.get('/v1/statistics')).statusCode).toBe(404);
});
