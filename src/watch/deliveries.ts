import type { Store } from '../store/contract/store.ts';
import type { WatchVersion } from '../store/contract/watches.ts';
import { type Changed, changeWatch, endWatch, findWatch, ifSame } from './change-watch.ts';
import {
  applyTry,
  type PostOutcome,
  type PostWebhook,
  type Result,
  signHeaders,
} from './delivery.ts';
import { freePlaces, takeAgreedPlace } from './places.ts';
import { type Delivery, findNextDelivery, type HeldPlace, type WatchState } from './state.ts';
import type { WatchTiming } from './timing.ts';
import { NoPlace, underLease } from './under-lease.ts';

export type DeliveriesOptions = {
  readonly store: Store;
  readonly timing: WatchTiming;
  readonly postWebhook: PostWebhook;
  readonly onDelivery: (result: Result, ms: number) => void;
  /** Tests end the process at a step. */
  readonly onStep?: ((step: 'event-sent' | 'delivery-stored') => void) | undefined;
};

const DELIVERIES_A_MINUTE = 60;
const MINUTE_MS = 60_000;
/** A try takes 15 s, with what is stored around it. */
const LEASE_MS = 45_000;

/**
 * Sends one event of each due watch of a receiver in turn, under a lease, so that no other instance sends to the
 * receiver meanwhile. Throws NoPlace when the receiver has had its limit of events of this minute.
 */
export async function deliverDue(
  options: DeliveriesOptions,
  receiver: string,
  due: readonly WatchVersion[],
): Promise<void> {
  for (const { host } of due) {
    await underLease(options.store, `webhook:${receiver}`, LEASE_MS, async () => {
      const watch = await findWatch(options.store, host);
      if (watch?.endedAtMs === null && watch.receiver === receiver) await deliver(options, watch);
    });
  }
}

async function deliver(options: DeliveriesOptions, watch: WatchState): Promise<void> {
  const { store, postWebhook, onStep, onDelivery } = options;
  const { receiver, secret, webhook } = watch;
  const delivery = findNextDelivery(watch);
  if (delivery === null || delivery.nextTryAtMs > store.now()) return;
  const body = await store.watches.text(delivery.id);
  // Another instance has just delivered it.
  if (body === null) return;
  const place = await store.slots.take({
    scope: ['watch', 'minute', receiver],
    limit: DELIVERIES_A_MINUTE,
    lifetimeMs: MINUTE_MS,
    endsWithOwner: false,
  });
  if (!place.taken) throw new NoPlace();
  const beganAt = performance.now();
  const headers = signHeaders(secret, delivery.id, body, store.now());
  const outcome = await postWebhook({ url: webhook, body, headers });
  onStep?.('event-sent');
  const result = await record(options, watch, delivery, outcome);
  onStep?.('delivery-stored');
  if (result !== null) onDelivery(result, performance.now() - beganAt);
}

/** Stores the result of a try; null when the watch has ended meanwhile. */
async function record(
  { store, timing }: DeliveriesOptions,
  watch: WatchState,
  { id }: Delivery,
  outcome: PostOutcome,
): Promise<Result | null> {
  const nowMs = store.now();
  const tried = (held: WatchState) => {
    const one = held.deliveries.find((other) => other.id === id && other.status === 'waiting');
    return one === undefined ? null : applyTry(held, one, outcome, { nowMs, timing });
  };
  const isAgreeing = watch.agreedAtMs === null && tried(watch)?.result === 'delivered';
  // The place is taken before the agreement is stored, so that every agreed watch holds one.
  const place = isAgreeing ? await takeAgreedPlace(store, watch) : null;
  let result: Result | null = null;
  const next = (held: WatchState): Changed | null => {
    const after = tried(held);
    if (after === null) return null;
    result = after.result;
    if (!isAgreeing) return { state: after.state };
    return {
      state: place === null ? endWatch(after.state, nowMs) : agreed(after.state, place, nowMs),
    };
  };
  const changed = await changeWatch({ store, timing }, watch.host, ifSame(watch, next));
  if (changed === null) {
    if (place !== null) await freePlaces(store, [place]);
    return null;
  }
  const held = new Set(
    changed.endedAtMs === null ? changed.places.map(({ attempt }) => attempt) : [],
  );
  await freePlaces(
    store,
    watch.places.filter(({ attempt }) => !held.has(attempt)),
  );
  return result;
}

/** Gives the watch its place of agreed watches in place of those it held while waiting, and plans its first look. */
function agreed(state: WatchState, place: HeldPlace, nowMs: number): WatchState {
  const kept = state.places.filter(({ scope }) => scope[1] !== 'pending');
  return { ...state, agreedAtMs: nowMs, nextLookAtMs: nowMs, places: [...kept, place] };
}
