import { randomBytes, randomUUID } from 'node:crypto';
import { channel } from 'node:diagnostics_channel';
import { setTimeout as pause } from 'node:timers/promises';
import { type JsonObject, jsonList } from '../../scanner/parse/json/json.ts';
import { reportUrl } from '../directory/project.ts';
import type { Store } from '../store/store.ts';
import type { WatchText } from '../store/watches.ts';
import { secondOfDay } from '../turns/in-turn.ts';
import {
  type EventType,
  fromVersion,
  listTextIds,
  type Suspicion,
  toVersion,
  trimDeliveries,
  type WatchState,
  type WatchTiming,
} from './state.ts';

type DayAndHour = Pick<WatchTiming, 'dayMs' | 'hourMs'>;

/** Returns 0 to 86,399, by a hash of the host, which spreads the daily scans over the UTC day. */
export function toSecondOfDay(host: string): number {
  return secondOfDay(`watch ${host}`);
}

/** Returns the time of the next hourly look. One of the hourly looks is the daily scan. */
export function findHourlyMs(host: string, afterMs: number, { hourMs }: DayAndHour): number {
  const phaseMs = (toSecondOfDay(host) * 1_000) % hourMs;
  const atMs = Math.floor(afterMs / hourMs) * hourMs + phaseMs;
  return atMs > afterMs ? atMs : atMs + hourMs;
}

export function toDay(atMs: number, { dayMs }: Pick<WatchTiming, 'dayMs'>): number {
  return Math.floor(atMs / dayMs);
}

/** True once a UTC day: after the host's second of the day, or at the first look of a watch. */
export function isScanDue(state: WatchState, nowMs: number, timing: DayAndHour): boolean {
  const isDone = state.scannedDay !== null && state.scannedDay >= toDay(nowMs, timing);
  const isFirst = state.baseline === null || state.nextLookAtMs === state.agreedAtMs;
  return !isDone && (isFirst || isPastSecond(state.host, nowMs, timing));
}

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

/** The steps of a look and of a delivery at which tests end the process. */
type WatchStep = 'look-seen' | 'look-stored' | 'event-sent' | 'delivery-stored';

export const STEPS_CHANNEL = 'x402-scan:watch';

const steps = channel(STEPS_CHANNEL);

/** Only tests subscribe. A subscriber ends the process synchronously, at this step. */
export function publishStep(name: WatchStep): void {
  if (steps.hasSubscribers) steps.publish({ name });
}

export type WatchUpdate = { readonly state: WatchState; readonly texts?: readonly WatchText[] };

type ChangeContext = { readonly store: Store; readonly timing: WatchTiming };

/** Racing writers pause for different times. */
const MAX_PAUSE_MS = 40;

export async function findWatch(
  { watches }: Pick<Store, 'watches'>,
  host: string,
): Promise<WatchState | null> {
  const version = await watches.findNewest(host);
  return version && fromVersion(version);
}

/**
 * Stores the state that `update` returns for a host's watch. Calls `update` again if another writer has changed the
 * watch meanwhile.
 * @param update returns null to change nothing
 */
export async function changeWatch(
  { store, timing }: ChangeContext,
  host: string,
  update: (state: WatchState | null) => WatchUpdate | null,
): Promise<WatchState | null> {
  for (;;) {
    const version = await store.watches.findNewest(host);
    const before = version && fromVersion(version);
    const updated = update(before);
    if (updated === null) return null;
    const state = trimDeliveries(updated.state);
    const textIds = new Set(listTextIds(state));
    const dropped = before === null ? [] : listTextIds(before).filter((id) => !textIds.has(id));
    const next = toVersion(state, (version?.n ?? 0) + 1, findNextDutyMs(state, timing));
    const change = { attempt: randomUUID(), texts: updated.texts ?? [], dropped };
    const outcome = await store.watches.append(next, change);
    if (outcome === 'won') return state;
    await pause(Math.random() * MAX_PAUSE_MS);
  }
}

/** Changes a watch, unless it has ended or been replaced. */
export function changeLive(
  context: ChangeContext,
  { host, secret }: WatchState,
  update: (state: WatchState) => WatchUpdate | null,
): Promise<WatchState | null> {
  return changeWatch(context, host, (state) =>
    state === null || state.secret !== secret || state.endedAtMs !== null ? null : update(state),
  );
}

export function endLive(context: ChangeContext, watch: WatchState): Promise<WatchState | null> {
  return changeLive(context, watch, (state) => ({ state: endWatch(state, context.store.now()) }));
}

/** Ends a watch. Its waiting deliveries fail, because nothing more is sent. */
export function endWatch(state: WatchState, nowMs: number): WatchState {
  const deliveries = state.deliveries.map((delivery) =>
    delivery.status === 'waiting' ? { ...delivery, status: 'failed' as const } : delivery,
  );
  return { ...state, endedAtMs: nowMs, nextLookAtMs: null, deliveries };
}

export type WatchEvent = {
  readonly type: EventType;
  /** Default null. */
  readonly before?: JsonObject;
  readonly after?: JsonObject;
  /** Further members of the event's `data`. */
  readonly more?: JsonObject;
};

const MAX_BODY_BYTES = 20 * 1_024;
const ID_BYTES = 16;

/** Queues events for delivery. The returned texts are their bodies. */
export function addEvents(
  state: WatchState,
  events: readonly WatchEvent[],
  { nowMs, siteUrl }: { readonly nowMs: number; readonly siteUrl: string },
): Required<WatchUpdate> {
  const queued = events.map((event) => {
    const id = `msg_${randomBytes(ID_BYTES).toString('base64url')}`;
    return { id, type: event.type, text: toBody(event, state.host, nowMs, siteUrl) };
  });
  const waiting = { atMs: nowMs, tries: 0, status: 'waiting', nextTryAtMs: nowMs } as const;
  const added = queued.map(({ id, type }) => ({ id, type, ...waiting, lastTryAtMs: null }));
  return {
    state: { ...state, deliveries: [...state.deliveries, ...added] },
    texts: queued.map(({ id, text }) => ({ id, text })),
  };
}

function toBody(event: WatchEvent, host: string, nowMs: number, siteUrl: string): string {
  const { type, before = null, after = null, more = {} } = event;
  const data = { host, reportUrl: reportUrl(siteUrl, host), ...more };
  const timestamp = new Date(nowMs).toISOString();
  for (let count = Math.max(readOffers(before).length, readOffers(after).length); ; count -= 1) {
    const shortValues = { before: cutOffers(before, count), after: cutOffers(after, count) };
    const body = JSON.stringify({ type, timestamp, data: { ...data, ...shortValues } });
    if (Buffer.byteLength(body) <= MAX_BODY_BYTES || count <= 0) return body;
  }
}

function cutOffers(value: JsonObject | null, count: number): JsonObject | null {
  const isCut = readOffers(value).length > count;
  return isCut ? { ...value, offers: readOffers(value).slice(0, count) } : value;
}

function readOffers(value: JsonObject | null) {
  return jsonList(value?.['offers']);
}
