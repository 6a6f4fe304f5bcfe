/** One process runs 10,000 watches for a quarter of an hour of the store's time. */
import { expect, test } from 'vitest';
import { DEFAULT_POLICY } from '../../../src/scanner/guard/origin.ts';
import { ScanCoordinator } from '../../../src/service/scans/scan-coordinator.ts';
import { MEMORY, openSqlite } from '../../../src/service/store/sqlite/store.ts';
import { createOriginTurns } from '../../../src/service/turns/origin-turns.ts';
import { toWatchTiming } from '../../../src/service/watch/state.ts';
import { Watching } from '../../../src/service/watch/watching.ts';
import { createFakeScanner } from '../../scanner/scan/fake-scanner.ts';
import { openFakeClient } from '../turns/turn-clients.ts';
import { OFFER } from './seller-report.ts';
import { storeWatch, toAgreedWatch } from './watch-state.ts';

const WATCH_COUNT = 10_000;
const START_MS = Date.UTC(2026, 8, 1, 12);
const TEST_SECONDS = 15 * 60;
const TIMING = toWatchTiming();
const RESOURCE = { method: 'GET', path: '/weather' };

test('10,000 overdue watches are looked at within 10 s of a start, and then spread over the hour', async () => {
  let nowMs = START_MS;
  const store = openSqlite(MEMORY, { clock: () => nowMs });
  const hosts = Array.from({ length: WATCH_COUNT }, (_, n) => `shop-${n}.com`);
  const factsText = JSON.stringify({ facts: {}, resources: [RESOURCE], checksVersion: null });
  for (const host of hosts) {
    await storeWatch(store, toAgreedWatch(host, START_MS, { baseline: `seen_${host}` }), factsText);
  }
  const looksPerSecond = new Map<number, number>();
  const scanner = createFakeScanner();
  const watching = new Watching({
    store,
    siteUrl: 'https://scanner.example',
    policy: DEFAULT_POLICY,
    timing: TIMING,
    scanCoordinator: new ScanCoordinator({ scanner, store, catalogFacts: {} }),
    askResources: async () => [
      {
        ...RESOURCE,
        kind: 'answered',
        payableBy: 'default',
        p3Failure: null,
        offers: [
          {
            ...OFFER,
            pointer: '/accepts/0',
            maxTimeoutSeconds: 60,
            price: null,
            isTestnet: false,
            client: 'signs',
          },
        ],
      },
    ],
    turns: createOriginTurns({
      ...{ now: () => nowMs, countPaidScans: () => 0 },
      openClient: openFakeClient({ answer: () => '{}' }),
    }),
    onError: (message, error) => {
      throw new Error(message, { cause: error });
    },
    onEvent: (event) => {
      if (event.kind !== 'look') return;
      const second = Math.floor((nowMs - START_MS) / 1_000);
      looksPerSecond.set(second, (looksPerSecond.get(second) ?? 0) + 1);
    },
  });
  // All processes were down for two hours, so every watch is overdue.
  nowMs += 2 * TIMING.hourMs;
  const beganMs = nowMs;
  const cpu = process.cpuUsage();
  for (let second = 0; second < TEST_SECONDS; second += 1) {
    nowMs = beganMs + second * 1_000;
    await watching.tick();
    await watching.idle();
    if (second === 10) expect(watching.lateness.looksMs).toBe(0);
  }
  await watching.stop();
  await store.close();
  const { user, system } = process.cpuUsage(cpu);
  const lookCount = [...looksPerSecond.values()].reduce((sum, count) => sum + count, 0);
  const startSecond = (beganMs - START_MS) / 1_000;
  const sharePerTenMinutes = WATCH_COUNT / 6;
  let looksAtStart = 0;
  for (let second = 0; second < 10; second += 1) {
    looksAtStart += looksPerSecond.get(startSecond + second) ?? 0;
  }
  expect(looksAtStart).toBeGreaterThanOrEqual(WATCH_COUNT);
  for (let from = 10; from + 600 <= TEST_SECONDS; from += 10) {
    let count = 0;
    for (let second = from; second < from + 600; second += 1) {
      count += looksPerSecond.get(startSecond + second) ?? 0;
    }
    expect(count).toBeLessThanOrEqual(1.5 * sharePerTenMinutes);
  }
  console.log(
    `${lookCount} looks, ${((user + system) / 1_000 / lookCount).toFixed(1)} ms of processor time each`,
  );
}, 600_000);
