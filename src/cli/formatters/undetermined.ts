import type { CheckResult } from '../../model/report.ts';
import { isOpen } from './findings.ts';

/** Undetermined checks with the same reason. */
export type Undetermined = {
  /** "D1 x402scan-registered, D2 x402scan-resources-fresh" */
  readonly names: string;
  readonly why: string;
};

export function undeterminedIn(results: readonly CheckResult[]): readonly Undetermined[] {
  const byReason = Map.groupBy(results.filter(isOpen), ({ evidence }) => evidence);
  return [...byReason].map(([why, group]) => ({
    names: group.map(({ id, title }) => `${id} ${title}`).join(', '),
    why,
  }));
}
