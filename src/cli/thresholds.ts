/** Whether a finished scan misses a threshold that the caller set. */
import type { CheckResult, Grade, ScanReport } from '../model/report.ts';
import type { ScanOptions } from './scan-options.ts';

const ORDER: readonly Grade[] = ['A', 'B', 'C', 'D', 'F'];

/** What was missed, one line each; empty where nothing was. */
export function missedThresholds(
  report: ScanReport,
  printed: readonly CheckResult[],
  { minGrade, minPayable, failOn }: Pick<ScanOptions, 'minGrade' | 'minPayable' | 'failOn'>,
): readonly string[] {
  const missed: string[] = [];
  if (minGrade !== null && ORDER.indexOf(report.grade) > ORDER.indexOf(minGrade)) {
    missed.push(`grade ${report.grade} is below ${minGrade}`);
  }
  if (minPayable !== null && !isPayable(report, minPayable)) {
    missed.push(`payable by ${report.payableBy ?? 'nobody'} is below ${minPayable}`);
  }
  const offending = printed.filter((result) => offends(result, failOn)).map(({ id }) => id);
  if (offending.length > 0) missed.push(`--fail-on ${failOn}: ${offending.join(', ')}`);
  return missed;
}

/** What is not known is not enough: a build asks for it to be sure. */
function isPayable({ payableBy }: ScanReport, least: 'default' | 'settings'): boolean {
  return payableBy === 'default' || payableBy === least;
}

function offends(result: CheckResult, failOn: ScanOptions['failOn']): boolean {
  if (failOn === null) return false;
  if (result.status === 'fail') return true;
  // Results that could not be observed are no fault of the seller: builds must not break on them.
  return failOn === 'warn' && result.status === 'warn' && result.basis !== 'not_determined';
}
