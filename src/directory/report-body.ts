/** The body of a scan or report answer. */
import type { BudgetName, CheckResult, ScanReport } from '../model/report.ts';
import type { FinishedScan } from '../scan/finished-scan.ts';
import { reportUrl } from './report-url.ts';

/** The body of a scan or report answer (interface spec 2.2). */
export type ReportBody = Omit<ScanReport, 'subScores' | 'results' | 'exhausted'> & {
  readonly exhausted?: BudgetName[];
  readonly results: CheckResult[];
  /** `miss`: this very call ran, or joined, the scan. */
  readonly cache: 'hit' | 'miss';
  readonly reportUrl: string;
  readonly charged?: true;
};

export type ReportPresentation = {
  readonly cache: 'hit' | 'miss';
  readonly siteUrl: string;
  /** A paid answer, in a revision that says so (`Revision.reportSaysCharged`). */
  readonly saysCharged: boolean;
};

export function toReportBody(scan: FinishedScan, presentation: ReportPresentation): ReportBody {
  const { origin, grade, score, checksVersion, scannedAt, results, exhausted } = scan.report;
  const { cache, siteUrl, saysCharged } = presentation;
  return {
    origin,
    grade,
    score,
    cache,
    checksVersion,
    scannedAt,
    reportUrl: reportUrl(siteUrl, scan.host),
    ...(saysCharged ? { charged: true } : {}),
    ...(exhausted ? { exhausted: [...exhausted] } : {}),
    results: [...results],
  };
}
