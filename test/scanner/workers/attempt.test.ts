import type { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Attempt } from '../../../src/scanner/workers/attempt.ts';

const LIMITS = { startMs: 60_000, cpuMs: 1_000, wallMs: 10_000, onStarted: () => {} };
const OUT_OF_TIME = { kind: 'limit', limit: 'time' };
const START_CPU = { user: 0, system: 0 };

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Returns a thread that uses this share of a core. With null, the thread never reports its CPU time. */
function threadUsing(share: number | null): Worker {
  const beganMs = Date.now();
  const usedMicros = () => (Date.now() - beganMs) * 1_000 * (share ?? 0);
  const cpuUsage = () =>
    share === null ? new Promise(() => {}) : Promise.resolve({ user: usedMicros(), system: 0 });
  // A deadline uses only these members of a thread.
  return { cpuUsage } as unknown as Worker;
}

function startTask(worker: Worker) {
  const expired: { failure: unknown; afterMs: number }[] = [];
  const beganMs = Date.now();
  const attempt = new Attempt(LIMITS);
  attempt.killSignal.addEventListener('abort', () => {
    const { cpuMs: _, ...failure } = attempt.toAnswer(null);
    expired.push({ failure, afterMs: Date.now() - beganMs });
  });
  attempt.start(worker, START_CPU);
  return { expired, attempt };
}

test('a busy thread is ended when its CPU time is used up', async () => {
  const { expired } = startTask(threadUsing(1));
  await vi.advanceTimersByTimeAsync(999);
  expect(expired).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(expired).toEqual([{ failure: OUT_OF_TIME, afterMs: 1_000 }]);
});

test('a thread on a slow machine gets the same CPU time, and therefore more wall-clock time', async () => {
  const { expired } = startTask(threadUsing(0.25));
  await vi.advanceTimersByTimeAsync(20_000);
  expect(expired).toHaveLength(1);
  expect(expired[0]?.failure).toEqual(OUT_OF_TIME);
  expect(expired[0]?.afterMs).toBeGreaterThanOrEqual(4_000);
  expect(expired[0]?.afterMs).toBeLessThanOrEqual(4_100);
});

test('a thread that gets little CPU time is ended by the wall clock, and its input is not at fault', async () => {
  const { expired } = startTask(threadUsing(0.01));
  await vi.advanceTimersByTimeAsync(20_000);
  expect(expired).toEqual([
    { failure: expect.objectContaining({ kind: 'thread-failed' }), afterMs: 10_000 },
  ]);
});

test('a thread that never reports its CPU time is ended by the wall clock, and its input is at fault', async () => {
  const { expired } = startTask(threadUsing(null));
  await vi.advanceTimersByTimeAsync(20_000);
  expect(expired).toEqual([{ failure: OUT_OF_TIME, afterMs: 10_000 }]);
});

test('a task that ends in time leaves no timer, and its thread lives', async () => {
  const { expired, attempt } = startTask(threadUsing(1));
  await vi.advanceTimersByTimeAsync(500);
  attempt.stopTimers();
  await vi.advanceTimersByTimeAsync(20_000);
  expect(expired).toEqual([]);
  expect(vi.getTimerCount()).toBe(0);
});

test('a thread that cannot report CPU time is ended only by the wall clock', async () => {
  // Threads of Node 24.0 report no CPU time.
  const { expired } = startTask({} as unknown as Worker);
  await vi.advanceTimersByTimeAsync(9_999);
  expect(expired).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(expired).toEqual([{ failure: OUT_OF_TIME, afterMs: 10_000 }]);
});

test('a thread that does not start in time is not charged', async () => {
  const attempt = new Attempt(LIMITS);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(attempt.killSignal.aborted).toBe(true);
  expect(attempt.toAnswer(null)).toEqual({
    kind: 'thread-failed',
    detail: 'the thread did not start',
    cpuMs: 0,
  });
});
