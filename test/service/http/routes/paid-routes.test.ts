import { describe, expect, test } from 'vitest';
import { ScannerFailure } from '../../../../src/scanner/scan/scanner.ts';
import type { RevisionName } from '../../../../src/service/config/revision.ts';
import { type Answer, DAY_MS } from '../../../fixtures/service/start-app.ts';
import { countClaims, PRICES, startSelling } from './paid/selling.ts';

const SHOP = 'shop.example.com';

/** The app, and calls of a buyer who signs a new payment for each. */
async function startShop(revision: RevisionName, environment: Record<string, string> = {}) {
  const selling = await startSelling(revision, {
    environment: { RATE_LIMIT: 'off', ...environment },
  });
  const { app, payer } = selling;
  const sign = (value: bigint) => selling.header(value);
  return {
    ...app,
    sign,
    /** Lists the scans that the buyer ordered and did not pay for. */
    listUnpaid: () => app.store.results.findUnpaid(payer.address.toLowerCase(), 0),
    scan: async (url: unknown, header?: Record<string, string>) =>
      app.post('/v1/scan', { url }, header ?? (await sign(PRICES[revision].scan))),
    buy: async (path: string, value: bigint) => app.get(path, await sign(value)),
  };
}

function expectUncharged(answer: Answer, status: number, error: string): void {
  expect(answer.json()).toMatchObject({ error, charged: false });
  expect(answer.statusCode).toBe(status);
  expect(answer.headers['payment-response']).toBeUndefined();
}

describe.each(['0.1.0', '0.3.0'] as const)(
  'interface spec 4.2 and 7, POST /v1/scan, %s',
  (revision) => {
    test('a call without payment gets 402, whatever its body is', async () => {
      await using shop = await startShop(revision);
      for (const body of [{ url: SHOP }, { url: 'nonsense' }, {}, 'no JSON']) {
        const answer = await shop.post('/v1/scan', body);
        expect(answer.statusCode).toBe(402);
        expect(answer.json()).toMatchObject({
          x402Version: 2,
          accepts: [
            {
              scheme: 'exact',
              network: 'eip155:8453',
              asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
              amount: PRICES[revision].scan.toString(),
              payTo: shop.config.payment.payTo,
            },
          ],
        });
        const header = Buffer.from(String(answer.headers['payment-required']), 'base64');
        expect(JSON.parse(header.toString())).toEqual(answer.json());
      }
    });

    test('a paid call gets the report of a fresh scan, is settled, and makes the report public', async () => {
      await using shop = await startShop(revision);
      shop.scanner.will(SHOP, { grade: 'B', score: 84 });
      const scannedAt = new Date(shop.now()).toISOString();
      const answer = await shop.scan(`https://${SHOP}/path?query`);
      expect(answer.statusCode).toBe(200);
      expect(answer.headers['payment-response']).toBeDefined();
      const { results, ...report } = answer.json();
      expect(report).toEqual({
        origin: `https://${SHOP}`,
        grade: 'B',
        score: 84,
        cache: 'miss',
        checksVersion: shop.config.checksVersion,
        scannedAt,
        reportUrl: `https://scanner.example/o/${SHOP}`,
        ...(revision === '0.3.0' ? { charged: true, paidBy: 'payer' } : {}),
        payableBy: null,
        payability: [],
        indexed: [],
        otherWays: [],
        clients: [],
        advice: [],
      });
      expect(results).toHaveLength(25);
      await expect
        .poll(async () => (await shop.get(`/v1/status?url=${SHOP}`)).json())
        .toMatchObject({ known: true, fresh: true, grade: 'B', score: 84 });
      expect((await shop.get('/v1/directory')).json().count).toBe(1);
    });

    test('a scan of a broken origin answers 200 with grade F, and is charged', async () => {
      await using shop = await startShop(revision);
      shop.scanner.will(SHOP, { grade: 'F', score: 0 });
      const answer = await shop.scan(SHOP);
      expect(answer.statusCode).toBe(200);
      expect(answer.json()).toMatchObject({ grade: 'F', score: 0 });
      expect(answer.headers['payment-response']).toBeDefined();
    });

    test.each([
      ['http://shop.example.com', 'invalid_url'],
      ['https://10.0.0.1', 'invalid_url'],
      ['', 'invalid_url'],
      [5, 'invalid_request'],
      [{ $ne: '' }, 'invalid_request'],
      [undefined, 'invalid_request'],
    ])('a paid call with the url %j gets 400 and is not charged', async (url, code) => {
      await using shop = await startShop(revision);
      expectUncharged(await shop.scan(url), 400, code);
      expect(shop.scanner.scannedHosts).toEqual([]);
    });

    test('a paid call for a name that resolves to a blocked address gets 400 and is not charged', async () => {
      await using shop = await startShop(revision);
      shop.scanner.blocked.add(SHOP);
      expectUncharged(await shop.scan(SHOP), 400, 'invalid_url');
    });

    test('a paid call whose scan fails gets 503, is not charged, and leaves nothing stored', async () => {
      await using shop = await startShop(revision);
      shop.scanner.will(SHOP, { failure: new ScannerFailure('no threads') });
      const answer = await shop.scan(SHOP);
      expectUncharged(answer, 503, 'scanner_failed');
      expect(answer.headers['retry-after']).toBe('10');
      expect((await shop.get(`/v1/status?url=${SHOP}`)).json().known).toBe(false);
    });

    test('a call over its time limit gets 504 uncharged, and its retry gets the stored report', async () => {
      await using shop = await startShop(revision, { SCAN_TIMEOUT_MS: '1500' });
      const scanMayEnd = Promise.withResolvers<void>();
      shop.scanner.will(SHOP, { until: scanMayEnd.promise });
      const header = await shop.sign(PRICES[revision].scan);
      const timedOut = await shop.scan(SHOP, header);
      expectUncharged(timedOut, 504, 'scan_processing');
      expect(timedOut.json()).toMatchObject({ status: 'processing', retryAfterSec: 10 });
      expect(timedOut.headers['retry-after']).toBe('10');

      // The work of the first call must end before the scan ends.
      await new Promise((resolve) => setTimeout(resolve, 0));
      scanMayEnd.resolve();
      await expect.poll(() => shop.scanCoordinator.countPaidScans()).toBe(0);
      const retry = await shop.scan(SHOP, header);
      expect(retry.statusCode).toBe(200);
      expect(retry.json().cache).toBe('hit');
      expect(retry.headers['payment-response']).toBeDefined();
      expect(shop.scanner.scannedHosts).toEqual([SHOP]);
    });

    test.each(['the same header', 'a new payment'])(
      'a retry with %s joins the scan that still runs, and is a cache miss',
      async (payment) => {
        await using shop = await startShop(revision, { SCAN_TIMEOUT_MS: '1500' });
        const scanMayEnd = Promise.withResolvers<void>();
        shop.scanner.will(SHOP, { until: scanMayEnd.promise });
        const header = await shop.sign(PRICES[revision].scan);
        expectUncharged(await shop.scan(SHOP, header), 504, 'scan_processing');
        const retryHeader =
          payment === 'the same header' ? header : await shop.sign(PRICES[revision].scan);
        const retry = shop.scan(SHOP, retryHeader);
        // A claim in the ledger shows that the retry waits for the scan.
        await expect.poll(() => countClaims(shop.store)).toBe(1);
        scanMayEnd.resolve();
        expect((await retry).statusCode).toBe(200);
        expect((await retry).json().cache).toBe('miss');
        expect(shop.scanner.scannedHosts).toEqual([SHOP]);
        await expect.poll(() => shop.listUnpaid()).toEqual([]);
      },
    );

    test('a scan that ends after its 504 is a debt until the buyer pays', async () => {
      await using shop = await startShop(revision, { SCAN_TIMEOUT_MS: '1500' });
      const scanMayEnd = Promise.withResolvers<void>();
      shop.scanner.will(SHOP, { until: scanMayEnd.promise });
      const header = await shop.sign(PRICES[revision].scan);
      expectUncharged(await shop.scan(SHOP, header), 504, 'scan_processing');
      expect(await shop.listUnpaid()).toMatchObject([{ host: SHOP, isDebt: false }]);
      scanMayEnd.resolve();
      await expect.poll(() => shop.listUnpaid()).toMatchObject([{ host: SHOP, isDebt: true }]);
      shop.advance(9 * 60_000);
      const retry = await shop.scan(SHOP);
      expect(retry.json().cache).toBe('hit');
      expect(await shop.listUnpaid()).toEqual([]);
      expect(shop.scanner.scannedHosts).toEqual([SHOP]);
    });

    test('a scan that fails after its 504 is not a debt', async () => {
      await using shop = await startShop(revision, { SCAN_TIMEOUT_MS: '1500' });
      const scanMayEnd = Promise.withResolvers<void>();
      const failure = new ScannerFailure('no threads');
      shop.scanner.will(SHOP, { until: scanMayEnd.promise, failure });
      expectUncharged(await shop.scan(SHOP), 504, 'scan_processing');
      expect(await shop.listUnpaid()).toHaveLength(1);
      scanMayEnd.resolve();
      await expect.poll(() => shop.listUnpaid()).toEqual([]);
    });

    test('callers at the same time join one scan, and each of them pays', async () => {
      await using shop = await startShop(revision);
      const scanMayEnd = Promise.withResolvers<void>();
      shop.scanner.will(SHOP, { until: scanMayEnd.promise });
      const callers = [shop.scan(SHOP), shop.scan(SHOP)];
      await expect.poll(() => shop.scanCoordinator.countPaidScans()).toBe(1);
      scanMayEnd.resolve();
      const answers = await Promise.all(callers);
      expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200]);
      expect(shop.scanner.scannedHosts).toEqual([SHOP]);
      const receipts = answers.map(({ headers }) => headers['payment-response']);
      expect(new Set(receipts).size).toBe(2);
    });
  },
);

test('interface spec 4.2, 0.1.0: a scan under 24 hours old is served from the cache, an older one runs anew', async () => {
  await using shop = await startShop('0.1.0');
  await shop.publish(SHOP);
  shop.advance(DAY_MS - 1_000);
  expect((await shop.scan(SHOP)).json().cache).toBe('hit');
  expect(shop.scanner.scannedHosts).toHaveLength(1);
  shop.advance(1_000);
  expect((await shop.scan(SHOP)).json().cache).toBe('miss');
  expect(shop.scanner.scannedHosts).toHaveLength(2);
});

test('interface spec 4.2, 0.3.0: a scan always runs anew', async () => {
  await using shop = await startShop('0.3.0');
  await shop.publish(SHOP);
  shop.advance(1_000);
  expect((await shop.scan(SHOP)).json().cache).toBe('miss');
  expect(shop.scanner.scannedHosts).toHaveLength(2);
});

describe('interface spec 4.2 and 7, GET /v1/report, 0.1.0', () => {
  const path = `/v1/report?url=${SHOP}`;

  test('a payment of 0.02 USD buys the report of the last 24 hours', async () => {
    await using shop = await startShop('0.1.0');
    await shop.publish(SHOP, { grade: 'B', score: 84 });
    expect((await shop.get(path)).json().accepts[0].amount).toBe('20000');
    const answer = await shop.buy(path, 20_000n);
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['payment-response']).toBeDefined();
    expect(answer.json()).toMatchObject({ grade: 'B', score: 84, cache: 'hit' });
    expect(answer.json()).not.toHaveProperty('charged');
  });

  test('without a fresh report a paid call gets an uncharged 404 that points to the scan', async () => {
    await using shop = await startShop('0.1.0');
    const answer = await shop.buy(path, 20_000n);
    expectUncharged(answer, 404, 'no_fresh_report');
    expect(answer.json().message).toContain('POST /v1/scan');
    await shop.publish(SHOP);
    shop.advance(DAY_MS);
    expectUncharged(await shop.buy(path, 20_000n), 404, 'no_fresh_report');
  });

  test('a paid call with bad input gets 400 and is not charged', async () => {
    await using shop = await startShop('0.1.0');
    expectUncharged(await shop.buy('/v1/report', 20_000n), 400, 'invalid_parameter');
    expectUncharged(await shop.buy('/v1/report?url=nonsense', 20_000n), 400, 'invalid_url');
    const repeatedUrl = `/v1/report?url=${SHOP}&url=other.example.com`;
    expectUncharged(await shop.buy(repeatedUrl, 20_000n), 400, 'invalid_query');
  });
});

describe('interface spec 4.2 and 7, routes that only 0.3.0 has', () => {
  test('0.1.0 has neither the export nor the list of changes', async () => {
    await using shop = await startShop('0.1.0');
    for (const path of ['/v1/directory/export', '/v1/changes']) {
      expect((await shop.get(path)).statusCode).toBe(404);
    }
  });

  test('the export costs 0.10 USD and holds every record with the history of its host', async () => {
    await using shop = await startShop('0.3.0');
    await shop.publish(SHOP);
    await shop.publish('hidden.example.com');
    await shop.store.listing.set('hidden.example.com', { listed: false });
    const path = '/v1/directory/export';
    expect((await shop.get(path)).json().accepts[0].amount).toBe('100000');
    const answer = await shop.buy(path, 100_000n);
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toMatchObject({
      count: 1,
      truncated: false,
      projects: [{ host: SHOP, scanCount: 1, gradeHistory: [{ grade: 'A', score: 95 }] }],
    });
  });

  test('changes cost 0.03 USD, and list the new hosts and new grades since the given time', async () => {
    await using shop = await startShop('0.3.0');
    const since = new Date(shop.now() - 1).toISOString();
    await shop.publish(SHOP);
    const path = `/v1/changes?since=${since}`;
    expect((await shop.get(path)).json().accepts[0].amount).toBe('30000');
    const answer = await shop.buy(path, 30_000n);
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toMatchObject({
      since,
      count: 1,
      limit: 100,
      hasMore: false,
      changes: [{ changeType: 'new', host: SHOP, grade: 'A', score: 95 }],
    });
  });
});
