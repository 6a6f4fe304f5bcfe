/** What every output format is given: the scan, and how the caller wants it shown. */
import type { CheckResult, ScanReport } from '../../model/report.ts';
import type { ScanTiming } from '../../model/scan-outcome.ts';
import type { Sources } from '../sources.ts';

export type Printable = {
  readonly report: ScanReport;
  /** The results that `--only` left. */
  readonly printed: readonly CheckResult[];
  /** By check id, the sentence that says what is right. */
  readonly rules: ReadonlyMap<string, string>;
  /** What the resource that was named beside the origin answers; null where none was. */
  readonly named: string | null;
  /** Set where `--timing` was given. */
  readonly timing: ScanTiming | null;
  /** The file and line of a finding, where `--source` says of what its document is made. */
  readonly locate: Sources['locate'];
  readonly colour: boolean;
  readonly columns: number;
};
