/** 10,000 watches on one process for a quarter of an hour of the store's time. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { DEFAULT_POLICY } from '../../src/guard/origin.ts';
import { createScanCoordinator } from '../../src/scan/scan-coordinator.ts';
import { MEMORY, openSqlite } from '../../src/store/sqlite/store.ts';
import { findSlotMs, toDay } from '../../src/watch/plan.ts';
import { toVersion, type WatchState } from '../../src/watch/state.ts';
import { toWatchTiming } from '../../src/watch/timing.ts';
import { createWatching } from '../../src/watch/watching.ts';
import { createFakeScanner } from '../scan/fake-scanner.ts';
import { OFFER } from './seller-report.ts';

const WATCHES = 10_000;
const START_MS = Date.UTC(2026, 8, 1, 12);
const SECONDS = 15 * 60;
const TIMING = toWatchTiming();
const RESOURCE = { method: 'GET', path: '/weather' };

function stateOf(host: string): WatchState {
  return {
    host,
    originUrl: `https://${host}`,
    webhook: 'https://hooks.example.com/x',
    receiver: 'hooks.example.com',
    secret: `whsec_${host}`,
    challenge: 'c',
    tokenHash: 't',
    places: [],
    createdAtMs: START_MS,
    agreedAtMs: START_MS,
    endsAtMs: START_MS + TIMING.lifetimeMs,
    endedAtMs: null,
    isEndTold: false,
    nextLookAtMs: findSlotMs(host, START_MS, TIMING),
    scannedDay: toDay(START_MS, TIMING),
    readDay: toDay(START_MS, TIMING),
    scanId: null,
    scannedAtMs: START_MS,
    baseline: `seen_${host}`,
    suspicions: {},
    deliveries: [],
    failedForMs: 0,
  };
}

test('10,000 watches keep to 1.5 × their share in any ten minutes, also after they were all missed', async () => {
  let nowMs = START_MS;
  const store = openSqlite(MEMORY, { clock: () => nowMs });
  const hosts = Array.from({ length: WATCHES }, (_, n) => `shop-${n}.example.com`);
  const text = JSON.stringify({ facts: {}, resources: [RESOURCE], checksVersion: null });
  for (const host of hosts) {
    const state = stateOf(host);
    const texts = [{ id: `seen_${host}`, text }];
    const change = { attempt: randomUUID(), texts, dropped: [] };
    await store.watches.append(toVersion(state, 1, { lookAtMs: state.nextLookAtMs }), change);
  }
  const looks = new Map<number, number>();
  const scanner = createFakeScanner();
  const watching = createWatching({
    store,
    siteUrl: 'https://scanner.example',
    policy: DEFAULT_POLICY,
    timing: TIMING,
    scanCoordinator: createScanCoordinator({ scanner, store, catalogFacts: {} }),
    askResources: async () => [
      {
        ...RESOURCE,
        kind: 'answered',
        payableBy: 'default',
        schemaOutcome: null,
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
    fetchChallenge: async () => ({ kind: 'unusable', reason: 'wrong_status', detail: 'none' }),
    postWebhook: async () => ({ status: 200, retryAfterMs: null, body: '{}' }),
    onError: (message, error) => {
      throw new Error(message, { cause: error });
    },
    onEvent: (event) => {
      if (event.kind !== 'look') return;
      const second = Math.floor((nowMs - START_MS) / 1_000);
      looks.set(second, (looks.get(second) ?? 0) + 1);
    },
  });
  // All processes were down for two hours: every watch is overdue.
  nowMs += 2 * TIMING.hourMs;
  const beganMs = nowMs;
  const cpu = process.cpuUsage();
  let lateMs = 0;
  for (let second = 0; second < SECONDS; second += 1) {
    nowMs = beganMs + second * 1_000;
    await watching.tick();
    await watching.idle();
    if (second > 120) lateMs = Math.max(lateMs, watching.lateness().looksMs);
  }
  await watching.stop();
  await store.close();
  const { user, system } = process.cpuUsage(cpu);
  const all = [...looks.values()].reduce((sum, count) => sum + count, 0);
  const offset = (beganMs - START_MS) / 1_000;
  const share = WATCHES / 6;
  for (let at = 0; at + 600 <= SECONDS; at += 10) {
    let count = 0;
    for (let second = at; second < at + 600; second += 1) count += looks.get(offset + second) ?? 0;
    expect(count).toBeLessThanOrEqual(1.5 * share);
  }
  console.log(
    `${all} looks, ${((user + system) / 1_000 / all).toFixed(1)} ms of processor time each, at most ${lateMs} ms late`,
  );
  expect(all).toBeGreaterThan(share);
}, 600_000);
