import type { WatchVersion } from '../store/watches.ts';

/** All times of a watch, ms. */
export type WatchTiming = {
  readonly dayMs: number;
  readonly hourMs: number;
  /** A fact that got worse is confirmed by a second look after this long. */
  readonly confirmAfterMs: number;
  readonly agreeWithinMs: number;
  /** An agreed watch may be replaced once in this time. */
  readonly changeAgainAfterMs: number;
  readonly lifetimeMs: number;
  /** An event announces the end of a watch this long before it. */
  readonly tellEndMs: number;
  /** Waits before the second try of a delivery and those after it. */
  readonly retryAfterMs: readonly number[];
  readonly longestRetryAfterMs: number;
  /** A watch ends when no try has succeeded for this long. */
  readonly giveUpAfterMs: number;
};

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** @param scale below 1 only in tests, to shorten every wait */
export function toWatchTiming(scale = 1): WatchTiming {
  const minutes = [5 / 60, 5, 30, 120, 300, 600, 840, 1_200, 1_440];
  return {
    dayMs: DAY_MS,
    hourMs: HOUR_MS * scale,
    confirmAfterMs: 10 * MINUTE_MS * scale,
    agreeWithinMs: DAY_MS * scale,
    changeAgainAfterMs: 10 * MINUTE_MS * scale,
    lifetimeMs: 30 * DAY_MS,
    tellEndMs: 3 * DAY_MS,
    retryAfterMs: minutes.map((count) => count * MINUTE_MS * scale),
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

/** A call that replaced a watch of this host. */
export type WatchChange = { readonly atMs: number; readonly wasAgreed: boolean };

/** A fact that a look saw worse than before, and that no second look has confirmed. */
export type Suspicion = { readonly sinceMs: number; readonly by: 'scan' | 'challenge' };

export type WatchState = {
  readonly host: string;
  /** `https://api.example.com` */
  readonly originUrl: string;
  readonly webhook: string;
  readonly receiver: string;
  /** Kept as it is, because every delivery is signed with it. */
  readonly secret: string;
  /** The text of the agreement, which the receiver has to repeat: `data.challenge` of watch.started. */
  readonly challenge: string;
  /** Hash of the token whose file renews the watch. */
  readonly tokenHash: string;
  /** Registrable domain of the host. */
  readonly domain: string;
  /** Key and block of the client that made the watch. */
  readonly client: string;
  readonly block: string;
  /** True once the receiver has agreed, to this watch or to the one that it replaced. */
  readonly holdsPlace: boolean;
  /** The latest of the host, oldest first. */
  readonly changes: readonly WatchChange[];
  readonly createdAtMs: number;
  readonly agreedAtMs: number | null;
  readonly endsAtMs: number;
  readonly endedAtMs: number | null;
  readonly isEndTold: boolean;
  readonly nextLookAtMs: number | null;
  /** The UTC day, counted since the epoch, of the last full scan, and of the last reading of the file. */
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
  /** Time in ms for which no try has succeeded. */
  readonly failedForMs: number;
};

/** Deliveries that status lists. */
export const SHOWN_DELIVERIES = 20;
/** Waiting deliveries beyond this number are dropped, oldest first: an unstable origin may cause many. */
const MAX_WAITING = 1_000;

/** Returns the delivery that is sent next; before the receiver has agreed, only the request to agree is sent. */
export function findNextDelivery({ agreedAtMs, deliveries }: WatchState): WebhookDelivery | null {
  const isSent = ({ type }: WebhookDelivery) => agreedAtMs !== null || type === 'watch.started';
  return deliveries.find((one) => one.status === 'waiting' && isSent(one)) ?? null;
}

/** Returns the phase of a watch as its status shows it. */
export function toPhase({ endedAtMs, agreedAtMs }: WatchState): 'pending' | 'active' | 'ended' {
  if (endedAtMs !== null) return 'ended';
  return agreedAtMs === null ? 'pending' : 'active';
}

/** Drops old finished deliveries, and the oldest waiting ones beyond MAX_WAITING. */
export function trimDeliveries(state: WatchState): WatchState {
  const isEvent = ({ status, type }: WebhookDelivery) =>
    status === 'waiting' && type !== 'watch.started';
  const waiting = state.deliveries.filter(isEvent);
  const spent = new Set(waiting.slice(0, -MAX_WAITING));
  const deliveries = state.deliveries
    .map((one) => (spent.has(one) ? { ...one, status: 'failed' as const } : one))
    .filter((one, at, all) => one.status === 'waiting' || at >= all.length - SHOWN_DELIVERIES);
  return { ...state, deliveries };
}

/** Ids of the stored texts that a state refers to. */
export function listTexts({ baseline, deliveries }: WatchState): readonly string[] {
  const bodies = deliveries.filter(({ status }) => status === 'waiting').map(({ id }) => id);
  return baseline === null ? bodies : [...bodies, baseline];
}

export function toVersion(
  state: WatchState,
  n: number,
  times: Pick<WatchVersion, 'lookAtMs'>,
): WatchVersion {
  const { host, receiver, domain, client, holdsPlace, endedAtMs } = state;
  const next = endedAtMs === null ? findNextDelivery(state) : null;
  const sendAtMs = next?.nextTryAtMs ?? null;
  const isConfirming = Object.keys(state.suspicions).length > 0;
  const facts = { host, receiver, domain, client, holdsPlace, isConfirming };
  return { ...facts, n, sendAtMs, endedAtMs, state, ...times };
}

export function fromVersion({ state }: WatchVersion): WatchState {
  // `toVersion` is the only writer of these states, and the store keeps them unchanged.
  return state as unknown as WatchState;
}

export type EventType =
  | 'grade.changed'
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
