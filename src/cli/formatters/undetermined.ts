import { toCheckLabel } from '../../model/check-phrases.ts';
import type { CheckResult } from '../../model/report.ts';
import { isOpen } from './findings.ts';

/** Undetermined checks with the same reason. */
export type Undetermined = {
  /** "D1 Listing on x402scan (x402scan-registered), D5 Listing on x402.org (x402-org-ecosystem)" */
  readonly names: string;
  readonly why: string;
};

export function undeterminedIn(results: readonly CheckResult[]): readonly Undetermined[] {
  const byReason = Map.groupBy(results.filter(isOpen), ({ evidence }) => evidence);
  return [...byReason].map(([why, group]) => ({
    names: group.map(toCheckLabel).join(', '),
    why,
  }));
}
