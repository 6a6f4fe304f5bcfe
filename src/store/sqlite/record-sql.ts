import type { DirectoryRecord, HostGrade } from '../contract/directory.ts';
import { verifiedUntilMs } from '../contract/ownership.ts';
import { countsFromJson, publishedScanFromJson } from '../shared/published-scan.ts';
import { gradeFromText } from '../shared/stored-json.ts';
import type { Row } from './row.ts';

/**
 * Columns of a directory record `r`. The owner's preferences are looked up in rows of their own at every
 * read, so no publication can undo them.
 */
export const RECORD_COLUMNS = `
  r.scan, r.first_seen_at_ms, r.scan_count,
  (SELECT at_ms FROM confirms WHERE confirms.host = r.host) AS confirmed_at_ms,
  COALESCE((SELECT value FROM listing WHERE setting = 'listed' AND host = r.host), 1) AS listed,
  COALESCE((SELECT value FROM listing
    WHERE setting = 'enrichmentSuppressed' AND host = r.host), 0) AS suppressed`;

export function toDirectoryRecord(row: Row, nowMs: number): DirectoryRecord {
  const untilMs = verifiedUntilMs(row.integerOrNull('confirmed_at_ms'), nowMs);
  return {
    ...publishedScanFromJson(row.text('scan')),
    firstSeenAtMs: row.integer('first_seen_at_ms'),
    scanCount: row.integer('scan_count'),
    verified: untilMs !== null,
    verifiedUntilMs: untilMs,
    listed: row.integer('listed') === 1,
    enrichmentSuppressed: row.integer('suppressed') === 1,
  };
}

export function toHostGrade(row: Row): HostGrade {
  return {
    scannedAtMs: row.integer('scanned_at_ms'),
    grade: gradeFromText(row.text('grade')),
    score: row.integer('score'),
    counts: countsFromJson(row.text('counts')),
  };
}
