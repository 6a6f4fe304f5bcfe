import type { Task } from './task-runner.ts';
import { openEndlessAccount } from './work-account.ts';
import { MAX_SCALE, REFERENCE_MS } from './yardstick.ts';

/** Slowness of this machine relative to the one that the limits of processor time were chosen on. */
export type MachineScale = {
  /** 1 until the machine was measured, and on one that is fast; never less. */
  scale(): number;
  /** Measures once. Rejects as `run` does; the next call then measures anew. */
  calibrate(): Promise<void>;
};

const YARDSTICK = new URL('./yardstick.ts', import.meta.url).href;
const MEASUREMENTS = 5;
/** Processor time of one: on a machine that takes longer, no limit is of any use. */
const MEASUREMENT_MS = 10_000;

export function createMachineScale(run: (task: Task) => Promise<unknown>): MachineScale {
  let scale = 1;
  let measured: Promise<void> | undefined;

  return {
    scale: () => scale,
    calibrate() {
      measured ??= quickestMs(run).then(
        (tookMs) => {
          scale = Math.min(Math.max(tookMs / REFERENCE_MS, 1), MAX_SCALE);
        },
        (error: unknown) => {
          measured = undefined;
          throw error;
        },
      );
      return measured;
    },
  };
}

/** Processor time of the quickest of some runs of the yardstick, ms. */
async function quickestMs(run: (task: Task) => Promise<unknown>): Promise<number> {
  const tookMs: number[] = [];
  for (let time = 0; time < MEASUREMENTS; time += 1) {
    const account = openEndlessAccount('').origin;
    const work = () => ({ modules: [YARDSTICK], exportName: 'measure', input: null }) as const;
    await run({ name: 'measure', work, account, cpuMs: MEASUREMENT_MS });
    tookMs.push(account.scanUsedMs());
  }
  return Math.min(...tookMs);
}
