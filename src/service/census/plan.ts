/** Plans the looks at an origin: its second of the day, and its weekly scan. */
import { createHmac } from 'node:crypto';
import type { CensusOrigin } from '../store/census.ts';
import { SECONDS_PER_DAY } from '../turns/rounds.ts';
import { toListing } from './resources.ts';

export const SECOND_MS = 1_000;
const HOUR_MS = 3_600 * SECOND_MS;
export const DAY_MS = 24 * HOUR_MS;
const WEEK_DAYS = 7;
/** An origin is asked until no import has listed it for this many days. */
export const LISTED_FOR_DAYS = 30;

/** Returns a hash in hexadecimal. Nobody without the key can compute it. */
export type KeyedHash = (text: string) => string;

export function createKeyedHash(secret: string): KeyedHash {
  return (text) => createHmac('sha256', secret).update(text).digest('hex');
}

/** Reads the first 48 bits of a hash, which a number holds exactly. */
function toNumber(hash: string): number {
  return Number.parseInt(hash.slice(0, 12), 16);
}

/** A scan and its waits take less. No look is planned later in a day, so all requests of a scan are sent on one day. */
const MAX_SCAN_S = 120;

/** Returns the time of a day's look at a host. Nobody can choose a name that gets a wanted second of the day. */
export function lookTimeMs(keyedHash: KeyedHash, host: string, day: number): number {
  const second = toNumber(keyedHash(`second ${host}`)) % (SECONDS_PER_DAY - MAX_SCAN_S);
  return day * DAY_MS + second * SECOND_MS;
}

/** False shortly before midnight. After midnight a scan would send requests beside the look of that day. */
export function canScanEndToday(nowMs: number): boolean {
  return (nowMs % DAY_MS) + MAX_SCAN_S * SECOND_MS <= DAY_MS;
}

type ScanPlan = Pick<CensusOrigin, 'host' | 'firstDay' | 'scannedDay' | 'listing'>;

/** True once a week, and on the days after it until a scan succeeds. */
export function isScanDue(
  keyedHash: KeyedHash,
  { host, firstDay, scannedDay, listing }: ScanPlan,
  today: number,
): boolean {
  // The census knows no resource that it may ask until the first scan finds one.
  const isListedByGet = toListing(listing).resources.some(({ method }) => method === 'GET');
  if (scannedDay === null && !isListedByGet) return true;
  return isWeekPassed(keyedHash, { host, firstDay, scannedDay }, today);
}

/** True a week after the last scan; before the first scan, once the weekday of the host has come. */
export function isWeekPassed(
  keyedHash: KeyedHash,
  { host, firstDay, scannedDay }: Omit<ScanPlan, 'listing'>,
  today: number,
): boolean {
  if (scannedDay !== null) return today >= scannedDay + WEEK_DAYS;
  const weekday = toNumber(keyedHash(`weekday ${host}`)) % WEEK_DAYS;
  const daysUntilWeekday = (weekday - (firstDay % WEEK_DAYS) + WEEK_DAYS) % WEEK_DAYS;
  return today >= firstDay + daysUntilWeekday;
}

const MAX_WORD_DELAY_MS = 3 * HOUR_MS;
const AFTER_MIDNIGHT_MS = 60 * SECOND_MS;

/** Returns the time at which a silent host gets its word at the latest: soon after midnight, for the statistics. */
export function findWordDeadlineMs(nowMs: number, day: number): number {
  return Math.min(nowMs + MAX_WORD_DELAY_MS, (day + 1) * DAY_MS + AFTER_MIDNIGHT_MS);
}
