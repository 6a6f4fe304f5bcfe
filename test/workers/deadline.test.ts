import type { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { armDeadline, type Expiry } from '../../src/workers/deadline.ts';

const LIMITS = { cpuMs: 1_000, wallMs: 10_000 };
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

function startDeadline(worker: Worker) {
  const expired: { why: Expiry; afterMs: number }[] = [];
  const beganMs = Date.now();
  const disarm = armDeadline(worker, START_CPU, LIMITS, (why) => {
    expired.push({ why, afterMs: Date.now() - beganMs });
  });
  return { expired, disarm };
}

test('a busy thread is ended when its CPU time is used up', async () => {
  const { expired } = startDeadline(threadUsing(1));
  await vi.advanceTimersByTimeAsync(999);
  expect(expired).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(expired).toEqual([{ why: 'cpu', afterMs: 1_000 }]);
});

test('a thread on a slow machine gets the same CPU time, and therefore more wall-clock time', async () => {
  const { expired } = startDeadline(threadUsing(0.25));
  await vi.advanceTimersByTimeAsync(20_000);
  expect(expired).toHaveLength(1);
  expect(expired[0]?.why).toBe('cpu');
  expect(expired[0]?.afterMs).toBeGreaterThanOrEqual(4_000);
  expect(expired[0]?.afterMs).toBeLessThanOrEqual(4_100);
});

test('a thread that gets little CPU time is ended by the wall clock, and its input is not at fault', async () => {
  const { expired } = startDeadline(threadUsing(0.01));
  await vi.advanceTimersByTimeAsync(20_000);
  expect(expired).toEqual([{ why: 'starved', afterMs: 10_000 }]);
});

test('a thread that never reports its CPU time is ended by the wall clock as stuck', async () => {
  const { expired } = startDeadline(threadUsing(null));
  await vi.advanceTimersByTimeAsync(20_000);
  expect(expired).toEqual([{ why: 'stuck', afterMs: 10_000 }]);
});

test('a deadline that is disarmed in time ends no thread', async () => {
  const { expired, disarm } = startDeadline(threadUsing(1));
  await vi.advanceTimersByTimeAsync(500);
  disarm();
  await vi.advanceTimersByTimeAsync(20_000);
  expect(expired).toEqual([]);
  expect(vi.getTimerCount()).toBe(0);
});

test('a thread that cannot report CPU time is ended only by the wall clock', async () => {
  // Threads of Node 24.0 report no CPU time.
  const { expired } = startDeadline({} as unknown as Worker);
  await vi.advanceTimersByTimeAsync(9_999);
  expect(expired).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(expired).toEqual([{ why: 'stuck', afterMs: 10_000 }]);
});
