/** When an origin is asked, and what. */
import { secondOfDay } from '../looks/in-turn.ts';
import type { FinishedScan } from '../scan/finished-scan.ts';
import type { CensusOrigin } from '../store/census.ts';
import { MAX_RESOURCES, toListing } from './listing.ts';

const SECOND_MS = 1_000;
const HOUR_MS = 3_600 * SECOND_MS;
export const DAY_MS = 24 * HOUR_MS;
const WEEK_DAYS = 7;
/** Origins that no import had for so long are not asked any more. */
export const LISTED_FOR_DAYS = 30;

/** The second of a day at which the census looks at a host. */
export function lookTimeMs(host: string, day: number): number {
  return day * DAY_MS + secondOfDay(`census ${host}`) * SECOND_MS;
}

/** Once a week, on the weekday of the host; a scan that failed is made up for on the next day. */
export function isScanDue(
  { host, firstDay, scannedDay, listing }: CensusOrigin,
  today: number,
): boolean {
  // Nothing is known to ask: the first scan shows what is sold.
  if (scannedDay === null && toListing(listing).resources.length === 0) return true;
  const weekday = secondOfDay(`weekday ${host}`) % WEEK_DAYS;
  const sinceDay = (scannedDay ?? firstDay - 1) + 1;
  const untilWeekday = (weekday - (sinceDay % WEEK_DAYS) + WEEK_DAYS) % WEEK_DAYS;
  return today >= sinceDay + untilWeekday;
}

const SILENT_FOR_MS = 3 * HOUR_MS;
const LAST_WORD_MS = 60 * SECOND_MS;

/** A silent look waits for the looks after it, and its word is inserted before its day is summed up. */
export function silentUntilMs(nowMs: number, day: number): number {
  return Math.min(nowMs + SILENT_FOR_MS, (day + 1) * DAY_MS + LAST_WORD_MS);
}

/** The resources that a scan found, for an origin that is listed without any. */
export function resourcesOf(scan: FinishedScan | null) {
  const found = (scan?.report.payability ?? []).flatMap(({ method, path }) =>
    method === 'GET' || method === 'POST' ? [{ method, path, source: 'scan' } as const] : [],
  );
  return found.slice(0, MAX_RESOURCES);
}
