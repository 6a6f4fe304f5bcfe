/** What is to be mended: failures and warnings, without what nobody could observe. */
import type { CheckResult } from '../../model/report.ts';

export function findingsOf(results: readonly CheckResult[]): readonly CheckResult[] {
  return results.filter(({ status, basis }) => status !== 'pass' && basis !== 'not_determined');
}
