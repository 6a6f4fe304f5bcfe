/** A machine is measured once, when a task is ended early or a service warms up. Its scale is never below one. */
import { expect, test } from 'vitest';
import type { Task } from '../../src/workers/job.ts';
import { createMachineScale, MAX_SCALE, REFERENCE_MS } from '../../src/workers/machine-scale.ts';

/** Each run takes the next of these times. The last time repeats. */
function machine(...timesMs: readonly number[]) {
  const left = [...timesMs];
  let runs = 0;
  const scale = createMachineScale(async ({ account }: Task) => {
    runs += 1;
    account.charge((left.length > 1 ? left.shift() : left[0]) ?? 0);
  });
  return { ...scale, runs: () => runs };
}

test.each([
  ['fast', [REFERENCE_MS / 5], 1],
  ['as fast as the reference', [REFERENCE_MS], 1],
  ['three times as slow, apart from the first compilation', [90, 60, 3 * REFERENCE_MS, 80], 3],
  ['slower than any limit', [100 * REFERENCE_MS], MAX_SCALE],
])('the scale of a machine that is %s', async (_, timesMs, expected) => {
  const slow = machine(...timesMs);
  expect(slow.getScale()).toBe(1);
  await slow.calibrate();
  expect(slow.getScale()).toBe(expected);
});

test('a machine is measured once, however many callers ask', async () => {
  const one = machine(REFERENCE_MS);
  await Promise.all([one.calibrate(), one.calibrate()]);
  const runs = one.runs();
  await one.calibrate();
  expect(one.runs()).toBe(runs);
});

test('a machine is measured anew if the measurement failed', async () => {
  let fails = true;
  const scale = createMachineScale(async ({ account }) => {
    if (fails) throw new Error('closed');
    account.charge(2 * REFERENCE_MS);
  });
  await expect(scale.calibrate()).rejects.toThrow('closed');
  fails = false;
  await scale.calibrate();
  expect(scale.getScale()).toBe(2);
});
