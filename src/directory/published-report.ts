import type { Origin } from '../guard/origin.ts';
import type { PaidBy } from '../model/availability.ts';
import { ALL_GRADES, type Grade } from '../model/report.ts';
import { type FinishedScan, fromStoredReport } from '../scan/finished-scan.ts';
import type { HostGrade } from '../store/directory.ts';
import type { Store } from '../store/store.ts';
import { isFresh, reportUrl } from './project.ts';

/** The body of a scan or report answer (interface spec 2.2). */
export type ReportBody = ReturnType<typeof toReportBody>;

export type ReportPresentation = {
  readonly cache: 'hit' | 'miss';
  readonly siteUrl: string;
  /** True for a paid answer in a revision with `reportSaysCharged`. */
  readonly saysCharged: boolean;
  /** Null in revisions that do not tell of the census. */
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
    reportUrl: reportUrl(siteUrl, scan.host),
    ...(paidBy ? { paidBy } : {}),
    ...(saysCharged ? { charged: true as const } : {}),
    ...(exhausted ? { exhausted } : {}),
    payableBy,
    payability,
    clients,
    // Reports that an earlier release stored have neither these nor rows of indexes.
    otherWays: otherWays ?? [],
    advice,
    ...(routes ? { routes } : {}),
    indexed: indexed ?? [],
    results,
  };
}

/** A published scan, and who had it made. */
export type FreshReport = FinishedScan & { readonly paidBy: PaidBy };

/** The published report of a host if it is younger than 24 hours, opted out or not; else null. */
export async function findFreshReport(store: Store, host: string): Promise<FreshReport | null> {
  const result = await store.results.findPublished(host);
  if (result === null || !isFresh(result.scannedAtMs, store.now())) return null;
  return { ...fromStoredReport(result), paidBy: result.paidBy };
}

/** The body of a free answer; every revision with free reports tells of the census. */
export function toFreeReport(report: FreshReport, siteUrl: string): ReportBody {
  const { paidBy } = report;
  return toReportBody(report, { cache: 'hit', siteUrl, saysCharged: false, paidBy });
}

/** Status of one origin (interface spec 2.1); its values are null if it was never scanned. */
export type GradeSummary = ReturnType<typeof gradeSummary>;

/** Summarises the host's record, or null if there is none. Opting out of the directory changes nothing. */
export function gradeSummary(
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
    reportUrl: reportUrl(siteUrl, origin.host),
  };
}

/**
 * "Better than 64 % of 212 listed origins", this one included: the share of those with a worse grade, rounded down. Null
 * while there is no other origin to compare with.
 */
export function findGradeRank(counts: Readonly<Record<Grade, number>>, own: Grade) {
  const sum = (grades: readonly Grade[]) =>
    grades.reduce((total, grade) => total + counts[grade], 0);
  const origins = sum(ALL_GRADES);
  if (origins < 2) return null;
  const worse = sum(ALL_GRADES.slice(ALL_GRADES.indexOf(own) + 1));
  return { betterThanPercent: Math.floor((100 * worse) / origins), origins };
}
