import { Webhook } from 'standardwebhooks';
import { toOrigin } from '../guard/origin.ts';
import type { AdmitAddresses, OriginTurn, OriginTurns } from '../limits/origin-turns.ts';
import { NoPlace, underLease } from '../looks/in-turn.ts';
import { isJsonObject, parseJson } from '../parse/json/json.ts';
import type { Store } from '../store/store.ts';
import { changeSame, endSame, endWatch, findWatch, publishStep } from './change-watch.ts';
import { findRoom } from './places.ts';
import {
  findNextDelivery,
  fromVersion,
  type WatchState,
  type WatchTiming,
  type WebhookDelivery,
} from './state.ts';

export type DeliveriesOptions = {
  readonly store: Store;
  readonly timing: WatchTiming;
  readonly turns: Pick<OriginTurns, 'enter'>;
  readonly postWebhook: PostWebhook;
  readonly onDelivery: (result: Result, ms: number) => void;
};

const DELIVERIES_A_MINUTE = 60;
const MINUTE_MS = 60_000;
/** A receiver may agree to 100 watches, and more may wait for it. */
const WATCHES_AT_ONCE = 200;
/** After this wait for a turn, the receivers behind it are read. */
const TURN_WITHIN_MS = 5_000;
/** A try waits for its receiver's network and takes 15 s, with what is stored around it. */
const LEASE_MS = 45_000;

/**
 * Sends one event of each due watch of a receiver in turn, under a lease, so that no other instance sends to the
 * receiver meanwhile. Throws NoPlace when a limit leaves some of them for later.
 */
export async function deliverDue(options: DeliveriesOptions, receiver: string): Promise<void> {
  const { store, turns } = options;
  const upToMs = store.now();
  const due = await store.watches.dueSends(receiver, { upToMs, limit: WATCHES_AT_ONCE });
  const refused = new Set<string>();
  for (const { host, webhook, domain, block } of due.map(fromVersion)) {
    if (refused.has(domain)) continue;
    const turn = await turns.enter({
      kind: 'webhook',
      origin: toOrigin(new URL(webhook)),
      blocks: new Set([block]),
      domain,
      withinMs: TURN_WITHIN_MS,
    });
    // The turn of a domain that spent much on handshakes may be far off, those of others are not.
    if (turn === null) refused.add(domain);
    else await deliverInTurn(options, { host, receiver }, turn);
  }
  if (refused.size > 0) throw new NoPlace();
}

async function deliverInTurn(
  options: DeliveriesOptions,
  { host, receiver }: Pick<WatchState, 'host' | 'receiver'>,
  turn: OriginTurn,
): Promise<void> {
  let handshakeMs = 0;
  try {
    await underLease(options.store, ['webhook', receiver], LEASE_MS, async () => {
      const watch = await findWatch(options.store, host);
      if (watch?.endedAtMs !== null || watch.receiver !== receiver) return;
      handshakeMs = await deliver(options, watch, turn);
    });
  } finally {
    turn.end(handshakeMs);
  }
}

/** Resolves to the processor time of TLS handshakes. */
async function deliver(
  options: DeliveriesOptions,
  watch: WatchState,
  turn: OriginTurn,
): Promise<number> {
  const { store, postWebhook, onDelivery } = options;
  const { receiver, secret, webhook } = watch;
  const delivery = findNextDelivery(watch);
  if (delivery === null || delivery.nextTryAtMs > store.now()) return 0;
  const body = await store.watches.text(delivery.id);
  // Another instance has just delivered it.
  if (body === null) return 0;
  let beganAt = performance.now();
  const headers = signHeaders(secret, delivery.id, body, store.now());
  const outcome = await postWebhook({ url: webhook, body, headers }, async (addresses) => {
    const isAdmitted = (await turn.toward(addresses)) && (await isWithinRate(store, receiver));
    beganAt = performance.now();
    return isAdmitted;
  });
  publishStep('event-sent');
  const result = await record(options, watch, delivery, outcome);
  publishStep('delivery-stored');
  if (result !== null) onDelivery(result, performance.now() - beganAt);
  return outcome.handshakeMs ?? 0;
}

/** Counts a try; false when the receiver has had its limit of this minute. */
async function isWithinRate({ slots }: Store, receiver: string): Promise<boolean> {
  const place = await slots.take({
    scope: ['watch', 'minute', receiver],
    limit: DELIVERIES_A_MINUTE,
    lifetimeMs: MINUTE_MS,
    endsWithOwner: false,
  });
  return place.taken;
}

/** Stores the result of a try; null when the watch has ended meanwhile. */
async function record(
  options: DeliveriesOptions,
  watch: WatchState,
  { id }: WebhookDelivery,
  outcome: PostOutcome,
): Promise<Result | null> {
  const { store, timing } = options;
  const nowMs = store.now();
  const apply = (state: WatchState) => {
    const one = state.deliveries.find((other) => other.id === id && other.status === 'waiting');
    return one === undefined ? null : applyTry(state, one, outcome, { nowMs, timing });
  };
  const isAgreeing = watch.agreedAtMs === null && apply(watch)?.result === 'delivered';
  const isNew = isAgreeing && !watch.holdsPlace;
  const room = isNew ? await findRoom(store, watch) : { evicted: null };
  if (room?.evicted) await endSame(options, room.evicted);
  let result: Result | null = null;
  await changeSame(options, watch, (state) => {
    const after = apply(state);
    if (after === null) return null;
    result = after.result;
    if (!isAgreeing) return { state: after.state };
    // The first look is due at once.
    const agreed = { agreedAtMs: nowMs, nextLookAtMs: nowMs, holdsPlace: true };
    return { state: room === null ? endWatch(after.state, nowMs) : { ...after.state, ...agreed } };
  });
  return result;
}

/** The receiver's answer to one try. */
export type PostOutcome = {
  /** Null when there was no answer. */
  readonly status: number | null;
  /** The wait that Retry-After asks for; null without the header. */
  readonly retryAfterMs: number | null;
  /** At most 64 KiB. */
  readonly body: string;
  /** Processor time of TLS handshakes. */
  readonly handshakeMs?: number;
};

type PostRequest = {
  readonly url: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
};

/**
 * Sends one try, to addresses that `admit` allows; throws NoPlace if it allows none. Rejects when the fault is
 * ours. Neither counts as a try.
 */
export type PostWebhook = (request: PostRequest, admit: AdmitAddresses) => Promise<PostOutcome>;

const GONE = 410;
const ASKS_FOR_TIME: ReadonlySet<number> = new Set([429, 503]);

/** The headers of Standard Webhooks. */
export function signHeaders(secret: string, id: string, body: string, nowMs: number) {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(nowMs / 1_000)),
    'webhook-signature': new Webhook(secret).sign(id, new Date(nowMs), body),
  };
}

export type Result = 'delivered' | 'retried' | 'failed' | 'ended';

/** Returns the watch after a try: the delivery is done, is retried, or has failed, which may end the watch. */
function applyTry(
  state: WatchState,
  tried: WebhookDelivery,
  outcome: PostOutcome,
  { nowMs, timing }: { readonly nowMs: number; readonly timing: WatchTiming },
): { readonly state: WatchState; readonly result: Result } {
  const tries = tried.tries + 1;
  const one = { ...tried, tries, lastTryAtMs: nowMs };
  if (isDelivered(state, tried, outcome)) {
    const next = withDelivery(state, { ...one, status: 'delivered' });
    return { state: { ...next, failedForMs: 0 }, result: 'delivered' };
  }
  const failedForMs = state.failedForMs + (nowMs - (tried.lastTryAtMs ?? nowMs));
  const waitMs = timing.retryAfterMs[tries - 1];
  const nextTryAtMs = nowMs + Math.max(waitMs ?? 0, askedFor(outcome, timing));
  const status = waitMs === undefined ? 'failed' : 'waiting';
  const next = { ...withDelivery(state, { ...one, status, nextTryAtMs }), failedForMs };
  if (outcome.status === GONE || failedForMs >= timing.giveUpAfterMs) {
    return { state: endWatch(next, nowMs), result: 'ended' };
  }
  return { state: next, result: status === 'failed' ? 'failed' : 'retried' };
}

function withDelivery(state: WatchState, changed: WebhookDelivery): WatchState {
  const deliveries = state.deliveries.map((one) => (one.id === changed.id ? changed : one));
  return { ...state, deliveries };
}

function isDelivered(
  { challenge: agreement }: WatchState,
  { type }: WebhookDelivery,
  { status, body }: PostOutcome,
): boolean {
  if (status === null || status < 200 || status > 299) return false;
  if (type !== 'watch.started') return true;
  const read = parseJson(body);
  return read.ok && isJsonObject(read.value) && read.value['challenge'] === agreement;
}

function askedFor({ status, retryAfterMs }: PostOutcome, timing: WatchTiming): number {
  if (status === null || !ASKS_FOR_TIME.has(status)) return 0;
  return Math.min(retryAfterMs ?? 0, timing.longestRetryAfterMs);
}
