/** A purge is skipped when the wall clock jumped, so that payers do not lose stored answers too early. */
import { expect, test } from 'vitest';
import { PurgeTimer } from '../../../src/service/start/background-work.ts';
import { MEMORY, openSqlite } from '../../../src/service/store/sqlite/store.ts';

const HOUR_MS = 3_600_000;

test.each([
  ['runs after ten hours on both clocks', 10 * HOUR_MS, 10 * HOUR_MS, true],
  ['runs if the clocks differ by an hour', HOUR_MS, 0, true],
  ['is skipped if the wall clock is over an hour ahead', HOUR_MS + 1, 0, false],
  ['is skipped if the wall clock is over an hour behind', -HOUR_MS - 1, 0, false],
  ['is skipped after the machine slept', 10 * HOUR_MS, HOUR_MS, false],
])('a purge %s', async (_case, wallStepMs, monotonicStepMs, isPurged) => {
  let [wallNowMs, monotonicNowMs] = [1_800_000_000_000, 5_000];
  const store = openSqlite(MEMORY, { clock: () => wallNowMs });
  const purgedAtMs: number[] = [];
  const errors: string[] = [];
  const timer = new PurgeTimer({
    store,
    monotonic: () => monotonicNowMs,
    onPurged: (_removed, atMs) => purgedAtMs.push(atMs),
    onError: (message) => errors.push(message),
  });
  wallNowMs += wallStepMs;
  monotonicNowMs += monotonicStepMs;
  await timer.run();
  await store.close();
  expect(purgedAtMs).toEqual(isPurged ? [wallNowMs] : []);
  expect(errors.some((message) => message.startsWith('nothing is purged'))).toBe(!isPurged);
});

test('the timer purges at its start, and does not log the error of a purge that fails after its stop', async () => {
  const errors: string[] = [];
  const purgeStarted = Promise.withResolvers<void>();
  const purgeEnd = Promise.withResolvers<never>();
  const timer = new PurgeTimer({
    store: {
      now: Date.now,
      purge() {
        purgeStarted.resolve();
        return purgeEnd.promise;
      },
    },
    onPurged: () => undefined,
    onError: (message) => errors.push(message),
  });
  timer.start();
  await purgeStarted.promise;
  timer.stop();
  purgeEnd.reject(new Error('the store is closed'));
  await expect(purgeEnd.promise).rejects.toThrow();
  expect(errors).toEqual([]);
});

test('a failed purge is logged and does not throw', async () => {
  const errors: string[] = [];
  const timer = new PurgeTimer({
    store: { now: Date.now, purge: () => Promise.reject(new Error('disk')) },
    onPurged: () => undefined,
    onError: (message) => errors.push(message),
  });
  await timer.run();
  expect(errors).toEqual(['a purge failed, and is tried again']);
});
