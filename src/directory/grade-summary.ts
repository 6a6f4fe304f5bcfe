/** What is known of one origin, in short. */
import type { Grade } from '../model/report.ts';
import type { Origin } from '../origin/origin.ts';
import type { Store } from '../store/contract/store.ts';
import { isFresh } from './freshness.ts';
import { reportUrl } from './report-url.ts';

/** What is known of one origin (interface spec 2.1); null where it was never scanned. */
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

/** A look-up of one origin: opting out of the directory does not change it. */
export async function gradeSummary(
  store: Store,
  origin: Origin,
  siteUrl: string,
): Promise<GradeSummary> {
  const record = await store.directory.get(origin.host);
  const url = reportUrl(siteUrl, origin.host);
  if (record === null) return { ...NEVER_SCANNED, origin: origin.url, reportUrl: url };
  return {
    origin: origin.url,
    known: true,
    fresh: isFresh(record.scannedAtMs, store.now()),
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
