/** Findings of a scan or a pay-test, in one shape for every format that machines read. */
import type { CheckResult, ScanReport, ScanTiming, Severity } from '../../model/report.ts';
import type { SourceLocation, Sources } from '../sources.ts';

export type PrintedFinding = {
  readonly id: string;
  /** "P6 price-in-headers" */
  readonly name: string;
  /** The name, and the route of a trial. */
  readonly label: string;
  readonly group: string;
  /** Type of a failure in JUnit. */
  readonly kind: string;
  /** A warning passes in JUnit. */
  readonly status: 'pass' | 'warn' | 'fail' | 'skipped';
  /** Severity of a failure or a warning. */
  readonly severity: Severity | 'info';
  readonly text: string;
  readonly place: SourceLocation | null;
  /** Tells findings of one id apart. Without the evidence, so that it stays while the finding does. */
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
  readonly properties: object;
  /** Properties of the whole run, for JUnit. */
  readonly lines: readonly (readonly [name: string, value: string])[];
  /** Name of the fingerprint in SARIF. */
  readonly fingerprint: string;
  readonly rules: readonly {
    readonly id: string;
    readonly name: string;
    readonly description: string;
    readonly help: string;
    readonly properties?: object;
  }[];
  readonly items: readonly PrintedFinding[];
};

/** A finished scan, as each format gets it. */
export type Printable = {
  readonly report: ScanReport;
  /** The results that `--only` selects. */
  readonly printed: readonly CheckResult[];
  /** The rule of each check in one sentence, by id. */
  readonly rules: ReadonlyMap<string, string>;
  /** The answer of the resource in `<origin>`, in one sentence; null if `<origin>` names no resource. */
  readonly named: string | null;
  /** Set if `--timing` was given. */
  readonly timing: ScanTiming | null;
  /** Finds the file and line of a finding by the `--source` pairs. */
  readonly locate: Sources['locate'];
  readonly colour: boolean;
  readonly columns: number;
};

/** True for a failure and for a warning. */
export function isProblem({ status }: { readonly status: string }): boolean {
  return status === 'fail' || status === 'warn';
}

/** True for an undetermined result, which is not a fault of the seller. */
export function isOpen({ basis }: Pick<CheckResult, 'basis'>): boolean {
  return basis === 'not_determined';
}

/** Evidence and fix, as two sentences on one line. */
export function findingText({ evidence, fix }: Pick<CheckResult, 'evidence' | 'fix'>): string {
  const text = evidence.trimEnd();
  return `${text}${/[.!?…]$/.test(text) ? '' : '.'} ${fix}`;
}
