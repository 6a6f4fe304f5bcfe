import type { CheckResult } from '../../model/report.ts';

/** Findings to be mended: failures and warnings, without those that could not be observed. */
export function findingsOf(results: readonly CheckResult[]): readonly CheckResult[] {
  return results.filter((result) => result.status !== 'pass' && !isOpen(result));
}

/** Could not be observed, which is no fault of the seller. */
export function isOpen({ basis }: Pick<CheckResult, 'basis'>): boolean {
  return basis === 'not_determined';
}

/** What was seen and what to do, as two sentences on one line. */
export function findingText({ evidence, fix }: Pick<CheckResult, 'evidence' | 'fix'>): string {
  const seen = evidence.trimEnd();
  return `${seen}${/[.!?…]$/.test(seen) ? '' : '.'} ${fix}`;
}
