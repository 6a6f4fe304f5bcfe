import { randomBytes, randomUUID } from 'node:crypto';
import { channel } from 'node:diagnostics_channel';
import { setTimeout as pause } from 'node:timers/promises';
import { reportUrl } from '../directory/project.ts';
import { type JsonObject, jsonList } from '../parse/json/json.ts';
import type { Store } from '../store/store.ts';
import type { WatchText } from '../store/watches.ts';
import { findDutyMs } from './plan.ts';
import {
  type EventType,
  fromVersion,
  listTexts,
  toVersion,
  trimDeliveries,
  type WatchState,
  type WatchTiming,
} from './state.ts';

/** The points of a look and of a delivery at which a process may die. */
export type WatchStep = 'look-seen' | 'look-stored' | 'event-sent' | 'delivery-stored';

export const STEPS_CHANNEL = 'x402-scan:watch';

const steps = channel(STEPS_CHANNEL);

/** Only tests subscribe: they end the process, synchronously, where it stands. */
export function publishStep(name: WatchStep): void {
  if (steps.hasSubscribers) steps.publish({ name });
}

export type Changed = { readonly state: WatchState; readonly texts?: readonly WatchText[] };

type ChangeContext = { readonly store: Store; readonly timing: WatchTiming };

/** Keeps racing writers apart. */
const LONGEST_PAUSE_MS = 40;

export async function findWatch(
  { watches }: Pick<Store, 'watches'>,
  host: string,
): Promise<WatchState | null> {
  const version = await watches.newest(host);
  return version && fromVersion(version);
}

/**
 * Stores the state that `next` returns for a host's watch. Calls `next` again when another writer has changed
 * the watch meanwhile.
 * @param next returns null to change nothing
 */
export async function changeWatch(
  { store, timing }: ChangeContext,
  host: string,
  next: (state: WatchState | null) => Changed | null,
): Promise<WatchState | null> {
  for (;;) {
    const version = await store.watches.newest(host);
    const before = version && fromVersion(version);
    const changed = next(before);
    if (changed === null) return null;
    const state = trimDeliveries(changed.state);
    const texts = new Set(listTexts(state));
    const dropped = before === null ? [] : listTexts(before).filter((id) => !texts.has(id));
    const lookAtMs = findDutyMs(state, timing);
    const outcome = await store.watches.append(
      toVersion(state, (version?.n ?? 0) + 1, { lookAtMs }),
      { attempt: randomUUID(), texts: changed.texts ?? [], dropped },
    );
    if (outcome === 'won') return state;
    await pause(Math.random() * LONGEST_PAUSE_MS);
  }
}

/** Changes nothing when this watch has ended, or the host has a new watch. */
export function changeSame(
  context: ChangeContext,
  { host, secret }: WatchState,
  next: (state: WatchState) => Changed | null,
): Promise<WatchState | null> {
  return changeWatch(context, host, (state) =>
    state === null || state.secret !== secret || state.endedAtMs !== null ? null : next(state),
  );
}

export function endSame(context: ChangeContext, watch: WatchState): Promise<WatchState | null> {
  return changeSame(context, watch, (state) => ({ state: endWatch(state, context.store.now()) }));
}

/** Ends a watch, and counts its waiting deliveries as failed, because nothing more is sent. */
export function endWatch(state: WatchState, nowMs: number): WatchState {
  const deliveries = state.deliveries.map((one) =>
    one.status === 'waiting' ? { ...one, status: 'failed' as const } : one,
  );
  return { ...state, endedAtMs: nowMs, nextLookAtMs: null, deliveries };
}

export type WatchEvent = {
  readonly type: EventType;
  /** Default null. */
  readonly before?: JsonObject;
  readonly after?: JsonObject;
  /** Further members of `data`. */
  readonly more?: JsonObject;
};

const MAX_BODY_BYTES = 20 * 1_024;
const ID_BYTES = 16;

/** Appends events to what a watch delivers; the texts are their bodies. */
export function addEvents(
  state: WatchState,
  events: readonly WatchEvent[],
  { nowMs, siteUrl }: { readonly nowMs: number; readonly siteUrl: string },
): Required<Changed> {
  const queued = events.map((event) => {
    const id = `msg_${randomBytes(ID_BYTES).toString('base64url')}`;
    return { id, type: event.type, text: bodyOf(event, state.host, nowMs, siteUrl) };
  });
  const waiting = { atMs: nowMs, tries: 0, status: 'waiting', nextTryAtMs: nowMs } as const;
  const added = queued.map(({ id, type }) => ({ id, type, ...waiting, lastTryAtMs: null }));
  return {
    state: { ...state, deliveries: [...state.deliveries, ...added] },
    texts: queued.map(({ id, text }) => ({ id, text })),
  };
}

function bodyOf(event: WatchEvent, host: string, nowMs: number, siteUrl: string): string {
  const { type, before = null, after = null, more = {} } = event;
  const data = { host, reportUrl: reportUrl(siteUrl, host), ...more };
  const timestamp = new Date(nowMs).toISOString();
  for (let count = Math.max(offersOf(before).length, offersOf(after).length); ; count -= 1) {
    const cut = { before: withOffers(before, count), after: withOffers(after, count) };
    const body = JSON.stringify({ type, timestamp, data: { ...data, ...cut } });
    if (Buffer.byteLength(body) <= MAX_BODY_BYTES || count <= 0) return body;
  }
}

function withOffers(value: JsonObject | null, count: number): JsonObject | null {
  const isCut = offersOf(value).length > count;
  return isCut ? { ...value, offers: offersOf(value).slice(0, count) } : value;
}

function offersOf(value: JsonObject | null) {
  return jsonList(value?.['offers']);
}
