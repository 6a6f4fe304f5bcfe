/** Findings to be mended: failures and warnings, without those that could not be observed. */
import type { CheckResult } from '../../model/report.ts';

export function findingsOf(results: readonly CheckResult[]): readonly CheckResult[] {
  return results.filter(({ status, basis }) => status !== 'pass' && basis !== 'not_determined');
}
