import { randomBytes, randomUUID } from 'node:crypto';
import { channel } from 'node:diagnostics_channel';
import { setTimeout as pause } from 'node:timers/promises';
import { type JsonObject, jsonList } from '../../scanner/parse/json/json.ts';
import { toReportUrl } from '../directory/project.ts';
import type { Store } from '../store/store.ts';
import type { WatchText } from '../store/watches.ts';
import {
  type EventType,
  findNextDutyMs,
  fromVersion,
  listTextIds,
  toVersion,
  trimDeliveries,
  type WatchState,
  type WatchTiming,
} from './state.ts';

/** A new state, and the texts that it adds: bodies of events, or the facts of a look. */
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
 * watch meanwhile. Returns the stored state; null if `update` returned null.
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
    // `attempt` tells the texts of this writer from those of a racing writer.
    const change = { attempt: randomUUID(), texts: updated.texts ?? [], dropped };
    const outcome = await store.watches.append(next, change);
    if (outcome === 'won') return state;
    await pause(Math.random() * MAX_PAUSE_MS);
  }
}

/** Changes a watch. Changes nothing, and returns null, if the watch has ended or was replaced. */
export function changeLive(
  context: ChangeContext,
  { host, secret }: WatchState,
  update: (state: WatchState) => WatchUpdate | null,
): Promise<WatchState | null> {
  return changeWatch(context, host, (state) =>
    state === null || state.secret !== secret || state.endedAtMs !== null ? null : update(state),
  );
}

/** Ends a watch. Returns null if it had ended before, or was replaced. */
export function endLive(context: ChangeContext, watch: WatchState): Promise<WatchState | null> {
  return changeLive(context, watch, (state) => ({ state: endWatch(state, context.store.now()) }));
}

/** Returns the state of an ended watch. Its waiting deliveries fail, because nothing more is sent. */
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

/** Queues events for delivery. The returned texts are the bodies of the events. */
export function queueEvents(
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
  const data = { host, reportUrl: toReportUrl(siteUrl, host), ...more };
  const timestamp = new Date(nowMs).toISOString();
  // Terms of a resource may have many offers. The last offers are cut until the body is small enough.
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

/** The steps of a look and of a delivery at which tests end the process. */
type WatchStep = 'look-seen' | 'look-stored' | 'event-sent' | 'delivery-stored';

export const STEPS_CHANNEL = 'x402-scan:watch';

const steps = channel(STEPS_CHANNEL);

/** Only tests subscribe. A subscriber ends the process synchronously, at this step. */
export function publishStep(name: WatchStep): void {
  if (steps.hasSubscribers) steps.publish({ name });
}
