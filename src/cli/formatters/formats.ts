/** The output formats by name; each turns a finished scan into the text of one file. */
import type { CheckResult, ScanReport } from '../../model/report.ts';
import type { ScanTiming } from '../../model/scan-outcome.ts';
import type { Sources } from '../sources.ts';
import { formatCodeQuality } from './codequality.ts';
import type { FormatName } from './format-names.ts';
import { formatGithub } from './github.ts';
import { formatJson } from './json.ts';
import { formatJunit } from './junit.ts';
import { formatMarkdown } from './markdown.ts';
import { formatSarif } from './sarif.ts';
import { formatText } from './text.ts';

export type Printable = {
  readonly report: ScanReport;
  /** The results that `--only` left. */
  readonly printed: readonly CheckResult[];
  /** Set where `--timing` was given. */
  readonly timing: ScanTiming | null;
  /** The file and line of a finding, where `--source` says of what its document is made. */
  readonly locate: Sources['locate'];
  readonly colour: boolean;
  readonly columns: number;
};

export const FORMATS = {
  text: formatText,
  json: formatJson,
  sarif: formatSarif,
  junit: formatJunit,
  markdown: formatMarkdown,
  github: formatGithub,
  codequality: formatCodeQuality,
} as const satisfies Record<FormatName, (scan: Printable) => string>;
