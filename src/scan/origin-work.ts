/** Runs our pure functions over origin documents on workers that can be killed. */

import type { Pool } from '../engine/judging-pool.ts';
import type { BudgetName } from '../model/report.ts';
import { TaskFault, TaskLimitExceeded } from '../workers/errors.ts';
import type { ScanAccount } from '../workers/work-account.ts';

/** A scan's pool, budget and deadlines. */
export type ScanWork = {
  readonly pool: Pool;
  readonly account: ScanAccount;
  /** Aborted when the caller gives up; work rejects with its reason. */
  readonly signal?: AbortSignal | undefined;
  /** Aborted when the scan's time is over; unfinished work counts as over its limits. */
  readonly deadline?: AbortSignal | undefined;
};

/** A module that only workers load; this thread knows its types. */
export type WorkModule<Exports> = { readonly href: string; readonly exports?: Exports };

/** `limits`: the documents exceed the limits. `fault`: it threw twice, which is our defect. */
export type Worked<Output> =
  | { readonly ok: true; readonly output: Output }
  | { readonly ok: false; readonly why: 'limits' | 'fault' };

/** Rejects when the failure is ours whatever the documents are, or with the caller's reason. */
export async function workOn<Exports, Name extends keyof Exports & string>(
  { pool, account, signal, deadline }: ScanWork,
  budget: BudgetName,
  module: WorkModule<Exports>,
  exportName: Name,
  input: InputOf<Exports[Name]>,
): Promise<Worked<OutputOf<Exports[Name]>>> {
  const ends = [signal, deadline].filter((one) => one !== undefined);
  try {
    const answer = await pool.run({
      module: module.href,
      exportName,
      input,
      account: account[budget],
      signal: AbortSignal.any(ends),
    });
    return { ok: true, output: answer as OutputOf<Exports[Name]> }; // what it returned, cloned: plain data
  } catch (error) {
    if (error instanceof TaskLimitExceeded) return { ok: false, why: 'limits' };
    if (error instanceof TaskFault) return { ok: false, why: 'fault' };
    if (deadline?.aborted !== true || signal?.aborted === true) throw error;
    account[budget].exhaust();
    return { ok: false, why: 'limits' };
  }
}

type InputOf<Work> = Work extends (input: infer Input) => unknown ? Input : never;
type OutputOf<Work> = Work extends (input: never) => infer Output ? Output : never;
