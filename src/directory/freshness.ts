import type { DirectoryQuery } from '../store/context.ts';
import type { DirectoryRecord } from '../store/directory.ts';

const DAY_MS = 24 * 3_600_000;

const FRESH_MS = DAY_MS;
export const FEATURED_MS = 30 * DAY_MS;

/** True for a scan younger than 24 hours. */
export function isFresh(scannedAtMs: number, nowMs: number): boolean {
  return nowMs - scannedAtMs < FRESH_MS;
}

/** True where the most recent scan is graded A and younger than 30 days. */
export function isFeatured(record: DirectoryRecord, nowMs: number): boolean {
  return record.listed && record.grade === 'A' && nowMs - record.scannedAtMs < FEATURED_MS;
}

/** Finds the records that are featured at `nowMs`, newest first. */
export function featuredQuery(nowMs: number, pageSize: number): DirectoryQuery {
  return { sort: 'recent', grade: 'A', sinceMs: nowMs - FEATURED_MS + 1, page: 0, pageSize };
}
