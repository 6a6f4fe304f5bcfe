import type { WatchVersion } from '../store/watches.ts';
import { secondOfDay } from '../turns/rounds.ts';

export type WatchTiming = {
  readonly dayMs: number;
  readonly hourMs: number;
  /** Wait between the look that found a fact worse and the look that confirms it. */
  readonly confirmAfterMs: number;
  readonly agreeWithinMs: number;
  /** An agreed watch may be replaced only once within this time. */
  readonly replaceAgainAfterMs: number;
  readonly lifetimeMs: number;
  /** An event announces the end of a watch this long before it. */
  readonly tellEndMs: number;
  /** Waits before the second try of a delivery and before each later one. */
  readonly retryAfterMs: readonly number[];
  readonly longestRetryAfterMs: number;
  /** A watch ends when no try has succeeded for this long. */
  readonly giveUpAfterMs: number;
};

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** @param scale below 1 only in tests, to shorten waits */
export function toWatchTiming(scale = 1): WatchTiming {
  // The schedule that the specification of Standard Webhooks recommends: 5 s, 5 min, 30 min, 2 h and so on.
  const retryAfterMinutes = [5 / 60, 5, 30, 120, 300, 600, 840, 1_200, 1_440];
  return {
    dayMs: DAY_MS,
    hourMs: HOUR_MS * scale,
    confirmAfterMs: 10 * MINUTE_MS * scale,
    agreeWithinMs: DAY_MS * scale,
    replaceAgainAfterMs: 10 * MINUTE_MS * scale,
    lifetimeMs: 30 * DAY_MS,
    tellEndMs: 3 * DAY_MS,
    retryAfterMs: retryAfterMinutes.map((minutes) => minutes * MINUTE_MS * scale),
    longestRetryAfterMs: DAY_MS,
    giveUpAfterMs: 5 * DAY_MS * scale,
  };
}

export type WebhookDelivery = {
  /** The `webhook-id` of every try, and the id of the stored body. */
  readonly id: string;
  readonly type: EventType;
  readonly atMs: number;
  readonly tries: number;
  readonly status: 'waiting' | 'delivered' | 'failed';
  readonly nextTryAtMs: number;
  readonly lastTryAtMs: number | null;
};

/** A replacement of a host's watch. `wasAgreed`: the receiver had agreed to the replaced watch. */
export type WatchReplacement = { readonly atMs: number; readonly wasAgreed: boolean };

/** A look found a fact worse than before, and no second look has confirmed this yet. */
export type Suspicion = { readonly sinceMs: number; readonly by: 'scan' | 'challenge' };

/** The store keeps this object as JSON, so a renamed member would not be found in older versions. */
export type WatchState = {
  readonly host: string;
  /** `https://api.example.com` */
  readonly originUrl: string;
  readonly webhook: string;
  readonly receiver: string;
  /** Stored in plain text, because it signs every delivery. */
  readonly secret: string;
  /** `data.challenge` of watch.started, which the receiver repeats in order to agree. */
  readonly challenge: string;
  /** Hash of the token in the verification file, which renews the watch. */
  readonly tokenHash: string;
  /** Registrable domain of the host. */
  readonly domain: string;
  /** Key and address block of the client that created the watch. */
  readonly client: string;
  readonly block: string;
  /** True if the watch counts in its receiver's quota: the receiver agreed to it, or to the watch that it replaced. */
  readonly holdsPlace: boolean;
  /** The latest replacements of the host's watch, oldest first. */
  readonly changes: readonly WatchReplacement[];
  readonly createdAtMs: number;
  readonly agreedAtMs: number | null;
  readonly endsAtMs: number;
  readonly endedAtMs: number | null;
  /** True if `watch.ending` was queued. */
  readonly isEndTold: boolean;
  readonly nextLookAtMs: number | null;
  /** UTC days since the epoch: of the last full scan, and of the last reading of the verification file. */
  readonly scannedDay: number | null;
  readonly readDay: number | null;
  /** The last scan that was compared. */
  readonly scanId: string | null;
  readonly scannedAtMs: number;
  /** Id of the stored facts that the next look is compared with. */
  readonly baseline: string | null;
  readonly suspicions: Readonly<Record<string, Suspicion>>;
  /** Oldest first. */
  readonly deliveries: readonly WebhookDelivery[];
  /** Time for which no try of a delivery has succeeded. */
  readonly failedForMs: number;
};

/** Limit of the deliveries in `/v1/watch/status`. */
export const SHOWN_DELIVERIES = 20;
/** An unstable origin may cause many events. Beyond this limit the oldest fail unsent. */
const MAX_WAITING_DELIVERIES = 1_000;

/** Returns the delivery to send next. Before the receiver agrees, only watch.started is sent. */
export function findNextDelivery({ agreedAtMs, deliveries }: WatchState): WebhookDelivery | null {
  const canSend = ({ type }: WebhookDelivery) => agreedAtMs !== null || type === 'watch.started';
  return deliveries.find((each) => each.status === 'waiting' && canSend(each)) ?? null;
}

export function toPhase({ endedAtMs, agreedAtMs }: WatchState): 'pending' | 'active' | 'ended' {
  if (endedAtMs !== null) return 'ended';
  return agreedAtMs === null ? 'pending' : 'active';
}

/** Drops old finished deliveries. The oldest waiting ones beyond the limit fail. */
export function trimDeliveries(state: WatchState): WatchState {
  const isWaiting = ({ status, type }: WebhookDelivery) =>
    status === 'waiting' && type !== 'watch.started';
  const waiting = state.deliveries.filter(isWaiting);
  const failed = new Set(waiting.slice(0, -MAX_WAITING_DELIVERIES));
  const deliveries = state.deliveries
    .map((each) => (failed.has(each) ? { ...each, status: 'failed' as const } : each))
    .filter(({ status }, at, all) => status === 'waiting' || at >= all.length - SHOWN_DELIVERIES);
  return { ...state, deliveries };
}

export function listTextIds({ baseline, deliveries }: WatchState): readonly string[] {
  const bodies = deliveries.filter(({ status }) => status === 'waiting').map(({ id }) => id);
  return baseline === null ? bodies : [...bodies, baseline];
}

/** @param dutyMs time of the next look, announcement or end; null for an ended watch */
export function toVersion(state: WatchState, n: number, dutyMs: number | null): WatchVersion {
  const { host, receiver, domain, client, holdsPlace, endedAtMs } = state;
  const next = endedAtMs === null ? findNextDelivery(state) : null;
  const sendAtMs = next?.nextTryAtMs ?? null;
  const isConfirming = Object.keys(state.suspicions).length > 0;
  const columns = { host, receiver, domain, client, holdsPlace, isConfirming };
  return { ...columns, n, sendAtMs, endedAtMs, state, lookAtMs: dutyMs };
}

export function fromVersion({ state }: WatchVersion): WatchState {
  // `toVersion` is the only writer of these states, and the store keeps them unchanged.
  return state as unknown as WatchState;
}

export type EventType =
  | 'grade.changed'
  | 'rules.changed'
  | 'payability.changed'
  | 'terms.changed'
  | 'check.failed'
  | 'check.recovered'
  | 'origin.unreachable'
  | 'origin.recovered'
  | 'listing.lapsing'
  | 'watch.ending'
  | 'watch.started'
  | 'watch.test';

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
  // The agreement plans the first look for the same time.
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
