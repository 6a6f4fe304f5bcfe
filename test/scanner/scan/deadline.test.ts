/** A deadline aborts on time. A cleared deadline leaves no timer. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createDeadline } from '../../../src/scanner/scan/origin-work.ts';

afterEach(() => {
  vi.useRealTimers();
});

test('a deadline aborts with a TimeoutError', async () => {
  const { signal } = createDeadline(1);
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  expect(signal.reason).toMatchObject({ name: 'TimeoutError' });
});

test('a cleared deadline leaves no timer, and never aborts', () => {
  const countTimers = () =>
    process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  const timersBefore = countTimers();
  const { signal, clear } = createDeadline(60_000);
  clear();
  expect(countTimers()).toBe(timersBefore);
  expect(signal.aborted).toBe(false);
});

describe('a deadline of 10 s that moves by at most 6 s', () => {
  /** Advances the clock until the deadline aborts. Returns the time, and whether the deadline was shortened. */
  function play(findDelayMs: (nowMs: number) => number) {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const startMs = performance.now();
    const sinceStartMs = () => performance.now() - startMs;
    const deadline = createDeadline(10_000, {
      findDelayMs: () => findDelayMs(sinceStartMs()),
      maxExtensionMs: 6_000,
    });
    while (!deadline.signal.aborted) vi.advanceTimersByTime(1);
    return { endedMs: sinceStartMs(), isShortened: deadline.isShortened() };
  }

  test.each<readonly [string, (nowMs: number) => number, number, boolean]>([
    ['without a delay ends after 10 s', () => 0, 10_000, false],
    ['moves by a delay that has ended', () => 4_000, 14_000, false],
    ['moves while a delay goes on', (nowMs) => Math.min(nowMs, 5_000), 15_000, false],
    ['moves by 6 s at most', () => 6_000, 16_000, false],
    ['is shortened by a longer delay', () => 6_001, 16_000, true],
    ['is shortened by a delay without an end', (nowMs) => nowMs, 16_000, true],
  ])('%s', (_, findDelayMs, endedMs, isShortened) => {
    expect(play(findDelayMs)).toEqual({ endedMs, isShortened });
  });
});
