import { expect, test } from 'vitest';
import { OriginRefused } from '../../../src/scanner/guard/failures.ts';
import { type Origin, parseOrigin } from '../../../src/scanner/guard/origin.ts';
import { ScannerFailure } from '../../../src/scanner/scan/scanner.ts';
import { Saturated } from '../../../src/service/errors/errors.ts';
import type { ScanCoordinatorOptions } from '../../../src/service/scans/finished-scan.ts';
import { ScanCoordinator } from '../../../src/service/scans/scan-coordinator.ts';
import { MEMORY, openSqlite } from '../../../src/service/store/sqlite/store.ts';
import type { Store } from '../../../src/service/store/store.ts';
import { createFakeScanner } from '../../scanner/scan/fake-scanner.ts';

const SHOP = parseOrigin('shop.example.com');
const OTHER_SHOP = parseOrigin('other.example.com');
const HOUR_MS = 3_600_000;

function setUp(options: Partial<ScanCoordinatorOptions> = {}) {
  let nowMs = Date.parse('2026-09-01T12:00:00Z');
  const store = options.store ?? openSqlite(MEMORY, { clock: () => nowMs });
  const scanner = createFakeScanner();
  const errors: unknown[] = [];
  const coordinator = new ScanCoordinator({
    scanner,
    store,
    catalogFacts: { scoring: 'scoring@1' },
    onError: (error) => errors.push(error),
    ...options,
  });
  return {
    coordinator,
    scanner,
    store,
    errors,
    now: () => nowMs,
    /** Finds the scan id of the private result that nobody has paid for. */
    findUnpaidScanId: async (origin: Origin) =>
      (await store.results.findUnpublished(origin.host, 0))?.scanId ?? null,
    advance: (ms: number) => {
      nowMs += ms;
    },
    [Symbol.asyncDispose]: async () => {
      await coordinator.close();
      await store.close();
    },
  };
}

test('callers during a scan get its result, and a caller after it starts another scan', async () => {
  await using parts = setUp();
  const { coordinator, scanner } = parts;
  const scanEnd = Promise.withResolvers<void>();
  scanner.will(SHOP.host, { until: scanEnd.promise });
  const firstCall = coordinator.run(SHOP);
  const secondCall = coordinator.run(SHOP);
  const otherScan = await coordinator.run(OTHER_SHOP);
  scanEnd.resolve();
  expect((await secondCall).scanId).toBe((await firstCall).scanId);
  expect(otherScan.scanId).not.toBe((await firstCall).scanId);
  expect((await coordinator.run(SHOP)).scanId).not.toBe((await firstCall).scanId);
  expect(scanner.scannedHosts).toEqual([SHOP.host, OTHER_SHOP.host, SHOP.host]);
});

test('the report has the time of the store clock, and the result keeps the submitted URL', async () => {
  await using parts = setUp();
  const { coordinator, store, now } = parts;
  const finished = await coordinator.run(SHOP, { submittedUrl: 'https://shop.example.com/x?y' });
  expect(finished.report.scannedAt).toBe(new Date(now()).toISOString());
  expect(finished.report.results).toHaveLength(25);
  const stored = await store.results.findByScan(finished.scanId);
  expect(stored?.submittedUrl).toBe('https://shop.example.com/x?y');
});

test('a caller that joins gets the id of the scan it waits for, and nobody joins an ended scan', async () => {
  await using parts = setUp();
  const { coordinator, scanner } = parts;
  const scanEnd = Promise.withResolvers<void>();
  scanner.will(SHOP.host, { until: scanEnd.promise });
  expect(coordinator.join(SHOP)).toBeNull();
  const scanIds: string[] = [];
  const onScan = (scanId: string) => scanIds.push(scanId);
  const firstCall = coordinator.run(SHOP, { onScan });
  const secondCall = coordinator.join(SHOP, { onScan });
  await expect.poll(() => scanIds.length).toBe(2);
  const thirdCall = coordinator.run(SHOP, { onScan });
  scanEnd.resolve();
  const { scanId } = await firstCall;
  expect(await secondCall).toBe(await firstCall);
  expect(await thirdCall).toBe(await firstCall);
  expect(scanIds).toEqual([scanId, scanId, scanId]);
  expect(coordinator.join(SHOP)).toBeNull();
});

test('a scan that another instance has just finished is not repeated', async () => {
  await using parts = setUp();
  const { coordinator, scanner } = parts;
  const earlier = await coordinator.run(SHOP);
  const repeatedCall = await coordinator.run(SHOP, { findEarlierScan: async () => earlier });
  expect(repeatedCall).toBe(earlier);
  expect((await coordinator.run(SHOP, { findEarlierScan: async () => null })).scanId).not.toBe(
    earlier.scanId,
  );
  expect(scanner.scannedHosts).toHaveLength(2);
});

test('a blocked host is refused without a record, and scanned with `hasRecord` if it has one', async () => {
  await using parts = setUp();
  const { coordinator, scanner } = parts;
  const { scanId } = await coordinator.run(SHOP);
  scanner.blocked.add(SHOP.host);
  await expect(coordinator.admit(SHOP)).rejects.toThrow(OriginRefused);
  await coordinator.publish(scanId);
  await coordinator.admit(SHOP);
  await coordinator.run(SHOP);
  expect(scanner.hasRecordFlags).toEqual([false, true]);
});

test('a finished scan is private until it is published', async () => {
  await using parts = setUp();
  const { coordinator } = parts;
  const finished = await coordinator.run(SHOP);
  expect(await parts.findUnpaidScanId(SHOP)).toBe(finished.scanId);
  expect(await parts.findUnpaidScanId(OTHER_SHOP)).toBeNull();
  await coordinator.publish(finished.scanId);
  expect(await parts.findUnpaidScanId(SHOP)).toBeNull();
});

test('a result that no caller paid for is purged after a day', async () => {
  await using parts = setUp();
  const { coordinator, store, advance, now } = parts;
  const { scanId } = await coordinator.run(SHOP);
  advance(25 * HOUR_MS);
  await store.purge(now());
  expect(await store.results.findByScan(scanId)).toBeNull();
});

test('publishing makes a scan public once, even if it is repeated', async () => {
  await using parts = setUp();
  const { coordinator, store } = parts;
  const { scanId } = await coordinator.run(SHOP);
  expect(await store.directory.get(SHOP.host)).toBeNull();
  await Promise.all([coordinator.publish(scanId), coordinator.publish(scanId)]);
  await coordinator.publish(scanId);
  const record = await store.directory.get(SHOP.host);
  expect(record).toMatchObject({
    grade: 'A',
    score: 95,
    counts: { pass: 20, warn: 3, fail: 2 },
    catalog: { scoring: 'scoring@1' },
    scanCount: 1,
  });
  const { changes } = await store.changes.list({ sinceMs: 0, limit: 10 });
  expect(changes.map(({ changeType }) => changeType)).toEqual(['new']);
});

test('publishing a missing scan is an error', async () => {
  await using parts = setUp();
  const { coordinator } = parts;
  await expect(coordinator.publish('no-such-scan')).rejects.toThrow('not stored');
});

test('a failure of the scanner reaches every caller, and leaves nothing behind', async () => {
  await using parts = setUp();
  const { coordinator, scanner, errors } = parts;
  scanner.will(SHOP.host, { failure: new ScannerFailure('no threads') });
  const outcomes = await Promise.allSettled([coordinator.run(SHOP), coordinator.run(SHOP)]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(errors).toHaveLength(1);
  expect(await parts.findUnpaidScanId(SHOP)).toBeNull();
  scanner.will(SHOP.host, {});
  expect((await coordinator.run(SHOP)).report.grade).toBe('A');
});

test('at the limit new scans are refused, and a caller may still join a running scan', async () => {
  await using parts = setUp({ maxScans: 1 });
  const { coordinator, scanner } = parts;
  const scanEnd = Promise.withResolvers<void>();
  scanner.will(SHOP.host, { until: scanEnd.promise });
  const runningScan = coordinator.run(SHOP);
  expect(coordinator.isSaturated()).toBe(true);
  await expect(coordinator.run(OTHER_SHOP)).rejects.toThrow(Saturated);
  const joinedScan = coordinator.run(SHOP);
  scanEnd.resolve();
  expect((await joinedScan).scanId).toBe((await runningScan).scanId);
  expect(coordinator.isSaturated()).toBe(false);
});

test('closing waits for a scan that ends in time, and abandons a scan that does not', async () => {
  const endingInstance = setUp();
  const scanEnd = Promise.withResolvers<void>();
  endingInstance.scanner.will(SHOP.host, { until: scanEnd.promise });
  const endedScan = endingInstance.coordinator.run(SHOP);
  const closing = endingInstance.coordinator.close(60_000);
  scanEnd.resolve();
  await closing;
  expect((await endedScan).report.grade).toBe('A');
  await expect(endingInstance.coordinator.run(OTHER_SHOP)).rejects.toThrow(Saturated);
  await endingInstance.store.close();

  await using stuckInstance = setUp();
  stuckInstance.scanner.will(SHOP.host, { until: new Promise(() => undefined) });
  const abandoned = stuckInstance.coordinator.run(SHOP).catch((error: unknown) => error);
  await stuckInstance.coordinator.close();
  expect(await abandoned).toBeInstanceOf(Saturated);
});

test('closing refuses callers that wait for a scan of another instance', async () => {
  await using scanning = setUp();
  await using waiting = setUp({ store: shareStore(scanning.store) });
  scanning.scanner.will(SHOP.host, { until: new Promise(() => undefined) });
  const scan = scanning.coordinator.run(SHOP).catch((error: unknown) => error);
  await expect.poll(() => scanning.scanner.scannedHosts).toEqual([SHOP.host]);
  const call = waiting.coordinator.run(SHOP).catch((error: unknown) => error);
  await waiting.coordinator.close();
  expect(await call).toBeInstanceOf(Saturated);
  await scanning.coordinator.close();
  await scan;
});

test('with two instances on one store, one scans and the other waits for the result', async () => {
  await using scanning = setUp();
  await using waiting = setUp({ store: shareStore(scanning.store) });
  const scanEnd = Promise.withResolvers<void>();
  scanning.scanner.will(SHOP.host, { until: scanEnd.promise });
  const firstCall = scanning.coordinator.run(SHOP);
  await expect.poll(() => scanning.scanner.scannedHosts).toEqual([SHOP.host]);
  const secondCall = waiting.coordinator.run(SHOP);
  scanEnd.resolve();
  expect((await secondCall).scanId).toBe((await firstCall).scanId);
  expect(waiting.scanner.scannedHosts).toEqual([]);
});

test.each([
  [true, 0],
  [false, 1],
])(
  'with `withRecording: %s` on the scanning instance, the waiting instance runs %i scans',
  async (withRecording, scans) => {
    await using scanning = setUp();
    await using waiting = setUp({ store: shareStore(scanning.store) });
    const scanEnd = Promise.withResolvers<void>();
    scanning.scanner.will(SHOP.host, { until: scanEnd.promise });
    const firstCall = scanning.coordinator.run(SHOP, { withRecording });
    await expect.poll(() => scanning.scanner.scannedHosts).toEqual([SHOP.host]);
    const secondCall = waiting.coordinator.run(SHOP, { withRecording: true });
    scanEnd.resolve();
    const [scannedResult, waitedResult] = await Promise.all([firstCall, secondCall]);
    expect(waitedResult.scanId === scannedResult.scanId).toBe(withRecording);
    expect((await waiting.coordinator.provideRecording(waitedResult))?.text).toMatch(
      /"observations":/,
    );
    expect(waiting.scanner.scannedHosts).toHaveLength(scans);
  },
);

test('a recording that no caller requested is not stored, but a late caller of the same instance gets it', async () => {
  await using parts = setUp();
  const { coordinator, store } = parts;
  const finished = await coordinator.run(SHOP);
  expect(await store.results.findRecording(finished.scanId)).toBeNull();
  const recording = await coordinator.provideRecording(finished);
  expect(recording?.text).toContain('"x402-scan-observations"');
  expect(await store.results.findRecording(finished.scanId)).toEqual(recording);
});

test('a scan succeeds though its observations have no digest', async () => {
  const scanner = { ...createFakeScanner(), record: async () => null };
  await using parts = setUp({ scanner });
  const finished = await parts.coordinator.run(SHOP, { withRecording: true });
  expect(finished.observationsSha256).toBeNull();
  expect(await parts.coordinator.provideRecording(finished)).toEqual({ text: null });
});

test('if the scanning instance fails, the waiting instance scans', async () => {
  await using scanning = setUp();
  await using waiting = setUp({ store: shareStore(scanning.store) });
  const scanEnd = Promise.withResolvers<void>();
  scanning.scanner.will(SHOP.host, {
    until: scanEnd.promise,
    failure: new ScannerFailure('no threads'),
  });
  const firstCall = scanning.coordinator.run(SHOP).catch((error: unknown) => error);
  await expect.poll(() => scanning.scanner.scannedHosts).toEqual([SHOP.host]);
  const secondCall = waiting.coordinator.run(SHOP);
  scanEnd.resolve();
  expect(await firstCall).toBeInstanceOf(ScannerFailure);
  expect((await secondCall).report.grade).toBe('A');
  expect(waiting.scanner.scannedHosts).toEqual([SHOP.host]);
});

test('a result that its payer had published at once still reaches the waiting instance', async () => {
  await using scanning = setUp();
  await using waiting = setUp({ store: shareStore(scanning.store) });
  const scanEnd = Promise.withResolvers<void>();
  scanning.scanner.will(SHOP.host, { until: scanEnd.promise });
  const firstCall = scanning.coordinator.run(SHOP).then(async (finished) => {
    await scanning.coordinator.publish(finished.scanId);
    return finished;
  });
  await expect.poll(() => scanning.scanner.scannedHosts).toEqual([SHOP.host]);
  const secondCall = waiting.coordinator.run(SHOP);
  scanEnd.resolve();
  expect((await secondCall).scanId).toBe((await firstCall).scanId);
});

test('an origin can be scanned again soon after its lease could not be released', async () => {
  await using store = openClosable();
  let failures = 2;
  const { leases } = store;
  const failingLeases: Store['leases'] = {
    ...leases,
    release: (lease) => {
      failures -= 1;
      return failures >= 0 ? Promise.reject(new Error('gone')) : leases.release(lease);
    },
  };
  await using parts = setUp({ store: { ...store, leases: failingLeases } });
  const { coordinator, scanner, errors } = parts;
  scanner.will(SHOP.host, { failure: new ScannerFailure('no threads') });
  await expect(coordinator.run(SHOP)).rejects.toThrow('no threads');
  expect(errors.map(String)).toContain('Error: gone');
  // The fake clock stands still, so the lease would never expire.
  scanner.will(SHOP.host, {});
  await coordinator.run(SHOP);
  expect(scanner.scannedHosts).toEqual([SHOP.host, SHOP.host]);
});

function openClosable() {
  const store = openSqlite(MEMORY, { clock: () => HOUR_MS });
  return { ...store, [Symbol.asyncDispose]: () => store.close() };
}

/** The same database. It stays open when the coordinator that uses it stops. */
function shareStore(store: Store): Store {
  return { ...store, close: async () => undefined };
}

test('free scans do not count against the limit of paid scans, and begin only while half of it is free', async () => {
  await using parts = setUp({ maxScans: 2 });
  const { coordinator, scanner } = parts;
  const scanEnd = Promise.withResolvers<void>();
  const origins = Array.from({ length: 20 }, (_, n) => parseOrigin(`shop${n}.example.com`));
  for (const origin of origins) scanner.will(origin.host, { until: scanEnd.promise });
  const [firstFree = SHOP] = origins;
  const [extraFree = SHOP, firstPaid = SHOP, secondPaid = SHOP, thirdPaid = SHOP] =
    origins.slice(16);
  const freeScans = origins.slice(0, 16).map((origin) => coordinator.run(origin, { isFree: true }));
  await expect(coordinator.run(extraFree, { isFree: true })).rejects.toThrow(Saturated);
  expect(coordinator.countPaidScans()).toBe(0);
  expect(coordinator.isSaturated()).toBe(false);
  const paidScans = [coordinator.run(firstPaid), coordinator.run(secondPaid)];
  expect(coordinator.countPaidScans()).toBe(2);
  await expect(coordinator.run(thirdPaid)).rejects.toThrow(Saturated);
  // A payer who joins a free scan pays for it.
  const joinedScan = coordinator.run(firstFree);
  expect(coordinator.countPaidScans()).toBe(3);
  scanEnd.resolve();
  await Promise.all([...freeScans, ...paidScans]);
  expect((await joinedScan).scanId).toBe((await freeScans[0])?.scanId);
});
