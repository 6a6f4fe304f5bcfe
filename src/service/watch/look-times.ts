/** Plans the looks of a watch: when the next look is due, and whether a scan or the verification file is due in it. */
import { secondOfDay } from '../turns/rounds.ts';
import type { Suspicion, WatchState, WatchTiming } from './state.ts';

type DayAndHour = Pick<WatchTiming, 'dayMs' | 'hourMs'>;

/** Returns 0 to 86,399, by a hash of the host. The hash spreads the daily scans over the UTC day. */
export function toSecondOfDay(host: string): number {
  return secondOfDay(`watch ${host}`);
}

/** Returns the time of the next hourly look. One of the hourly looks is the daily scan. */
export function findHourlyMs(host: string, afterMs: number, { hourMs }: DayAndHour): number {
  const phaseMs = (toSecondOfDay(host) * 1_000) % hourMs;
  const atMs = Math.floor(afterMs / hourMs) * hourMs + phaseMs;
  return atMs > afterMs ? atMs : atMs + hourMs;
}

/** Returns the UTC day, counted from the epoch. */
export function toDay(atMs: number, { dayMs }: Pick<WatchTiming, 'dayMs'>): number {
  return Math.floor(atMs / dayMs);
}

/** True once a UTC day: after the host's second of the day, or at the first look of a watch. */
export function isScanDue(state: WatchState, nowMs: number, timing: DayAndHour): boolean {
  const isDone = state.scannedDay !== null && state.scannedDay >= toDay(nowMs, timing);
  const isFirst = state.baseline === null || state.nextLookAtMs === state.agreedAtMs;
  return !isDone && (isFirst || isPastSecond(state.host, nowMs, timing));
}

/** True once a UTC day: after the host was scanned, or after its second of the day. */
export function isFileDue(state: WatchState, nowMs: number, timing: DayAndHour): boolean {
  const today = toDay(nowMs, timing);
  const isRead = state.readDay !== null && state.readDay >= today;
  return !isRead && (state.scannedDay === today || isPastSecond(state.host, nowMs, timing));
}

function isPastSecond(host: string, nowMs: number, { dayMs }: DayAndHour): boolean {
  return nowMs % dayMs >= toSecondOfDay(host) * 1_000;
}

/** Returns the time of the next look: the next hourly one, or an earlier one that confirms a suspicion. */
export function planLookMs(
  host: string,
  suspicions: Readonly<Record<string, Suspicion>>,
  nowMs: number,
  timing: WatchTiming,
): number {
  const { confirmAfterMs } = timing;
  const confirmsMs = Object.values(suspicions).map(({ sinceMs }) => sinceMs + confirmAfterMs);
  // If the time has passed, the confirming look had no result, and is repeated.
  const pendingMs = confirmsMs.map((atMs) => (atMs > nowMs ? atMs : nowMs + confirmAfterMs));
  return Math.min(findHourlyMs(host, nowMs, timing), ...pendingMs);
}

/** Returns the time of a watch's next look, announcement or end; null if the watch has ended. */
export function findNextDutyMs(state: WatchState, timing: WatchTiming): number | null {
  const { endedAtMs, agreedAtMs, createdAtMs, nextLookAtMs, endsAtMs, isEndTold } = state;
  if (endedAtMs !== null) return null;
  if (agreedAtMs === null) return createdAtMs + timing.agreeWithinMs;
  const endMs = isEndTold ? endsAtMs : endsAtMs - timing.tellEndMs;
  return Math.min(endMs, nextLookAtMs ?? endMs);
}
