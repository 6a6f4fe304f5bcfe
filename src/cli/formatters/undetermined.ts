import { idRanges, toCheckLabel } from '../../model/check-phrases.ts';
import type { CheckResult } from '../../model/report.ts';
import { isOpen } from './findings.ts';

/** Undetermined checks with the same reason. */
export type Undetermined = {
  /** "D1 Listing on x402scan (x402scan-registered), D5 Listing on x402.org (x402-org-ecosystem)" */
  readonly names: string;
  readonly why: string;
};

/** The reason of a lookup that `--offline` switched off, as checks give it. */
const OFFLINE = /: not asked, offline \(/;

/** Lists the checks that `--offline` left out, which have a line of their own; null without one. */
export function offlineLine(results: readonly CheckResult[]): string | null {
  const ids = results.filter(isOffline).map(({ id }) => id);
  return ids.length === 0 ? null : `Not checked because of --offline: ${idRanges(ids)}`;
}

function isOffline(result: CheckResult): boolean {
  return isOpen(result) && OFFLINE.test(result.evidence);
}

/** Without those that `--offline` left out. */
export function undeterminedIn(results: readonly CheckResult[]): readonly Undetermined[] {
  const open = results.filter((result) => isOpen(result) && !isOffline(result));
  const byReason = Map.groupBy(open, ({ evidence }) => evidence);
  return [...byReason].map(([why, group]) => ({
    names: group.map(toCheckLabel).join(', '),
    why,
  }));
}
