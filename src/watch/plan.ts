import { secondOfDay } from '../looks/in-turn.ts';
import type { Suspicion, WatchState, WatchTiming } from './state.ts';

type Timed = Pick<WatchTiming, 'dayMs' | 'hourMs'>;

/** 0 to 86,399, by a hash of the host, so that the daily scans spread over the UTC day. */
export function toSecondOfDay(host: string): number {
  return secondOfDay(`watch ${host}`);
}

/** Returns the time of the next hourly look. One of the hourly looks is the daily scan. */
export function findSlotMs(host: string, afterMs: number, { hourMs }: Timed): number {
  const phaseMs = (toSecondOfDay(host) * 1_000) % hourMs;
  const slotMs = Math.floor(afterMs / hourMs) * hourMs + phaseMs;
  return slotMs > afterMs ? slotMs : slotMs + hourMs;
}

export function toDay(atMs: number, { dayMs }: Pick<WatchTiming, 'dayMs'>): number {
  return Math.floor(atMs / dayMs);
}

/** True once a UTC day: after the host's second, or at the first look of a watch. */
export function isScanDue(state: WatchState, nowMs: number, timing: Timed): boolean {
  const isDone = state.scannedDay !== null && state.scannedDay >= toDay(nowMs, timing);
  const isFirst = state.baseline === null || state.nextLookAtMs === state.agreedAtMs;
  return !isDone && (isFirst || isPastSecond(state.host, nowMs, timing));
}

export function isFileDue(state: WatchState, nowMs: number, timing: Timed): boolean {
  const today = toDay(nowMs, timing);
  const isRead = state.readDay !== null && state.readDay >= today;
  return !isRead && (state.scannedDay === today || isPastSecond(state.host, nowMs, timing));
}

function isPastSecond(host: string, nowMs: number, { dayMs }: Timed): boolean {
  return nowMs % dayMs >= toSecondOfDay(host) * 1_000;
}

/** Returns the time of the next look: at the next hour, or sooner to confirm a suspicion. */
export function planLookMs(
  host: string,
  suspicions: Readonly<Record<string, Suspicion>>,
  nowMs: number,
  timing: WatchTiming,
): number {
  const { confirmAfterMs } = timing;
  const seconds = Object.values(suspicions).map(({ sinceMs }) => sinceMs + confirmAfterMs);
  // A confirming look without a result is repeated.
  const later = seconds.map((atMs) => (atMs > nowMs ? atMs : nowMs + confirmAfterMs));
  return Math.min(findSlotMs(host, nowMs, timing), ...later);
}

/** Returns the time of the next work for a watch; null for one that has ended. */
export function findDutyMs(state: WatchState, timing: WatchTiming): number | null {
  const { endedAtMs, agreedAtMs, createdAtMs, nextLookAtMs, endsAtMs, isEndTold } = state;
  if (endedAtMs !== null) return null;
  if (agreedAtMs === null) return createdAtMs + timing.agreeWithinMs;
  const endMs = isEndTold ? endsAtMs : endsAtMs - timing.tellEndMs;
  return Math.min(endMs, nextLookAtMs ?? endMs);
}
