import { randomUUID } from 'node:crypto';
import { channel } from 'node:diagnostics_channel';
import { setTimeout as pause } from 'node:timers/promises';
import type { Store } from '../store/store.ts';
import type { WatchText } from '../store/watches.ts';
import { findNextDutyMs } from './look-times.ts';
import {
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

/** The steps of a look and of a delivery at which tests end the process. */
type WatchStep = 'look-seen' | 'look-stored' | 'event-sent' | 'delivery-stored';

export const STEPS_CHANNEL = 'x402-scan:watch';

const steps = channel(STEPS_CHANNEL);

/** Only tests subscribe. A subscriber ends the process synchronously, at this step. */
export function publishStep(name: WatchStep): void {
  if (steps.hasSubscribers) steps.publish({ name });
}
