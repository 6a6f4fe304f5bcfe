import type { Task } from './job.ts';
import { openEndlessAccount } from './work-account.ts';

const MEASUREMENTS = 5;
/** Processor time of one: on a machine that takes longer, no limit is of any use. */
const MEASUREMENT_MS = 10_000;

/** Slowness of this machine relative to the one that the limits of processor time were chosen on. */
export function createMachineScale(run: (task: Task) => Promise<unknown>) {
  let scale = 1;
  let measured: Promise<void> | undefined;

  return {
    /** 1 until the machine was measured, and on one that is fast; never less. */
    scale: () => scale,
    /** Measures once. Rejects as `run` does; the next call then measures anew. */
    calibrate(): Promise<void> {
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

/** Processor time of the quickest of some runs of `measure`, ms. */
async function quickestMs(run: (task: Task) => Promise<unknown>): Promise<number> {
  const tookMs: number[] = [];
  for (let time = 0; time < MEASUREMENTS; time += 1) {
    const account = openEndlessAccount('').origin;
    const work = () =>
      ({ modules: [import.meta.url], exportName: measure.name, input: null }) as const;
    await run({ name: 'measure', work, account, cpuMs: MEASUREMENT_MS });
    tookMs.push(account.scanUsedMs());
  }
  return Math.min(...tookMs);
}

/** CPU time of `measure` on the machine that the limits were chosen on, warm, in milliseconds. */
export const REFERENCE_MS = 10;
/** Not even the slowest machine gets more: a budget without end is none. */
export const MAX_SCALE = 8;

const ROWS = 4_000;
const ROUNDS = 4;

/** Does work of the kind that checks do, on a thread. Its result depends on all of it, so no compiler leaves any out. */
export function measure(): number {
  let sum = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const rows = Array.from({ length: ROWS }, (_, at) => ({ path: `/${at}/${round}`, at: [at] }));
    const text = JSON.stringify(rows);
    const parsed: readonly { readonly path: string }[] = JSON.parse(text);
    const known = new Map(parsed.map((row) => [row.path, row]));
    for (let at = 0; at < text.length; at += 1) sum = (sum * 31 + text.charCodeAt(at)) | 0;
    sum += known.size;
  }
  return sum;
}
