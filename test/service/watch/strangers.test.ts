/** No watch, receiver or caller delays the events, looks and renewals of another. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { DEFAULT_POLICY } from '../../../src/scanner/guard/origin.ts';
import { ScanCoordinator } from '../../../src/service/scans/scan-coordinator.ts';
import { MEMORY, openSqlite } from '../../../src/service/store/sqlite/store.ts';
import { createOriginTurns, NoTurn } from '../../../src/service/turns/origin-turns.ts';
import { toWatchTiming } from '../../../src/service/watch/state.ts';
import { Watching, type WatchingEvent } from '../../../src/service/watch/watching.ts';
import { createFakeScanner } from '../../scanner/scan/fake-scanner.ts';
import { openFakeClient } from '../turns/turn-clients.ts';
import { toSellerScan } from './seller-report.ts';
import { storeWatch, toAgreedWatch, toWaitingDelivery } from './watch-state.ts';
import { HOST, startWatchedApp } from './watched-app.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const START_MS = Date.UTC(2026, 8, 1, 12);
const RESOURCE = { method: 'GET', path: '/weather' };
const STORED_FACTS = JSON.stringify({ facts: {}, resources: [RESOURCE], checksVersion: null });

/** Starts watching on a store in memory. `countPaidScans` is the number of running paid scans. */
function startWatching({
  post = () => '{}',
  countPaidScans = 0,
  refusedDomain,
}: Partial<StartOptions> = {}) {
  const clock = { nowMs: START_MS };
  const store = openSqlite(MEMORY, { clock: () => clock.nowMs });
  const askedHosts: string[] = [];
  const events: WatchingEvent[] = [];
  const slowAnswers = Promise.withResolvers<void>();
  const scanner = createFakeScanner();
  const turns = createOriginTurns({
    ...{ now: () => clock.nowMs, countPaidScans: () => countPaidScans },
    openClient: openFakeClient({
      answer: ({ origin, method }) => (method === 'POST' ? post(origin.host) : null),
    }),
  });
  const watching = new Watching({
    store,
    siteUrl: 'https://scanner.example',
    policy: DEFAULT_POLICY,
    timing: toWatchTiming(),
    scanCoordinator: new ScanCoordinator({ scanner, store, catalogFacts: {} }),
    turns: {
      ask: (request, work) =>
        request.domain === refusedDomain ? Promise.reject(new NoTurn()) : turns.ask(request, work),
    },
    async askResources({ host }, resources) {
      askedHosts.push(host);
      if (host.startsWith('slow')) await slowAnswers.promise;
      return resources.map((resource) => ({ ...resource, kind: 'unknown' }));
    },
    onError: (message, error) => {
      throw new Error(message, { cause: error });
    },
    onEvent: (event) => events.push(event),
  });
  return {
    clock,
    store,
    askedHosts,
    events,
    scanner,
    watching,
    answerSlowHosts: () => slowAnswers.resolve(),
    async [Symbol.asyncDispose]() {
      slowAnswers.resolve();
      await watching.stop(SECOND_MS);
      await store.close();
    },
  };
}

type StartOptions = {
  /** Returns the answer of a receiver. */
  readonly post: (receiver: string) => Promise<string> | string;
  readonly countPaidScans: number;
  /** The requests for watches of this domain wait too long for their turn. */
  readonly refusedDomain: string;
};

async function letWorkSettle(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await nextTurn();
}

test('a receiver of 100 watches that never answers delays no event of another receiver', async () => {
  const postedTo: string[] = [];
  const silence = Promise.withResolvers<void>();
  await using started = startWatching({
    async post(receiver) {
      postedTo.push(receiver);
      if (receiver === 'silent.dev') await silence.promise;
      return '{}';
    },
  });
  const { store, watching, clock } = started;
  const toReceiver = (receiver: string) => ({ receiver, webhook: `https://${receiver}/x` });
  for (let n = 0; n < 100; n += 1) {
    const deliveries = [toWaitingDelivery(START_MS)];
    await storeWatch(
      store,
      toAgreedWatch(`shop${n}.com`, START_MS, { ...toReceiver('silent.dev'), deliveries }),
    );
  }
  void watching.tick();
  await expect.poll(() => postedTo).toEqual(['silent.dev']);
  clock.nowMs += 2_500;
  const deliveries = [toWaitingDelivery(clock.nowMs)];
  await storeWatch(
    store,
    toAgreedWatch('honest.com', START_MS, { ...toReceiver('honest.dev'), deliveries }),
  );
  await watching.tick();
  await expect.poll(() => postedTo).toEqual(['silent.dev', 'honest.dev']);
  silence.resolve();
});

test('a watched domain that gets no turn delays no event of another domain to the same receiver', async () => {
  const postedTo: string[] = [];
  await using started = startWatching({
    refusedDomain: 'costly.com',
    post(receiver) {
      postedTo.push(receiver);
      return '{}';
    },
  });
  const { store, watching, events } = started;
  for (const host of ['costly.com', 'honest.com']) {
    const deliveries = [toWaitingDelivery(START_MS)];
    await storeWatch(store, toAgreedWatch(host, START_MS, { domain: host, deliveries }));
  }
  await watching.tick();
  await watching.idle();
  expect(postedTo).toHaveLength(1);
  expect(events).toEqual([expect.objectContaining({ result: 'delivered' })]);
});

test('slow looks delay no event, and at most four looks run beside a paid scan', async () => {
  await using started = startWatching({ countPaidScans: 1 });
  const { store, watching, clock, askedHosts, events } = started;
  for (let n = 0; n < 6; n += 1) {
    const state = toAgreedWatch(`slow${n}.com`, START_MS, { baseline: `seen_${n}` });
    await storeWatch(store, state, STORED_FACTS);
  }
  clock.nowMs += HOUR_MS;
  void watching.tick();
  await expect.poll(() => askedHosts.length).toBe(4);
  const deliveries = [toWaitingDelivery(clock.nowMs)];
  await storeWatch(store, toAgreedWatch('honest.com', clock.nowMs, { deliveries }));
  await watching.tick();
  await expect.poll(() => events).toEqual([expect.objectContaining({ result: 'delivered' })]);
  expect(askedHosts).toHaveLength(4);
});

test('after a start, each of 200 overdue watches has a look at once, and most have their scan before midnight', async () => {
  await using started = startWatching();
  const { store, watching, clock, askedHosts, scanner } = started;
  for (let n = 0; n < 200; n += 1) {
    const host = `shop${n}.com`;
    const state = toAgreedWatch(host, START_MS, {
      baseline: `seen_${n}`,
      scannedDay: 1,
      readDay: 1e6,
    });
    await storeWatch(store, state, STORED_FACTS);
    scanner.will(host, toSellerScan());
  }
  clock.nowMs = START_MS + 11 * HOUR_MS + 59 * MINUTE_MS + 50 * SECOND_MS;
  await watching.tick();
  await watching.idle();
  // Each watch had its daily scan, or the hourly requests if its scan is not due yet.
  expect(new Set([...scanner.scannedHosts, ...askedHosts]).size).toBe(200);
  expect(scanner.scannedHosts.length).toBeGreaterThan(150);
  await watching.tick();
  expect(watching.lateness.looksMs).toBe(0);
});

test('a look that confirms a suspicion begins before all other looks that are due', async () => {
  await using started = startWatching({ countPaidScans: 1 });
  const { store, watching, clock, askedHosts, answerSlowHosts } = started;
  const suspicions = { payability: { sinceMs: START_MS, by: 'challenge' } } as const;
  for (let n = 0; n < 300; n += 1) {
    const changes = { baseline: `seen_${n}`, nextLookAtMs: START_MS + n };
    await storeWatch(store, toAgreedWatch(`slow${n}.com`, START_MS, changes), STORED_FACTS);
  }
  const changes = { baseline: 'seen', nextLookAtMs: START_MS + HOUR_MS, suspicions };
  await storeWatch(store, toAgreedWatch('slow-victim.com', START_MS, changes), STORED_FACTS);
  clock.nowMs += HOUR_MS;
  void watching.tick();
  await expect.poll(() => askedHosts.length).toBeGreaterThan(0);
  expect(askedHosts[0]).toBe('slow-victim.com');
  answerSlowHosts();
  await letWorkSettle();
});

test('a caller that replaces a watch again and again delays no look of another watch', async () => {
  await using watched = await startWatchedApp();
  watched.answerResource = (resource) => ({ ...resource, kind: 'unreachable' });
  watched.app.scanner.will(HOST, toSellerScan());
  const secret = await watched.startAgreed();
  await watched.startAgreed({ url: 'rival.dev' });
  const readNextLookMs = async () => {
    const { body } = await watched.call('status', secret);
    return Date.parse(String(body['nextLookAt']));
  };
  await watched.advance((await readNextLookMs()) - watched.app.now());
  // The look found the origin unreachable, so a second look confirms this ten minutes later.
  const confirmAtMs = await readNextLookMs();
  expect(confirmAtMs - watched.app.now()).toBeLessThanOrEqual(10 * MINUTE_MS);
  await watched.advance(confirmAtMs - watched.app.now() - 10 * SECOND_MS);
  for (let n = 0; n < 20; n += 1) {
    await watched.watch({ url: 'rival.dev' });
    await watched.settle();
  }
  await watched.advance(Math.max(0, confirmAtMs - watched.app.now()));
  expect(watched.receiver.eventTypes()).toContain('origin.unreachable');
});

test('at most two scans a second of watched hosts begin in one network, even if many names resolve to it', async () => {
  await using watched = await startWatchedApp();
  const beganAtMs: number[] = [];
  const hosts = Array.from({ length: 6 }, (_, n) => `shop${n}.com`);
  for (const [n, host] of hosts.entries()) {
    watched.addresses.set(host, { address: `198.51.100.${n}`, family: 4 });
    watched.app.scanner.will(host, {
      get until() {
        beganAtMs.push(watched.app.now());
        return Promise.resolve();
      },
    });
    await storeWatch(watched.app.store, {
      ...toAgreedWatch(host, watched.app.now(), { scannedDay: null, receiver: `r${n}.dev` }),
      nextLookAtMs: watched.app.now(),
    });
  }
  await watched.settle();
  expect(beganAtMs).toHaveLength(6);
  expect(Math.max(...beganAtMs) - Math.min(...beganAtMs)).toBeGreaterThanOrEqual(SECOND_MS);
});

test.each([
  ['uses the finding of that reading', true],
  ['reads the file itself if that reading has no finding', false],
])(
  'a watch that meets a reading of the token file by another caller %s, and renews itself',
  async (_case, isFound) => {
    await using watched = await startWatchedApp();
    watched.app.scanner.will(HOST, toSellerScan());
    const { token } = await watched.proveControl();
    const secret = (await watched.watch()).body['secret'] ?? '';
    await watched.settle();
    const { store } = watched.app;
    const readStatus = async () => (await watched.call('status', secret)).body;
    // The watch reads the file a minute before midnight. The other caller begins two seconds earlier.
    const toOtherReadingMs = (dayMs: number) => dayMs + DAY_MS - MINUTE_MS - 2 * SECOND_MS;
    const firstDayMs = watched.app.now() - (watched.app.now() % DAY_MS);
    for (let day = 0; day < 31; day += 1) {
      watched.app.advance(toOtherReadingMs(firstDayMs + day * DAY_MS) - watched.app.now());
      const reading = await store.ownership.beginReading(HOST);
      if (isFound && reading.taken) {
        const { hashSecret } = await import('../../../src/service/ownership/token-reader.ts');
        const finding = JSON.stringify({ kind: 'served', textHash: hashSecret(token) });
        await store.ownership.saveFinding(HOST, { beganAtMs: reading.lease.takenAtMs, finding });
      }
      await watched.advance(2 * SECOND_MS);
    }
    const { state, endsAt } = await readStatus();
    expect(state).toBe('active');
    expect(Date.parse(String(endsAt))).toBeGreaterThan(watched.app.now() + 28 * DAY_MS);
  },
);
