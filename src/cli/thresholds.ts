import { ALL_GRADES, type CheckResult, type Grade, type ScanReport } from '../model/report.ts';
import { UsageError } from './usage.ts';

/** Null members are not asked for. */
export type Thresholds = {
  readonly minGrade: Grade | null;
  readonly minPayable: 'default' | 'settings' | null;
  readonly failOn: 'fail' | 'warn' | null;
};

/** One line for each missed threshold. */
export function missedThresholds(
  report: ScanReport,
  printed: readonly CheckResult[],
  { minGrade, minPayable, failOn }: Thresholds,
): readonly string[] {
  const missed: string[] = [];
  if (minGrade !== null && ALL_GRADES.indexOf(report.grade) > ALL_GRADES.indexOf(minGrade)) {
    missed.push(`grade ${report.grade} is below ${minGrade}`);
  }
  if (minPayable !== null && !isPayable(report, minPayable)) {
    missed.push(`payable by ${report.payableBy ?? 'nobody'} is below ${minPayable}`);
  }
  const offending = printed.filter((result) => offends(result, failOn)).map(({ id }) => id);
  if (offending.length > 0) missed.push(`--fail-on ${failOn}: ${offending.join(', ')}`);
  return missed;
}

/** Unknown payability misses the threshold: a build that sets it wants certainty. */
function isPayable({ payableBy }: ScanReport, least: 'default' | 'settings'): boolean {
  return payableBy === 'default' || payableBy === least;
}

function offends(result: CheckResult, failOn: Thresholds['failOn']): boolean {
  if (failOn === null) return false;
  if (result.status === 'fail') return true;
  // Undetermined results are not a fault of the seller, so builds do not break on them.
  return failOn === 'warn' && result.status === 'warn' && result.basis !== 'not_determined';
}

/** Throws UsageError for a pattern of `--only` that matches no check: a typo must not pass a build. */
export function refuseUnknown(
  only: readonly string[] | null,
  checks: readonly { readonly id: string }[],
): void {
  const unknown = only?.find((pattern) => !checks.some(({ id }) => matches(id, pattern)));
  if (unknown === undefined) return;
  const ids = checks.map(({ id }) => id).join(', ');
  throw new UsageError(`--only ${unknown}: no such check; there are ${ids}`);
}

/** The results that `--only` selects, in the catalog's order. */
export function selectResults(
  results: readonly CheckResult[],
  only: readonly string[] | null,
): readonly CheckResult[] {
  if (only === null) return results;
  return results.filter(({ id }) => only.some((pattern) => matches(id, pattern)));
}

function matches(id: string, pattern: string): boolean {
  return pattern.endsWith('*') ? id.startsWith(pattern.slice(0, -1)) : id === pattern;
}
