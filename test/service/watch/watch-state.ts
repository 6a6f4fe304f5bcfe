import { randomUUID } from 'node:crypto';
import type { Store } from '../../../src/service/store/store.ts';
import {
  findHourlyMs,
  findNextDutyMs,
  toDay,
  toVersion,
  toWatchTiming,
  type WatchState,
  type WebhookDelivery,
} from '../../../src/service/watch/state.ts';

const TIMING = toWatchTiming();

/** The state of an agreed watch that was scanned today. `changes` replaces other members. */
export function toAgreedWatch(
  host: string,
  nowMs: number,
  changes: Partial<WatchState> = {},
): WatchState {
  return {
    host,
    originUrl: `https://${host}`,
    webhook: 'https://hooks.example.com/x',
    receiver: 'hooks.example.com',
    secret: 'whsec_c2VjcmV0LXRoYXQtc2lnbnMtdGhlLWV2ZW50cw==',
    challenge: 'c',
    tokenHash: 't',
    domain: host,
    client: 'client',
    block: 'block',
    holdsPlace: true,
    changes: [],
    createdAtMs: nowMs,
    agreedAtMs: nowMs,
    endsAtMs: nowMs + TIMING.lifetimeMs,
    endedAtMs: null,
    isEndTold: false,
    nextLookAtMs: findHourlyMs(host, nowMs, TIMING),
    scannedDay: toDay(nowMs, TIMING),
    readDay: toDay(nowMs, TIMING),
    scanId: null,
    scannedAtMs: nowMs,
    baseline: null,
    suspicions: {},
    deliveries: [],
    failedForMs: 0,
    ...changes,
  };
}

/** A test event that waits for its delivery since `atMs`. */
export function toWaitingDelivery(atMs: number): WebhookDelivery {
  const times = { atMs, nextTryAtMs: atMs, lastTryAtMs: null };
  return { id: `msg_${randomUUID()}`, type: 'watch.test', tries: 0, status: 'waiting', ...times };
}

/** Stores the first version of a watch, with the texts that it refers to. */
export async function storeWatch({ watches }: Store, state: WatchState, seen = '{}') {
  const bodies = state.deliveries.map(({ id }) => ({ id, text: `{"of":"${state.host}"}` }));
  const texts = state.baseline === null ? bodies : [...bodies, { id: state.baseline, text: seen }];
  const version = toVersion(state, 1, findNextDutyMs(state, TIMING));
  await watches.append(version, { attempt: randomUUID(), texts, dropped: [] });
}
