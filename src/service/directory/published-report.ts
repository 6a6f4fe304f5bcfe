import type { Origin } from '../../scanner/guard/origin.ts';
import type { PaidBy } from '../../scanner/model/payability.ts';
import { ALL_GRADES, type Grade } from '../../scanner/model/report.ts';
import { type FinishedScan, fromStoredReport } from '../scans/finished-scan.ts';
import type { HostGrade } from '../store/directory.ts';
import type { Store } from '../store/store.ts';
import { isFresh, toReportUrl } from './project.ts';

/** The body of a scan or report answer (interface spec 2.2). */
export type ReportBody = ReturnType<typeof toReportBody>;

export type ReportPresentation = {
  readonly cache: 'hit' | 'miss';
  readonly siteUrl: string;
  /** True for a paid answer in a revision with `reportSaysCharged`. */
  readonly saysCharged: boolean;
  /** Null in API revisions without the census. */
  readonly paidBy: PaidBy | null;
};

export function toReportBody(scan: FinishedScan, presentation: ReportPresentation) {
  const { origin, grade, score, checksVersion, scannedAt, results, exhausted } = scan.report;
  const { payability, payableBy, clients, otherWays, advice, routes, indexed } = scan.report;
  const { cache, siteUrl, saysCharged, paidBy } = presentation;
  return {
    origin,
    grade,
    score,
    cache,
    checksVersion,
    scannedAt,
    reportUrl: toReportUrl(siteUrl, scan.host),
    ...(paidBy ? { paidBy } : {}),
    ...(saysCharged ? { charged: true as const } : {}),
    ...(exhausted ? { exhausted } : {}),
    payableBy,
    payability,
    clients,
    otherWays,
    advice,
    ...(routes ? { routes } : {}),
    indexed,
    results,
  };
}

/** A published scan; `paidBy` says who ordered it, a payer or the census. */
export type FreshReport = FinishedScan & { readonly paidBy: PaidBy };

/** Finds the published report of a host, even after an opt-out. Null if it is not younger than 24 hours. */
export async function findFreshReport(store: Store, host: string): Promise<FreshReport | null> {
  const result = await store.results.findPublished(host);
  if (result === null || !isFresh(result.scannedAtMs, store.now())) return null;
  return { ...fromStoredReport(result), paidBy: result.paidBy };
}

/** Returns the body of a free answer. It has `paidBy`, because every revision with free reports has the census. */
export function toFreeReport(report: FreshReport, siteUrl: string): ReportBody {
  return toReportBody(report, { cache: 'hit', siteUrl, saysCharged: false, paidBy: report.paidBy });
}

/** Status of one origin (interface spec 2.1). Facts of the scan are null if the origin was never scanned. */
export type GradeSummary = ReturnType<typeof toGradeSummary>;

/** `record` is null if the host was never scanned. An opt-out does not change the summary. */
export function toGradeSummary(
  record: HostGrade | null,
  origin: Origin,
  { siteUrl, nowMs }: { readonly siteUrl: string; readonly nowMs: number },
) {
  return {
    origin: origin.url,
    known: record !== null,
    fresh: record !== null && isFresh(record.scannedAtMs, nowMs),
    grade: record?.grade ?? null,
    score: record?.score ?? null,
    passCount: record?.counts.pass ?? null,
    warnCount: record?.counts.warn ?? null,
    failCount: record?.counts.fail ?? null,
    scannedAt: record && new Date(record.scannedAtMs).toISOString(),
    reportUrl: toReportUrl(siteUrl, origin.host),
  };
}

/**
 * Returns the numbers for "Better than 64 % of 212 listed origins": the share of origins with a worse grade, rounded
 * down, and the number of all origins, including this origin. Null if there is no other origin.
 */
export function findGradeRank(counts: Readonly<Record<Grade, number>>, ownGrade: Grade) {
  const sum = (grades: readonly Grade[]) =>
    grades.reduce((total, grade) => total + counts[grade], 0);
  const origins = sum(ALL_GRADES);
  if (origins < 2) return null;
  const worseOrigins = sum(ALL_GRADES.slice(ALL_GRADES.indexOf(ownGrade) + 1));
  return { betterThanPercent: Math.floor((100 * worseOrigins) / origins), origins };
}
