/** Findings of a scan or a pay-test, in the shape that all machine-readable formats share. */
import type { CheckResult, NamedPath, ScanTiming, Severity } from '../../scanner/model/report.ts';
import { groupByRootCause } from '../../scanner/model/verdict.ts';
import { formatUnevaluated } from '../../scanner/report/check-phrases.ts';
import type { NamedReport } from '../ask-url.ts';
import { README_FILE, type Repository, type SourceLocation, type Sources } from '../sources.ts';

export type PrintedFinding = {
  readonly id: string;
  /** "P6 price-in-headers" */
  readonly name: string;
  /** The name; for a trial, followed by its route. */
  readonly label: string;
  /** Category of a check, or route of a trial. */
  readonly group: string;
  /** The `type` of a failure in JUnit. */
  readonly kind: string;
  /** JUnit shows a warning as a passed case. */
  readonly status: 'pass' | 'warn' | 'fail' | 'skipped';
  /** Severity of a failure or a warning. */
  readonly severity: Severity | 'info';
  readonly text: string;
  /** With a path from the root of the repository; null for a finding about no file. */
  readonly location: SourceLocation | null;
  /** Tells findings of one id apart. It excludes the evidence, which may change from run to run. */
  readonly identity: string;
  readonly properties: object;
};

export type Findings = {
  readonly tool: { readonly name: string; readonly version?: string };
  /** "x402 conformance" */
  readonly title: string;
  /** Origin of the seller. */
  readonly target: string;
  readonly headline: string;
  /** ISO 8601. */
  readonly timestamp?: string;
  /** Properties of the whole run, for SARIF. */
  readonly sarifProperties: object;
  /** Properties of the whole run, for JUnit. */
  readonly junitProperties: readonly (readonly [name: string, value: string])[];
  /** Name of the fingerprint in SARIF. */
  readonly fingerprintName: string;
  readonly rules: readonly {
    readonly id: string;
    readonly name: string;
    readonly description: string;
    readonly help: string;
    readonly properties?: object;
  }[];
  readonly items: readonly PrintedFinding[];
  /** The answer of the path that the caller names; absent if there is none. */
  readonly named?: NamedPath | undefined;
  /** The file that defines the running pipeline; null if there is none. */
  readonly pipelineFile: string | null;
};

/** A finished scan and its output settings: the input of each format. */
export type PrintableScan = {
  /** With `named` if `<origin>` names a resource. */
  readonly report: NamedReport;
  /** The results that `--only` selects. */
  readonly printed: readonly CheckResult[];
  /** The newest catalog here, and the one by which the service judges. */
  readonly catalogs: { readonly newest: string; readonly service: string };
  /** The rule of each check in one sentence, by id. */
  readonly rules: ReadonlyMap<string, string>;
  /** Set if `--timing` was given. */
  readonly timing: ScanTiming | null;
  /** Finds the file and line of a finding by the `--source` pairs. */
  readonly locate: Sources['locate'];
  readonly repository: Repository;
  readonly hasColours: boolean;
  readonly columns: number;
};

export function isProblem({ status }: { readonly status: string }): boolean {
  return status === 'fail' || status === 'warn';
}

/** Groups the printed results for text and Markdown. Undetermined results are in no group. */
export function sortResults({ report, printed }: PrintableScan) {
  const causes = groupByRootCause(printed, report.results);
  const unevaluated = new Set([...causes.values()].flat());
  const judged = printed.filter((result) => !isUndetermined(result) && !unevaluated.has(result));
  const { fail = [], warn = [], pass = [] } = Object.groupBy(judged, ({ status }) => status);
  const failedIds = fail.map(({ id }) => id);
  return { fail, warn, pass, causes, unevaluatedText: formatUnevaluated(causes, failedIds) };
}

export const NAMED_PATH_RULE = 'named';

/** The named path, for formats that list only faults: null if default clients can pay it. */
export function findFaultyNamedPath({ named }: Findings): NamedPath | null {
  return named === undefined || named.payableBy === 'default' ? null : named;
}

/** The first line of the pipeline's file, or else of the README: where findings about no file point. */
export function toFallbackLocation({ pipelineFile }: Findings): SourceLocation {
  return { file: pipelineFile ?? README_FILE, line: 1 };
}

/** An undetermined result is not a fault of the seller. */
export function isUndetermined({ basis }: Pick<CheckResult, 'basis'>): boolean {
  return basis === 'not_determined';
}

/** Evidence and fix, as two sentences on one line. */
export function toFindingText({ evidence, fix }: Pick<CheckResult, 'evidence' | 'fix'>): string {
  const text = evidence.trimEnd();
  return `${text}${/[.!?…]$/.test(text) ? '' : '.'} ${fix}`;
}
