import type { Observations } from '../model/observations.ts';
import type { CheckResult } from '../model/report.ts';
import { notEvaluated, type Verdict } from '../model/verdict.ts';
import { cleanText } from '../parse/text/text.ts';
import { EngineFault } from '../workers/job.ts';
import type { ScanAccount } from '../workers/work-account.ts';
import type { Catalog, CatalogCheck } from './catalog/catalog.ts';
import type { DiscoveredCheck } from './catalog/discover-checks.ts';
import { isStandingCheck, type Pool, selectObservations, toBudgetVerdict } from './judging-pool.ts';

export type CheckRun = {
  readonly catalog: Pick<Catalog, 'checks' | 'checksVersion'>;
  readonly checks: readonly DiscoveredCheck[];
  readonly observations: Observations;
  readonly pool: Pool;
  readonly account: ScanAccount;
  /** Aborted when the caller gives up; the run then rejects. */
  readonly signal?: AbortSignal | undefined;
  /** Aborted when the scan's time is over. Checks that are not judged by then get a `limits` verdict. */
  readonly deadline?: AbortSignal | undefined;
};

export type CheckVerdict = {
  readonly entry: CatalogCheck;
  readonly isStanding: boolean;
  readonly requires: readonly string[];
  readonly verdict: Verdict;
};

/** A dependent check repeats at most this much of the root cause's evidence. */
const MAX_CAUSE_CHARS = 160;

/**
 * Returns one verdict for each check, in catalog order. Rejects with EngineFault when the fault is ours,
 * or with the signal's reason; all tasks have ended by then.
 */
export async function runChecks(options: CheckRun): Promise<readonly CheckVerdict[]> {
  const { catalog, checks, signal, deadline } = options;
  const byImpl = new Map(checks.map((check) => [check.impl, check]));
  // One broken thread invalidates the report, so the other checks are aborted.
  const brokenRun = new AbortController();

  const entries = catalog.checks.map((entry) => {
    const check = byImpl.get(entry.impl);
    if (!check) throw new EngineFault(`${entry.impl} of ${catalog.checksVersion} is not loaded.`);
    return { entry, check };
  });
  const stopSignals = [brokenRun.signal, signal, deadline].filter((each) => each !== undefined);
  const stopSignal = AbortSignal.any(stopSignals);
  const tasks = entries.map(async ({ entry, check }): Promise<CheckVerdict> => {
    const { requires } = check.definition;
    const isStanding = isStandingCheck(check.definition);
    const verdict = await runCheck(check, isStanding, brokenRun.signal, stopSignal, options);
    return { entry, isStanding, requires, verdict };
  });
  try {
    return await Promise.all(tasks);
  } catch (error) {
    brokenRun.abort(error);
    await Promise.allSettled(tasks);
    throw error;
  }
}

async function runCheck(
  check: DiscoveredCheck,
  isStanding: boolean,
  brokenRun: AbortSignal,
  stopSignal: AbortSignal,
  { observations, pool, account, signal, deadline }: CheckRun,
): Promise<Verdict> {
  const budget = isStanding ? account.standing : account.origin;
  // Judging is skipped, because `toResults` would replace the verdict.
  if (budget.isSpent()) return toBudgetVerdict(isStanding);
  try {
    const seen = selectObservations(observations, check.definition.needs);
    return await pool.runCheck(check, seen, account, stopSignal);
  } catch (error) {
    const isLate = deadline?.aborted === true && !brokenRun.aborted && signal?.aborted !== true;
    if (!isLate) throw error;
    // All checks of this budget then get the same verdict (`toResults`).
    budget.exhaust();
    return toBudgetVerdict(isStanding);
  }
}

/**
 * Returns the results of a finished scan. If a budget is spent, all its checks fail, judged checks included.
 * Otherwise results would depend on timing, and sellers could choose which checks are judged.
 */
export function toResults(
  judged: readonly CheckVerdict[],
  account: ScanAccount,
): readonly CheckResult[] {
  const byId = new Map(judged.map((check) => [check.entry.id, check]));
  return judged.map((check) => {
    const { id, title, category, severity } = check.entry;
    return { id, title, category, severity, ...decideVerdict(check, byId, account) };
  });
}

type ChecksById = ReadonlyMap<string, CheckVerdict>;

function decideVerdict(check: CheckVerdict, byId: ChecksById, account: ScanAccount): Verdict {
  const budget = check.isStanding ? account.standing : account.origin;
  if (budget.isSpent()) return toBudgetVerdict(check.isStanding);
  const root = findFailedRoot(check, byId);
  return root === null ? check.verdict : toDependentVerdict(root);
}

/** Follows the first failed entry of `requires` to the check that made it fail; null if no entry failed. */
function findFailedRoot({ requires }: CheckVerdict, byId: ChecksById): CheckVerdict | null {
  for (const id of requires) {
    const prerequisite = byId.get(id);
    if (prerequisite === undefined) continue;
    const root = findFailedRoot(prerequisite, byId);
    if (root !== null) return root;
    if (prerequisite.verdict.status === 'fail') return prerequisite;
  }
  return null;
}

/** A check whose prerequisite failed is not evaluated. Its evidence names the root cause. */
function toDependentVerdict({ entry, verdict }: CheckVerdict): Verdict {
  const evidence = cleanText(verdict.evidence, MAX_CAUSE_CHARS);
  return notEvaluated(
    entry.id,
    `${entry.title} failed: ${evidence}`,
    `First correct what ${entry.id} names, then scan again: ${verdict.fix}`,
  );
}
