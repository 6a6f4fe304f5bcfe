import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Store } from '../store/store.ts';
import type { WatchText } from '../store/watches.ts';
import { findDutyMs } from './plan.ts';
import { fromVersion, listTexts, toVersion, trimDeliveries, type WatchState } from './state.ts';
import type { WatchTiming } from './timing.ts';

export type Changed = { readonly state: WatchState; readonly texts?: readonly WatchText[] };

type ChangeContext = {
  readonly store: Pick<Store, 'watches'>;
  readonly timing: WatchTiming;
};

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
  next: (held: WatchState | null) => Changed | null,
): Promise<WatchState | null> {
  for (;;) {
    const version = await store.watches.newest(host);
    const held = version && fromVersion(version);
    const changed = next(held);
    if (changed === null) return null;
    const state = trimDeliveries(changed.state);
    const kept = new Set(listTexts(state));
    const dropped = held === null ? [] : listTexts(held).filter((id) => !kept.has(id));
    const lookAtMs = findDutyMs(state, timing);
    const outcome = await store.watches.append(
      toVersion(state, (version?.n ?? 0) + 1, { lookAtMs }),
      { attempt: randomUUID(), texts: changed.texts ?? [], dropped },
    );
    if (outcome === 'won') return state;
    await pause(Math.random() * LONGEST_PAUSE_MS);
  }
}

/** Limits a change to this watch: nothing changes when it has ended, or the host has a new watch. */
export function ifSame(
  watch: Pick<WatchState, 'secret'>,
  next: (held: WatchState) => Changed | null,
): (held: WatchState | null) => Changed | null {
  return (held) =>
    held === null || held.secret !== watch.secret || held.endedAtMs !== null ? null : next(held);
}

/** Ends a watch, and counts its waiting deliveries as failed, because nothing more is sent. */
export function endWatch(state: WatchState, nowMs: number): WatchState {
  const deliveries = state.deliveries.map((one) =>
    one.status === 'waiting' ? { ...one, status: 'failed' as const } : one,
  );
  return { ...state, endedAtMs: nowMs, nextLookAtMs: null, deliveries };
}
