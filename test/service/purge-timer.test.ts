/** A purge is skipped when the wall clock jumped, so that payers do not lose stored answers too early. */
import { expect, test } from 'vitest';
import { PurgeTimer } from '../../src/service/purge-timer.ts';
import { MEMORY, openSqlite } from '../../src/store/sqlite/store.ts';

const HOUR_MS = 3_600_000;

test.each([
  ['runs after ten hours on both clocks', 10 * HOUR_MS, 10 * HOUR_MS, true],
  ['runs if the clocks differ by an hour', HOUR_MS, 0, true],
  ['is skipped if the wall clock is over an hour ahead', HOUR_MS + 1, 0, false],
  ['is skipped if the wall clock is over an hour behind', -HOUR_MS - 1, 0, false],
  ['is skipped after the machine slept', 10 * HOUR_MS, HOUR_MS, false],
])('a purge %s', async (_what, wallMs, monotonicMs, isPurged) => {
  let [nowMs, ticks] = [1_800_000_000_000, 5_000];
  const store = openSqlite(MEMORY, { clock: () => nowMs });
  const purged: number[] = [];
  const troubles: string[] = [];
  const timer = new PurgeTimer({
    store,
    monotonic: () => ticks,
    onPurged: (_removed, atMs) => purged.push(atMs),
    onError: (message) => troubles.push(message),
  });
  nowMs += wallMs;
  ticks += monotonicMs;
  await timer.run();
  await store.close();
  expect(purged).toEqual(isPurged ? [nowMs] : []);
  expect(troubles.some((message) => message.startsWith('nothing is purged'))).toBe(!isPurged);
});

test('the first purge runs at the start, and an error after the stop is not logged', async () => {
  const troubles: string[] = [];
  const started = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<never>();
  const timer = new PurgeTimer({
    store: {
      now: Date.now,
      purge() {
        started.resolve();
        return closed.promise;
      },
    },
    onPurged: () => undefined,
    onError: (message) => troubles.push(message),
  });
  timer.start();
  await started.promise;
  timer.stop();
  closed.reject(new Error('the store is closed'));
  await expect(closed.promise).rejects.toThrow();
  expect(troubles).toEqual([]);
});

test('a failed purge is logged and does not throw', async () => {
  const troubles: string[] = [];
  const timer = new PurgeTimer({
    store: { now: Date.now, purge: () => Promise.reject(new Error('disk')) },
    onPurged: () => undefined,
    onError: (message) => troubles.push(message),
  });
  await timer.run();
  expect(troubles).toEqual(['a purge failed, and is tried again']);
});
