/** A scan that ended, as it is stored for its payer and as it is published. */
import type { JsonObject } from '../model/json.ts';
import type { CheckResult, ScanReport } from '../model/report.ts';
import type { Branding, Signals } from '../model/scan-outcome.ts';
import type { PublishedScan } from '../store/contract/published-scan.ts';
import type { ScanResult } from '../store/contract/results.ts';

/** A scan that ended, stored privately: what its payer gets, and what is published once one paid. */
export type FinishedScan = {
  /** Random, new for every scan. */
  readonly scanId: string;
  /** Canonical host. */
  readonly host: string;
  /** `https://example.com`, no trailing slash. */
  readonly origin: string;
  /** ISO 8601, UTC, database time; the same as in the report. */
  readonly scannedAt: string;
  readonly report: ScanReport;
  readonly branding: Branding;
  readonly signals: Signals;
  /** False: nothing of the origin answered. */
  readonly reached: boolean;
};

/** Reports of older programs do not say whether the origin was reached. */
type StoredReport = Pick<FinishedScan, 'report' | 'branding' | 'signals'> &
  Partial<Pick<FinishedScan, 'reached'>>;

/** The document that the store keeps. It is written here only, so it is read back as what it was. */
export function toStoredReport(scan: FinishedScan): JsonObject {
  const { report, branding, signals, reached } = scan;
  return { report, branding, signals, reached };
}

export function fromStoredReport(result: ScanResult): FinishedScan {
  // `toStoredReport` is the only writer of this document, and the store keeps it unchanged.
  const stored = result.report as unknown as StoredReport;
  return {
    scanId: result.scanId,
    host: result.host,
    origin: stored.report.origin,
    scannedAt: stored.report.scannedAt,
    report: stored.report,
    branding: stored.branding,
    signals: stored.signals,
    reached: stored.reached ?? true,
  };
}

/** What becomes public of it; `catalogFacts` are further facts of the catalog that judged it. */
export function toPublishedScan(scan: FinishedScan, catalogFacts: JsonObject): PublishedScan {
  const { report } = scan;
  const count = (status: CheckResult['status']) =>
    report.results.filter((result) => result.status === status).length;
  return {
    scanId: scan.scanId,
    host: scan.host,
    scannedAtMs: Date.parse(scan.scannedAt),
    grade: report.grade,
    score: report.score,
    counts: { pass: count('pass'), warn: count('warn'), fail: count('fail') },
    subScores: report.subScores,
    checksVersion: report.checksVersion,
    catalog: catalogFacts,
    branding: scan.branding,
    signals: scan.signals,
    reached: scan.reached,
  };
}
