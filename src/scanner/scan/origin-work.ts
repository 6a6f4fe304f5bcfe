/** Runs our pure functions over origin documents on workers that can be killed. */

import type { Pool } from '../engine/judging-pool.ts';
import type { BudgetName } from '../model/report.ts';
import type { Kit } from '../parse/kit/kit.ts';
import { TaskFault, TaskLimitExceeded } from '../workers/job.ts';
import type { ScanAccount } from '../workers/work-account.ts';

/** A scan's pool, budget and deadlines. */
export type ScanWork = {
  readonly pool: Pool;
  readonly account: ScanAccount;
  /** Aborted when the caller gives up. Work then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Aborted when the scan's time is over. Unfinished work counts as over its limits. */
  readonly deadline?: AbortSignal | undefined;
};

/** A module that only workers load. This thread knows its types only. */
export type WorkModule<Exports> = { readonly href: string; readonly exports?: Exports };

/** `limits`: the documents exceed the limits. `fault`: the work threw twice, which is our defect. */
export type WorkResult<Output> =
  | { readonly ok: true; readonly output: Output }
  | { readonly ok: false; readonly why: 'limits' | 'fault' };

/**
 * Runs a function of a module. Rejects if the pool fails, or with the reason of `signal`. With `kit`, the function gets
 * the kit of the scan too, and the input holds only observations: pass those that the function reads and no others.
 */
export async function runOnWorker<
  Exports,
  Name extends keyof Exports & string,
  HasKit extends boolean = false,
>(
  { pool, account, signal, deadline }: ScanWork,
  budget: BudgetName,
  module: WorkModule<Exports>,
  exportName: Name,
  input: InputOf<Exports[Name], HasKit>,
  options?: { readonly kit: HasKit },
): Promise<WorkResult<OutputOf<Exports[Name]>>> {
  const signals = [signal, deadline].filter((each) => each !== undefined);
  try {
    const output = await pool.run({
      module: module.href,
      exportName,
      input,
      account: account[budget],
      signal: AbortSignal.any(signals),
      kitOf: options?.kit ? account : undefined,
    });
    return { ok: true, output: output as OutputOf<Exports[Name]> }; // the return value, cloned as plain data
  } catch (error) {
    if (error instanceof TaskLimitExceeded) return { ok: false, why: 'limits' };
    if (error instanceof TaskFault) return { ok: false, why: 'fault' };
    if (deadline?.aborted !== true || signal?.aborted === true) throw error;
    // Work that the deadline ended counts as over its limits, and so does all later work on this budget.
    account[budget].exhaust();
    return { ok: false, why: 'limits' };
  }
}

/** `never` if the function needs a kit and gets none. */
export type InputOf<Work, HasKit = false> = Work extends (
  input: infer Input,
  ...kit: KitArgument<HasKit>
) => unknown
  ? Input
  : never;
type KitArgument<HasKit> = HasKit extends true ? [kit: Kit] : [];
type OutputOf<Work> = Work extends (...input: never) => infer Output ? Output : never;

/** The deadline of one stage of a scan. Time that our own queue takes does not count. */
type ScanDeadline = {
  readonly signal: AbortSignal;
  /** True if the stage ended before it had `ms` for itself, because our queue took more than `maxExtensionMs`. */
  isShortened(): boolean;
  /** Releases the timer. The signal is never aborted after that. */
  clear(): void;
};

type DeadlineExtension = {
  /** Time so far in which we delayed the stage. The deadline moves by as much. */
  readonly findDelayMs: () => number;
  /** The deadline moves by at most this much, because the whole scan has a limit too. */
  readonly maxExtensionMs: number;
};

const NO_EXTENSION: DeadlineExtension = { findDelayMs: () => 0, maxExtensionMs: 0 };

/**
 * Aborts after `ms` with a TimeoutError. The timer of `AbortSignal.timeout` cannot be cleared. It would hold
 * its listeners, 17 KiB a scan, long after the scan.
 */
export function createDeadline(
  ms: number,
  { findDelayMs, maxExtensionMs }: DeadlineExtension = NO_EXTENSION,
): ScanDeadline {
  const controller = new AbortController();
  const startedAt = performance.now();
  let isShortened = false;
  const expire = () => {
    const delayMs = findDelayMs();
    const usedMs = performance.now() - startedAt - delayMs;
    const leftMs = ms - usedMs - Math.max(0, delayMs - maxExtensionMs);
    // Timers may be early by less than a millisecond.
    if (delayMs > 0 && leftMs >= 1) {
      timer = setTimeout(expire, leftMs).unref();
      return;
    }
    isShortened = delayMs > maxExtensionMs && usedMs < ms;
    controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
  };
  let timer = setTimeout(expire, ms).unref();
  return {
    signal: controller.signal,
    isShortened: () => isShortened,
    clear: () => clearTimeout(timer),
  };
}
