import type { BudgetName, ScanReport } from '../../model/report.ts';

const WORDS = {
  origin:
    'Not judged: its documents take more processor time than a scan has. Every check that reads them fails; serve smaller ones.',
  standing:
    'Not judged: what third parties say of it takes more processor time than a scan has. No check of its standing counts.',
} as const satisfies Record<BudgetName, string>;

/** One line for each budget that the scan used up; the checks that depend on it were not judged. */
export function exhaustedLines({
  exhausted = [],
}: Pick<ScanReport, 'exhausted'>): readonly string[] {
  return exhausted.map((name) => WORDS[name]);
}
