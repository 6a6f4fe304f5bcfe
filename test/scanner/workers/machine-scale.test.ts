/** The scale says how much slower a machine is than the reference machine. It is measured once, and is at least one. */
import { expect, test } from 'vitest';
import type { Task } from '../../../src/scanner/workers/job.ts';
import {
  createMachineScale,
  MAX_SCALE,
  REFERENCE_MS,
} from '../../../src/scanner/workers/machine-scale.ts';

/** Each run on this machine takes the next of these times. The last time repeats. */
function createMachine(...timesMs: readonly number[]) {
  const remainingMs = [...timesMs];
  let runs = 0;
  const scale = createMachineScale(async ({ account }: Task) => {
    runs += 1;
    account.charge((remainingMs.length > 1 ? remainingMs.shift() : remainingMs[0]) ?? 0);
  });
  return { ...scale, countRuns: () => runs };
}

test.each([
  ['fast', [REFERENCE_MS / 5], 1],
  ['as fast as the reference', [REFERENCE_MS], 1],
  ['three times as slow in its fastest run', [90, 60, 3 * REFERENCE_MS, 80], 3],
  ['slower than the largest scale', [100 * REFERENCE_MS], MAX_SCALE],
])('the scale of a machine that is %s', async (_case, timesMs, expected) => {
  const machine = createMachine(...timesMs);
  expect(machine.getScale()).toBe(1);
  await machine.calibrate();
  expect(machine.getScale()).toBe(expected);
});

test('a machine is measured once, however many callers ask', async () => {
  const machine = createMachine(REFERENCE_MS);
  await Promise.all([machine.calibrate(), machine.calibrate()]);
  const runs = machine.countRuns();
  await machine.calibrate();
  expect(machine.countRuns()).toBe(runs);
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
