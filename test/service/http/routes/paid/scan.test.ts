import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { parseOrigin } from '../../../../../src/scanner/guard/origin.ts';
import { ScannerFailure } from '../../../../../src/scanner/scan/scanner.ts';
import { createScanRoute } from '../../../../../src/service/http/routes/paid/scan-route.ts';
import { buyer, countClaims, PRICES, startSelling } from './selling.ts';

const { scan: PRICE } = PRICES['0.3.0'];
const HOST = 'shop.example.com';
const SCAN_OFFER = { kind: 'paid', priceBaseUnits: PRICE, maxTimeoutSeconds: 300 } as const;

describe('POST /v1/scan', () => {
  test('runs one scan for ten payers at the same time, and each of them pays', async () => {
    await using selling = await startSelling('0.3.0', { environment: { RATE_LIMIT: 'off' } });
    const { app } = selling;
    const scanMayEnd = Promise.withResolvers<void>();
    app.scanner.will(HOST, { until: scanMayEnd.promise });
    const calls = Array.from({ length: 10 }, async () =>
      selling.scan(HOST, await selling.header(PRICE, {}, buyer())),
    );
    await expect.poll(() => app.scanner.scannedHosts.length).toBe(1);
    // All ten must have joined before the scan may end.
    await expect.poll(() => countClaims(app.store)).toBe(10);
    scanMayEnd.resolve();
    const answers = await Promise.all(calls);
    expect(answers.map(({ statusCode }) => statusCode)).toEqual(answers.map(() => 200));
    expect(app.scanner.scannedHosts).toEqual([HOST]);
    const payers = answers.map(
      ({ headers }) => decodeSettlement(headers['payment-response']).payer,
    );
    expect(new Set(payers).size).toBe(10);
    expect((await app.get(`/v1/project?host=${HOST}`)).statusCode).toBe(200);
    expect((await app.store.history.list(HOST)).length).toBe(1);
  });

  test('drops the claim of a caller that disconnects from a shared scan, and serves the others', async () => {
    await using selling = await startSelling();
    const { app } = selling;
    const url = await app.app.listen({ port: 0, host: '127.0.0.1' });
    const scanMayEnd = Promise.withResolvers<void>();
    app.scanner.will(HOST, { until: scanMayEnd.promise });
    const abortController = new AbortController();
    const call = async (signal?: AbortSignal) =>
      fetch(`${url}/v1/scan`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(await selling.header(PRICE, {}, buyer())),
        },
        body: JSON.stringify({ url: HOST }),
        ...(signal ? { signal } : {}),
      });
    const abortedCall = call(abortController.signal);
    const otherCalls = [call(), call()];
    await expect.poll(() => countClaims(app.store)).toBe(3);
    abortController.abort();
    await expect(abortedCall).rejects.toThrow();
    await expect.poll(() => countClaims(app.store)).toBe(2);
    scanMayEnd.resolve();
    const answers = await Promise.all(otherCalls);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(app.scanner.scannedHosts).toEqual([HOST]);
    expect(await countClaims(app.store)).toBe(0);
  });

  test('runs five scans at a time for a wallet that pays for forty, and other wallets do not wait', async () => {
    await using selling = await startSelling();
    const { app } = selling;
    const scanMayEnd = Promise.withResolvers<void>();
    const hosts = Array.from({ length: 40 }, (_, n) => `shop-${n}.example.com`);
    for (const host of hosts) app.scanner.will(host, { until: scanMayEnd.promise });
    const headers = await Promise.all(hosts.map(() => selling.header(PRICE)));
    const calls = hosts.map((host, n) => selling.scan(host, headers[n]));
    await expect.poll(() => app.scanCoordinator.countPaidScans()).toBe(5);
    const otherWallet = selling.scan('other.example.com', await selling.header(PRICE, {}, buyer()));
    expect((await otherWallet).statusCode).toBe(200);
    scanMayEnd.resolve();
    const answers = await Promise.all(calls);
    expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([200]));
    expect(app.scanner.scannedHosts).toHaveLength(41);
  });

  test('leaves a free scan free while it only asks about it, until somebody pays', async () => {
    await using selling = await startSelling();
    const { app } = selling;
    const origin = parseOrigin(HOST);
    const { scanId } = await app.scanCoordinator.run(origin);
    const payer = selling.payer.address.toLowerCase();
    await app.store.results.noteUnpaid({ payer, scanId, host: HOST, isDebt: false });
    const scanMayEnd = Promise.withResolvers<void>();
    app.scanner.will(HOST, { until: scanMayEnd.promise });
    const freeScan = app.scanCoordinator.run(origin, { isFree: true });
    expect(app.scanCoordinator.isRunning(origin)).toBe(true);
    expect(app.scanCoordinator.isRunning(parseOrigin('other.example.com'))).toBe(false);
    const route = createScanRoute(app, SCAN_OFFER);
    const input = { origin, submittedUrl: HOST, withRecording: false };
    expect(await route.workLimit?.isShared(input, 'a stranger')).toBe(true);
    expect(route.isSaturated?.(input)).toBe(false);
    // This payer gets the earlier scan, which they have not paid for.
    const earlier = await selling.scan(HOST, await selling.header(PRICE));
    expect(earlier.json()).toMatchObject({ cache: 'hit' });
    expect(app.scanCoordinator.countPaidScans()).toBe(0);
    const paid = selling.scan(HOST, await selling.header(PRICE, {}, buyer()));
    await expect.poll(() => app.scanCoordinator.countPaidScans()).toBe(1);
    scanMayEnd.resolve();
    expect((await paid).json()).toMatchObject({ cache: 'miss' });
    expect(app.scanner.scannedHosts).toEqual([HOST, HOST]);
    await freeScan;
  });

  test('hides a result that nobody paid for', async () => {
    await using selling = await startSelling();
    const { app } = selling;
    app.scanner.will(HOST, { failure: new ScannerFailure('broken') });
    const failedScan = await selling.scan(HOST, await selling.header(PRICE));
    expect(failedScan.statusCode).toBe(503);
    expect(failedScan.json()).toMatchObject({ error: 'scanner_failed', charged: false });
    const tooLowPayment = await selling.header(1n);
    expect((await selling.scan(HOST, tooLowPayment)).statusCode).toBe(402);
    expect((await app.get(`/v1/status?url=${HOST}`)).json()).toMatchObject({ known: false });
    expect((await app.get(`/v1/project?host=${HOST}`)).statusCode).toBe(404);
    expect((await app.get(`/v1/report?url=${HOST}`)).statusCode).toBe(404);
  });

  test('answers 504 while the scan runs, and a retry with an old or new payment gets the result', async () => {
    for (const payment of ['the same header', 'a new signature']) {
      await using selling = await startSelling('0.3.0', {
        environment: { SCAN_TIMEOUT_MS: '1000' },
      });
      const { app } = selling;
      const scanMayEnd = Promise.withResolvers<void>();
      app.scanner.will(HOST, { until: scanMayEnd.promise });
      const header = await selling.header(PRICE);
      const timedOut = await selling.scan(HOST, header);
      expect(timedOut.statusCode).toBe(504);
      expect(timedOut.json()).toMatchObject({ status: 'processing', charged: false });
      scanMayEnd.resolve();
      const payer = selling.payer.address.toLowerCase();
      await expect.poll(async () => (await app.store.results.findUnpaid(payer, 0)).length).toBe(1);
      // A retry before the scan ends would join it and be a cache miss.
      await expect.poll(() => app.scanCoordinator.countPaidScans()).toBe(0);
      expect((await app.get(`/v1/project?host=${HOST}`)).statusCode).toBe(404);
      const retry = payment === 'the same header' ? header : await selling.header(PRICE);
      const answer = await retryWhile504(() => selling.scan(HOST, retry));
      expect(answer.statusCode).toBe(200);
      expect(answer.json()).toMatchObject({ cache: 'hit', charged: true });
      expect(app.scanner.scannedHosts).toEqual([HOST]);
      expect((await app.store.results.findUnpaid(payer, 0)).length).toBe(0);
      expect((await app.get(`/v1/project?host=${HOST}`)).statusCode).toBe(200);
      // The stored result is for its payer only. The next payer gets a fresh scan.
      const otherPayment = await selling.header(PRICE, {}, buyer());
      const otherAnswer = await retryWhile504(() => selling.scan(HOST, otherPayment));
      expect(otherAnswer.json()).toMatchObject({ charged: true });
      expect(app.scanner.scannedHosts).toEqual([HOST, HOST]);
    }
  });

  test.each([
    ['a url with http', { url: 'http://shop.example.com' }, 'invalid_url'],
    ['no member url', { link: 'x' }, 'invalid_request'],
    ['a number as the url', { url: 7 }, 'invalid_request'],
  ])(
    'answers a body with %s with an uncharged 400 to a payment, and with 402 without a payment',
    async (_name, body, code) => {
      await using selling = await startSelling();
      const paid = await selling.app.post('/v1/scan', body, await selling.header(PRICE));
      expect(paid.statusCode).toBe(400);
      expect(paid.json()).toMatchObject({ error: code, charged: false });
      expect((await selling.app.post('/v1/scan', body)).statusCode).toBe(402);
    },
  );

  test('answers an uncharged 400 for a host on a blocked address', async () => {
    await using selling = await startSelling();
    selling.app.scanner.blocked.add(HOST);
    const answer = await selling.scan(HOST, await selling.header(PRICE));
    expect(answer.statusCode).toBe(400);
    expect(answer.json()).toMatchObject({ error: 'invalid_url', charged: false });
    expect(selling.app.scanner.scannedHosts).toEqual([]);
  });

  test('resolves no name for a payment with a bad signature or too low a price', async () => {
    await using selling = await startSelling();
    selling.app.scanner.blocked.add(HOST);
    const forgedPayment = await selling.header(PRICE, { signAs: buyer().privateKey });
    expect((await selling.scan(HOST, forgedPayment)).statusCode).toBe(402);
    expect((await selling.scan(HOST, await selling.header(1n))).statusCode).toBe(402);
    expect(selling.app.scanner.admitted).toEqual([]);
    expect((await selling.scan(HOST, await selling.header(PRICE))).statusCode).toBe(400);
    expect(selling.app.scanner.admitted).toEqual([HOST]);
  });

  test('scans and charges a host with a record, even if the host has been blocked since', async () => {
    await using selling = await startSelling();
    await selling.app.publish(HOST);
    selling.app.scanner.blocked.add(HOST);
    const answer = await selling.scan(HOST, await selling.header(PRICE));
    expect(answer.statusCode).toBe(200);
    expect(selling.app.scanner.hasRecordFlags).toEqual([false, true]);
  });

  test('delivers a bought result even if the host has been blocked since', async () => {
    await using selling = await startSelling();
    const header = await selling.header(PRICE);
    const firstAnswer = await selling.scan(HOST, header);
    selling.app.scanner.blocked.add(HOST);
    const secondAnswer = await selling.scan(HOST, header);
    expect(secondAnswer.statusCode).toBe(200);
    expect(secondAnswer.body).toBe(firstAnswer.body);
    expect(secondAnswer.headers['x-redelivered']).toBe('1');
  });

  test('treats spellings of one host as one request', async () => {
    await using selling = await startSelling();
    const header = await selling.header(PRICE);
    expect((await selling.scan(HOST, header)).statusCode).toBe(200);
    const secondAnswer = await selling.scan(`https://SHOP.example.com:443/x?y#z`, header);
    expect(secondAnswer.statusCode).toBe(200);
    expect((await selling.scan('other.example.com', header)).statusCode).toBe(409);
  });

  test('runs no scan for another spelling of its path', async () => {
    await using selling = await startSelling();
    const { app } = selling.app;
    await app.listen({ port: 0, host: '127.0.0.1' });
    const { port } = app.server.address() as AddressInfo;
    const paths = [
      '/v1%2Fscan',
      '/v1//scan',
      '/v1/./scan',
      '/v1/x/../scan',
      '/v1/%2e/scan',
      '/v1\\scan',
    ];
    for (const path of paths) {
      const headers = {
        'content-type': 'application/json',
        ...(await selling.header(PRICE)),
      };
      // Unlike URL and fetch, `request` does not normalize the path.
      const clientRequest = request({ host: '127.0.0.1', port, path, method: 'POST', headers });
      clientRequest.end(JSON.stringify({ url: HOST }));
      const [response] = (await once(clientRequest, 'response')) as [IncomingMessage];
      expect({ path, status: response.statusCode }).toEqual({ path, status: 404 });
      response.resume();
    }
    expect(selling.app.scanner.scannedHosts).toEqual([]);
  });
});

function decodeSettlement(header: unknown): { payer: string } {
  return JSON.parse(Buffer.from(String(header), 'base64').toString());
}

/** Repeats the call after each 504. On a slow machine a scan can take longer than the test's SCAN_TIMEOUT_MS. */
async function retryWhile504<Answer extends { readonly statusCode: number }>(
  call: () => Promise<Answer>,
): Promise<Answer> {
  for (;;) {
    const answer = await call();
    if (answer.statusCode !== 504) return answer;
  }
}
