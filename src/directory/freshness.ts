import type { DirectoryRecord } from '../store/contract/directory.ts';

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

/** The earliest scan time, in ms, that is featured at `nowMs`. */
export function featuredSinceMs(nowMs: number): number {
  return nowMs - FEATURED_MS + 1;
}
