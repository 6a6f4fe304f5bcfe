import type { CheckResult, ScanReport } from '../../model/report.ts';
import type { ScanTiming } from '../../model/scan-outcome.ts';
import type { Sources } from '../sources.ts';

export type Printable = {
  readonly report: ScanReport;
  /** The results that `--only` selects. */
  readonly printed: readonly CheckResult[];
  /** The rule of each check in one sentence, by id. */
  readonly rules: ReadonlyMap<string, string>;
  /** The answer of the resource in `<origin>`, in one sentence; null for an origin alone. */
  readonly named: string | null;
  /** Set where `--timing` was given. */
  readonly timing: ScanTiming | null;
  /** Finds the file and line of a finding by the `--source` pairs. */
  readonly locate: Sources['locate'];
  readonly colour: boolean;
  readonly columns: number;
};
