/** No watch, receiver or caller delays the events, looks and renewals of another. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { DEFAULT_POLICY } from '../../src/guard/origin.ts';
import { createOriginTurns } from '../../src/limits/origin-turns.ts';
import { createScanCoordinator } from '../../src/scan/scan-coordinator.ts';
import { MEMORY, openSqlite } from '../../src/store/sqlite/store.ts';
import type { PostWebhook } from '../../src/watch/deliveries.ts';
import { createWatching, type WatchingEvent } from '../../src/watch/watching.ts';
import { createFakeScanner } from '../scan/fake-scanner.ts';
import { sells } from './seller-report.ts';
import { stateOf, storeWatch, waitingSince } from './watch-state.ts';
import { HOST, startWatchedApp } from './watched-app.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const START_MS = Date.UTC(2026, 8, 1, 12);
const RESOURCE = { method: 'GET', path: '/weather' };
const STORED_FACTS = JSON.stringify({ facts: {}, resources: [RESOURCE], checksVersion: null });

/** Watches on a store in memory; `runningScans` is the number of running paid scans. */
function startRounds({ postWebhook, runningScans = 0 }: Partial<RoundsOptions> = {}) {
  const clock = { nowMs: START_MS };
  const store = openSqlite(MEMORY, { clock: () => clock.nowMs });
  const asked: string[] = [];
  const events: WatchingEvent[] = [];
  const slow = Promise.withResolvers<void>();
  const scanner = createFakeScanner();
  const watching = createWatching({
    store,
    siteUrl: 'https://scanner.example',
    policy: DEFAULT_POLICY,
    scanCoordinator: createScanCoordinator({ scanner, store, catalogFacts: {} }),
    turns: createOriginTurns({ now: () => clock.nowMs, runningScans: () => runningScans }),
    async askResources({ host }, resources) {
      asked.push(host);
      if (host.startsWith('slow')) await slow.promise;
      return { answers: resources.map((one) => ({ ...one, kind: 'unknown' })), handshakeMs: 0 };
    },
    resolve: async () => ({ kind: 'unreachable', detail: 'no name is resolved here' }),
    fetchToken: async () => ({ kind: 'unusable', reason: 'wrong_status', detail: 'none' }),
    postWebhook: postWebhook ?? (async () => ({ status: 200, retryAfterMs: null, body: '{}' })),
    onError: (message, error) => {
      throw new Error(message, { cause: error });
    },
    onEvent: (event) => events.push(event),
  });
  return {
    clock,
    store,
    asked,
    events,
    scanner,
    watching,
    letSlowEnd: () => slow.resolve(),
    async [Symbol.asyncDispose]() {
      slow.resolve();
      await watching.stop(SECOND_MS);
      await store.close();
    },
  };
}

type RoundsOptions = { readonly postWebhook: PostWebhook; readonly runningScans: number };

async function settled(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await nextTurn();
}

test('a receiver of 100 watches that never answers delays no event of another receiver', async () => {
  const posted: string[] = [];
  const silent = Promise.withResolvers<void>();
  await using rounds = startRounds({
    async postWebhook({ url }) {
      posted.push(new URL(url).host);
      if (url.includes('silent')) await silent.promise;
      return { status: 200, retryAfterMs: null, body: '{}' };
    },
  });
  const { store, watching, clock } = rounds;
  const to = (receiver: string) => ({ receiver, webhook: `https://${receiver}/x` });
  for (let n = 0; n < 100; n += 1) {
    const deliveries = [waitingSince(START_MS)];
    await storeWatch(store, stateOf(`shop${n}.com`, START_MS, { ...to('silent.dev'), deliveries }));
  }
  void watching.tick();
  await expect.poll(() => posted).toEqual(['silent.dev']);
  clock.nowMs += 2_500;
  const deliveries = [waitingSince(clock.nowMs)];
  await storeWatch(store, stateOf('honest.com', START_MS, { ...to('honest.dev'), deliveries }));
  await watching.tick();
  await expect.poll(() => posted).toEqual(['silent.dev', 'honest.dev']);
  silent.resolve();
});

test('long looks delay no event, and four looks run beside a paid scan', async () => {
  await using rounds = startRounds({ runningScans: 1 });
  const { store, watching, clock, asked, events } = rounds;
  for (let n = 0; n < 6; n += 1) {
    const state = stateOf(`slow${n}.com`, START_MS, { baseline: `seen_${n}` });
    await storeWatch(store, state, STORED_FACTS);
  }
  clock.nowMs += HOUR_MS;
  void watching.tick();
  await expect.poll(() => asked.length).toBe(4);
  const deliveries = [waitingSince(clock.nowMs)];
  await storeWatch(store, stateOf('honest.com', clock.nowMs, { deliveries }));
  await watching.tick();
  await expect.poll(() => events).toEqual([expect.objectContaining({ result: 'delivered' })]);
  expect(asked).toHaveLength(4);
});

test("all missed looks begin at once after a start, and the day's scans before midnight", async () => {
  await using rounds = startRounds();
  const { store, watching, clock, asked, scanner } = rounds;
  for (let n = 0; n < 200; n += 1) {
    const host = `shop${n}.com`;
    const state = stateOf(host, START_MS, { baseline: `seen_${n}`, scannedDay: 1, readDay: 1e6 });
    await storeWatch(store, state, STORED_FACTS);
    scanner.will(host, sells());
  }
  clock.nowMs = START_MS + 11 * HOUR_MS + 59 * MINUTE_MS + 50 * SECOND_MS;
  await watching.tick();
  await watching.idle();
  // Each watch had its look: the daily scan, or the hourly requests if the second of its scan is still to come.
  expect(new Set([...scanner.began, ...asked]).size).toBe(200);
  expect(scanner.began.length).toBeGreaterThan(150);
  await watching.tick();
  expect(watching.lateness.looksMs).toBe(0);
});

test('confirming looks begin before all others that are due', async () => {
  await using rounds = startRounds({ runningScans: 1 });
  const { store, watching, clock, asked, letSlowEnd } = rounds;
  const suspicions = { payability: { sinceMs: START_MS, by: 'challenge' } } as const;
  for (let n = 0; n < 300; n += 1) {
    const more = { baseline: `seen_${n}`, nextLookAtMs: START_MS + n };
    await storeWatch(store, stateOf(`slow${n}.com`, START_MS, more), STORED_FACTS);
  }
  const more = { baseline: 'seen', nextLookAtMs: START_MS + HOUR_MS, suspicions };
  await storeWatch(store, stateOf('slow-victim.com', START_MS, more), STORED_FACTS);
  clock.nowMs += HOUR_MS;
  void watching.tick();
  await expect.poll(() => asked.length).toBeGreaterThan(0);
  expect(asked[0]).toBe('slow-victim.com');
  letSlowEnd();
  await settled();
});

test('repeated replacement of a watch delays no look of another', async () => {
  await using watched = await startWatchedApp();
  watched.asked = (resource) => ({ ...resource, kind: 'unreachable' });
  watched.app.scanner.will(HOST, sells());
  const secret = await watched.agreed();
  await watched.agreed({ url: 'rival.dev' });
  const nextLook = async () => {
    const { body } = await watched.call('status', secret);
    return Date.parse(String(body['nextLookAt']));
  };
  await watched.pass((await nextLook()) - watched.app.now());
  // The look found something worse, so it is confirmed ten minutes later.
  const confirmAtMs = await nextLook();
  expect(confirmAtMs - watched.app.now()).toBeLessThanOrEqual(10 * MINUTE_MS);
  await watched.pass(confirmAtMs - watched.app.now() - 10 * SECOND_MS);
  for (let n = 0; n < 20; n += 1) {
    await watched.watch({ url: 'rival.dev' });
    await watched.settle();
  }
  await watched.pass(Math.max(0, confirmAtMs - watched.app.now()));
  expect(watched.receiver.types()).toContain('origin.unreachable');
});

test('scans of looks begin at most twice a second in one network, even if many names resolve there', async () => {
  await using watched = await startWatchedApp();
  const begun: number[] = [];
  const hosts = Array.from({ length: 6 }, (_, n) => `shop${n}.com`);
  for (const [n, host] of hosts.entries()) {
    watched.addresses.set(host, { address: `198.51.100.${n}`, family: 4 });
    watched.app.scanner.will(host, {
      get until() {
        begun.push(watched.app.now());
        return Promise.resolve();
      },
    });
    await storeWatch(watched.app.store, {
      ...stateOf(host, watched.app.now(), { scannedDay: null, receiver: `r${n}.dev` }),
      nextLookAtMs: watched.app.now(),
    });
  }
  await watched.settle();
  expect(begun).toHaveLength(6);
  expect(Math.max(...begun) - Math.min(...begun)).toBeGreaterThanOrEqual(SECOND_MS);
});

test.each([
  ['its finding is used', true],
  ['it ends without a finding, and the watch reads the file after it', false],
])(
  "a stranger's read of the file gives the same result as the watch's: %s",
  async (_case, isFound) => {
    await using watched = await startWatchedApp();
    watched.app.scanner.will(HOST, sells());
    const { token } = await watched.prove();
    const secret = (await watched.watch()).body['secret'] ?? '';
    await watched.settle();
    const { store } = watched.app;
    const status = async () => (await watched.call('status', secret)).body;
    // A minute before midnight the reading of the day is due, and another reading begins first.
    const beforeMidnight = (dayMs: number) => dayMs + DAY_MS - MINUTE_MS - 2 * SECOND_MS;
    const firstDayMs = watched.app.now() - (watched.app.now() % DAY_MS);
    for (let day = 0; day < 31; day += 1) {
      watched.app.advance(beforeMidnight(firstDayMs + day * DAY_MS) - watched.app.now());
      const slot = await store.ownership.beginReading(HOST);
      if (isFound && slot.taken) {
        const { hashSecret } = await import('../../src/ownership/ownership-token.ts');
        const finding = JSON.stringify({ kind: 'served', textHash: hashSecret(token) });
        await store.ownership.saveFinding(HOST, { beganAtMs: slot.atMs, finding });
      }
      await watched.pass(2 * SECOND_MS);
    }
    const { state, endsAt } = await status();
    expect(state).toBe('active');
    expect(Date.parse(String(endsAt))).toBeGreaterThan(watched.app.now() + 28 * DAY_MS);
  },
);
