import type { Origin } from '../guard/origin.ts';
import type { Grade } from '../model/report.ts';
import type { HostGrade } from '../store/directory.ts';
import { isFresh } from './freshness.ts';
import { reportUrl } from './report-url.ts';

/** Status of one origin (interface spec 2.1); its values are null where it was never scanned. */
export type GradeSummary = {
  readonly origin: string;
  readonly known: boolean;
  readonly fresh: boolean;
  readonly grade: Grade | null;
  readonly score: number | null;
  readonly passCount: number | null;
  readonly warnCount: number | null;
  readonly failCount: number | null;
  /** ISO 8601, UTC. */
  readonly scannedAt: string | null;
  readonly reportUrl: string;
};

export type GradeSummaryOptions = { readonly siteUrl: string; readonly nowMs: number };

/** Summarises the host's record, or null where there is none. Opting out of the directory changes nothing. */
export function gradeSummary(
  record: HostGrade | null,
  origin: Origin,
  { siteUrl, nowMs }: GradeSummaryOptions,
): GradeSummary {
  const url = reportUrl(siteUrl, origin.host);
  if (record === null) return { ...NEVER_SCANNED, origin: origin.url, reportUrl: url };
  return {
    origin: origin.url,
    known: true,
    fresh: isFresh(record.scannedAtMs, nowMs),
    grade: record.grade,
    score: record.score,
    passCount: record.counts.pass,
    warnCount: record.counts.warn,
    failCount: record.counts.fail,
    scannedAt: new Date(record.scannedAtMs).toISOString(),
    reportUrl: url,
  };
}

const NEVER_SCANNED = {
  known: false,
  fresh: false,
  grade: null,
  score: null,
  passCount: null,
  warnCount: null,
  failCount: null,
  scannedAt: null,
} as const;
