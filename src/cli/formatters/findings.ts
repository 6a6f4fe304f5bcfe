import type { CheckResult } from '../../model/report.ts';

/** Failures and warnings, without the undetermined ones. */
export function selectFindings(results: readonly CheckResult[]): readonly CheckResult[] {
  return results.filter((result) => result.status !== 'pass' && !isOpen(result));
}

/** True for an undetermined result, which is no fault of the seller. */
export function isOpen({ basis }: Pick<CheckResult, 'basis'>): boolean {
  return basis === 'not_determined';
}

/** Evidence and fix, as two sentences on one line. */
export function findingText({ evidence, fix }: Pick<CheckResult, 'evidence' | 'fix'>): string {
  const seen = evidence.trimEnd();
  return `${seen}${/[.!?…]$/.test(seen) ? '' : '.'} ${fix}`;
}
