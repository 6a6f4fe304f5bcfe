/** The time in which tasks of a scan wait for threads, and which part of it is our fault. */
import { beforeEach, expect, test, vi } from 'vitest';
import { openScanAccount } from '../../../src/scanner/workers/work-account.ts';

const BUDGETS = { origin: 5_000, standing: 2_500, lightMs: 500 };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  return () => void vi.useRealTimers();
});

test('waits of tasks that overlap count once, and a wait counts until it ends', () => {
  const account = openScanAccount('scan', BUDGETS);
  const endFirst = account.origin.startWait();
  vi.advanceTimersByTime(1_000);
  const endSecond = account.standing.startWait();
  vi.advanceTimersByTime(1_000);
  endFirst();
  endFirst();
  vi.advanceTimersByTime(1_000);
  expect(account.delayedMs()).toBe(3_000);
  endSecond();
  vi.advanceTimersByTime(1_000);
  expect(account.delayedMs()).toBe(3_000);
});

test.each([
  [499, 1_000],
  [500, 0],
])(
  'a scan that has used %i ms of processor time is delayed by us for %i ms',
  (usedMs, delayedMs) => {
    const account = openScanAccount('scan', BUDGETS);
    account.origin.charge(usedMs);
    account.origin.startWait();
    vi.advanceTimersByTime(1_000);
    expect(account.delayedMs()).toBe(delayedMs);
  },
);
