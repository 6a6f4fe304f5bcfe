import {
  ALL_GRADES,
  type CheckResult,
  type Grade,
  type ScanReport,
} from '../scanner/model/report.ts';
import { UsageError } from './usage.ts';

/** A null member sets no threshold. */
export type Thresholds = {
  readonly minGrade: Grade | null;
  readonly minPayable: 'default' | 'settings' | null;
  readonly failOn: 'fail' | 'warn' | null;
};

/** Returns one line for each missed threshold. */
export function listMissedThresholds(
  report: ScanReport,
  printed: readonly CheckResult[],
  { minGrade, minPayable, failOn }: Thresholds,
): readonly string[] {
  const lines: string[] = [];
  if (minGrade !== null && ALL_GRADES.indexOf(report.grade) > ALL_GRADES.indexOf(minGrade)) {
    lines.push(`grade ${report.grade} is below ${minGrade}`);
  }
  if (minPayable !== null && !isPayable(report, minPayable)) {
    lines.push(`payable by ${report.payableBy ?? 'nobody'} is below ${minPayable}`);
  }
  const offendingIds = printed.filter((result) => isOffending(result, failOn)).map(({ id }) => id);
  if (offendingIds.length > 0) lines.push(`--fail-on ${failOn}: ${offendingIds.join(', ')}`);
  return lines;
}

/** Unknown payability misses the threshold, because a build with this threshold needs certainty. */
function isPayable({ payableBy }: ScanReport, minPayable: 'default' | 'settings'): boolean {
  return payableBy === 'default' || payableBy === minPayable;
}

function isOffending(result: CheckResult, failOn: Thresholds['failOn']): boolean {
  if (failOn === null) return false;
  if (result.status === 'fail') return true;
  // An undetermined result is not a fault of the seller, so it must not break a build.
  return failOn === 'warn' && result.status === 'warn' && result.basis !== 'not_determined';
}

/** Throws UsageError for a pattern of `--only` that matches no check, because a typo must not pass a build. */
export function refuseUnknownPattern(
  only: readonly string[] | null,
  checks: readonly { readonly id: string }[],
): void {
  const unknownPattern = only?.find((pattern) => !checks.some(({ id }) => matches(id, pattern)));
  if (unknownPattern === undefined) return;
  const ids = checks.map(({ id }) => id).join(', ');
  throw new UsageError(`--only ${unknownPattern}: no such check; there are ${ids}`);
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
