/** Runs our pure functions over origin documents on workers that can be killed. */

import type { Pool } from '../engine/judging-pool.ts';
import type { ObservationName, Observations } from '../model/observations.ts';
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

/** A function of (observations, kit) that only workers load. */
export type Reader<Exports, Name extends keyof Exports & string> = {
  readonly module: WorkModule<Exports>;
  readonly exportName: Name;
  /** The observations that the function reads. No others are sent to the worker. */
  readonly needs: Readonly<Record<keyof ObservationsFor<Exports[Name]>, true>>;
  readonly budget: BudgetName;
};

/** Runs a reader with the kit of the scan. Rejects as `runOnWorker` does. */
export function readOnWorker<Exports, Name extends keyof Exports & string>(
  work: ScanWork,
  { module, exportName, needs, budget }: Reader<Exports, Name>,
  observations: ObservationsFor<Exports[Name]> & Partial<Observations>,
): Promise<WorkResult<OutputOf<Exports[Name]>>> {
  const names = Object.keys(needs) as ObservationName[]; // Object.keys loses the key type
  const reader = { module: module.href, exportName, needs: names, budget };
  return runWithinLimits(work, budget, (signal) =>
    work.pool.runReader(reader, observations, work.account, signal),
  );
}

/** Runs a function of a module. Rejects if the pool fails, or with the reason of `signal`. */
export function runOnWorker<Exports, Name extends keyof Exports & string>(
  work: ScanWork,
  budget: BudgetName,
  module: WorkModule<Exports>,
  exportName: Name,
  input: InputOf<Exports[Name]>,
): Promise<WorkResult<OutputOf<Exports[Name]>>> {
  const task = { module: module.href, exportName, input, account: work.account[budget] };
  return runWithinLimits(work, budget, (signal) => work.pool.run({ ...task, signal }));
}

async function runWithinLimits<Output>(
  { account, signal, deadline }: ScanWork,
  budget: BudgetName,
  run: (signal: AbortSignal) => Promise<unknown>,
): Promise<WorkResult<Output>> {
  const signals = [signal, deadline].filter((each) => each !== undefined);
  try {
    const output = await run(AbortSignal.any(signals));
    return { ok: true, output: output as Output }; // the function's return value, cloned as plain data
  } catch (error) {
    if (error instanceof TaskLimitExceeded) return { ok: false, why: 'limits' };
    if (error instanceof TaskFault) return { ok: false, why: 'fault' };
    if (deadline?.aborted !== true || signal?.aborted === true) throw error;
    account[budget].exhaust();
    return { ok: false, why: 'limits' };
  }
}

type InputOf<Work> = Work extends (input: infer Input) => unknown ? Input : never;
type ObservationsFor<Read> = Read extends (needed: infer Needed, kit: Kit) => unknown
  ? Needed
  : never;
type OutputOf<Work> = Work extends (...input: never) => infer Output ? Output : never;
