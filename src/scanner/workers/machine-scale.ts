import type { Task } from './job.ts';
import { openEndlessAccount } from './work-account.ts';

const OWN_MODULE = new URL('./machine-scale.ts', import.meta.url).href;
const MEASUREMENT_COUNT = 5;
/** Limit of processor time for one measurement. */
const MAX_MEASUREMENT_MS = 10_000;

/** Measures how slow this machine is, relative to the machine for which the limits of processor time were chosen. */
export function createMachineScale(run: (task: Task) => Promise<unknown>) {
  let scale = 1;
  let measurement: Promise<void> | undefined;

  return {
    /** Returns 1 before the measurement and on a fast machine, and more on a slow one. */
    getScale: () => scale,
    /** Measures once. Rejects with the error of `run`; the next call then measures again. */
    calibrate(): Promise<void> {
      measurement ??= measureQuickestMs(run).then(
        (tookMs) => {
          scale = Math.min(Math.max(tookMs / REFERENCE_MS, 1), MAX_SCALE);
        },
        (error: unknown) => {
          measurement = undefined;
          throw error;
        },
      );
      return measurement;
    },
  };
}

/** Runs `measure` several times, and returns the processor time of the quickest run, ms. */
async function measureQuickestMs(run: (task: Task) => Promise<unknown>): Promise<number> {
  const timesMs: number[] = [];
  for (let done = 0; done < MEASUREMENT_COUNT; done += 1) {
    const account = openEndlessAccount().origin;
    const work = () => ({ modules: [OWN_MODULE], exportName: 'measure', input: null }) as const;
    await run({ name: 'measure', work, account, cpuMs: MAX_MEASUREMENT_MS });
    timesMs.push(account.scanUsedMs());
  }
  return Math.min(...timesMs);
}

/** Processor time of `measure`, after warm-up, on the machine for which the limits were chosen. */
export const REFERENCE_MS = 10;
/** Greatest factor, because limits must also exist on the slowest machine. */
export const MAX_SCALE = 8;

const ROWS = 4_000;
const ROUNDS = 4;

/** Does work like that of checks. The result depends on all of the work, so the compiler cannot skip any of it. */
export function measure(): number {
  let sum = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const rows = Array.from({ length: ROWS }, (_, at) => ({ path: `/${at}/${round}`, at: [at] }));
    const text = JSON.stringify(rows);
    const parsed: readonly { readonly path: string }[] = JSON.parse(text);
    const byPath = new Map(parsed.map((row) => [row.path, row]));
    for (let at = 0; at < text.length; at += 1) sum = (sum * 31 + text.charCodeAt(at)) | 0;
    sum += byPath.size;
  }
  return sum;
}
