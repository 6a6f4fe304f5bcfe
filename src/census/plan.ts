/** Plans the looks at an origin: its time of the day, its weekly scan, its resources. */
import { secondOfDay } from '../looks/in-turn.ts';
import type { FinishedScan } from '../scan/finished-scan.ts';
import type { CensusOrigin } from '../store/census.ts';
import { MAX_RESOURCES, toListing } from './listing.ts';

const SECOND_MS = 1_000;
const HOUR_MS = 3_600 * SECOND_MS;
export const DAY_MS = 24 * HOUR_MS;
const WEEK_DAYS = 7;
/** An origin is asked until no import has listed it for this many days. */
export const LISTED_FOR_DAYS = 30;

/** The second of a day at which the census looks at a host. */
export function lookTimeMs(host: string, day: number): number {
  return day * DAY_MS + secondOfDay(`census ${host}`) * SECOND_MS;
}

/** True once a week, on the weekday of the host, and on the days after it until a scan succeeds. */
export function isScanDue(
  { host, firstDay, scannedDay, listing }: CensusOrigin,
  today: number,
): boolean {
  // The census knows no resource to ask until the first scan finds one.
  if (scannedDay === null && toListing(listing).resources.length === 0) return true;
  const weekday = secondOfDay(`weekday ${host}`) % WEEK_DAYS;
  const sinceDay = (scannedDay ?? firstDay - 1) + 1;
  const untilWeekday = (weekday - (sinceDay % WEEK_DAYS) + WEEK_DAYS) % WEEK_DAYS;
  return today >= sinceDay + untilWeekday;
}

const MAX_WORD_DELAY_MS = 3 * HOUR_MS;
const AFTER_MIDNIGHT_MS = 60 * SECOND_MS;

/** Returns the time at which a silent host gets its word at the latest: soon after midnight, for the statistics. */
export function findWordDeadlineMs(nowMs: number, day: number): number {
  return Math.min(nowMs + MAX_WORD_DELAY_MS, (day + 1) * DAY_MS + AFTER_MIDNIGHT_MS);
}

/** The resources that a scan found. They are asked if no index lists a resource of the origin. */
export function findResources(scan: FinishedScan | null) {
  const found = (scan?.report.payability ?? []).flatMap(({ method, path }) =>
    method === 'GET' || method === 'POST' ? [{ method, path, source: 'scan' } as const] : [],
  );
  return found.slice(0, MAX_RESOURCES);
}
