import { Webhook } from 'standardwebhooks';
import { OriginRefused } from '../../scanner/guard/failures.ts';
import { type OriginPolicy, toOrigin, validateUrl } from '../../scanner/guard/origin.ts';
import { isJsonObject, parseJson } from '../../scanner/parse/json/json.ts';
import { readRetryAfterMs } from '../../scanner/parse/text/http-header.ts';
import type { Store } from '../store/store.ts';
import { withLease } from '../turns/in-turn.ts';
import { LimitReached, NoTurn, type TurnClient, type TurnRequest } from '../turns/origin-turns.ts';
import { changeLive, endLive, endWatch, findWatch, publishStep } from './change-watch.ts';
import { findRoom } from './quotas.ts';
import {
  findNextDelivery,
  fromVersion,
  type WatchState,
  type WatchTiming,
  type WebhookDelivery,
} from './state.ts';
import type { WatchLookOptions } from './watch-look.ts';

type DeliveriesOptions = Pick<WatchLookOptions, 'store' | 'timing' | 'policy' | 'turns'> & {
  readonly onDelivery: (result: DeliveryResult, ms: number) => void;
};

const DELIVERIES_PER_MINUTE = 60;
const MINUTE_MS = 60_000;
/** A receiver may agree to 100 watches, and more watches may wait for its agreement. */
const MAX_WATCHES_READ = 200;
/** After this wait the delivery is postponed, so that other receivers get a turn. */
const MAX_TURN_WAIT_MS = 5_000;
/** A try waits for the receiver's network, takes up to 15 s, and stores its result. The lease lasts longer. */
const LEASE_MS = 45_000;
/** A receiver that answers 410 wants no further event. The watch ends. */
const GONE_STATUS = 410;
const RETRY_LATER_STATUSES: ReadonlySet<number> = new Set([429, 503]);

/**
 * Sends one event of each due watch of a receiver, one after the other. A lease keeps other instances from sending to
 * the receiver meanwhile. Throws LimitReached if a limit postponed a delivery.
 */
export async function deliverDue(options: DeliveriesOptions, receiver: string): Promise<void> {
  const { store, turns, onDelivery } = options;
  const upToMs = store.now();
  const due = await store.watches.findDueDeliveries(receiver, { upToMs, limit: MAX_WATCHES_READ });
  const postponedDomains = new Set<string>();
  for (const { host, webhook, domain, block } of due.map(fromVersion)) {
    if (postponedDomains.has(domain)) continue;
    // A delivery is timed from its connection, without the wait for its turn.
    let startMs = performance.now();
    const request: TurnRequest = {
      kind: 'webhook',
      origin: toOrigin(new URL(webhook)),
      blocks: new Set([block]),
      domain,
      withinMs: MAX_TURN_WAIT_MS,
      async beforeConnect() {
        await countTry(store, receiver);
        startMs = performance.now();
      },
    };
    try {
      const result = await turns.ask(request, (client) =>
        deliverUnderLease(options, { host, receiver }, client),
      );
      if (result !== null) onDelivery(result, performance.now() - startMs);
    } catch (error) {
      if (!(error instanceof NoTurn)) throw error;
      // This domain may wait long for its turn, because its handshakes took long. Other domains do not wait for it.
      postponedDomains.add(domain);
    }
  }
  if (postponedDomains.size > 0) throw new LimitReached();
}

/** Resolves to null if nothing was sent, or the watch has ended meanwhile. */
function deliverUnderLease(
  options: DeliveriesOptions,
  { host, receiver }: Pick<WatchState, 'host' | 'receiver'>,
  client: TurnClient,
): Promise<DeliveryResult | null> {
  return withLease(options.store, ['webhook', receiver], LEASE_MS, async () => {
    const watch = await findWatch(options.store, host);
    if (watch === null || watch.endedAtMs !== null || watch.receiver !== receiver) return null;
    return deliver(options, watch, client);
  });
}

async function deliver(
  options: DeliveriesOptions,
  watch: WatchState,
  client: TurnClient,
): Promise<DeliveryResult | null> {
  const { store, policy } = options;
  const delivery = findNextDelivery(watch);
  if (delivery === null || delivery.nextTryAtMs > store.now()) return null;
  const body = await store.watches.findText(delivery.id);
  // Another instance has just delivered this event.
  if (body === null) return null;
  const headers = signHeaders(watch.secret, delivery.id, body, store.now());
  const outcome = await postWebhook({ url: watch.webhook, body, headers }, client, policy);
  publishStep('event-sent');
  const result = await storeOutcome(options, watch, delivery, outcome);
  publishStep('delivery-stored');
  return result;
}

/** Counts a try. Throws LimitReached if the receiver has reached its limit of this minute. */
async function countTry({ leases }: Store, receiver: string): Promise<void> {
  const counted = await leases.take({
    scope: ['watch', 'minute', receiver],
    limit: DELIVERIES_PER_MINUTE,
    lifetimeMs: MINUTE_MS,
    endsWithOwner: false,
  });
  if (!counted.taken) throw new LimitReached();
}

/**
 * Stores the outcome of a try. Agreement makes the watch active, or ends it if the receiver's quota has no room. Another
 * watch of the receiver may end to make room. Null: the watch had ended, or the event was no longer waiting.
 */
async function storeOutcome(
  options: DeliveriesOptions,
  watch: WatchState,
  { id }: WebhookDelivery,
  outcome: PostOutcome,
): Promise<DeliveryResult | null> {
  const { store, timing } = options;
  const nowMs = store.now();
  const applyOutcome = (state: WatchState) => {
    const waiting = state.deliveries.find((each) => each.id === id && each.status === 'waiting');
    return waiting === undefined ? null : applyTry(state, waiting, outcome, { nowMs, timing });
  };
  const isAgreeing = watch.agreedAtMs === null && applyOutcome(watch)?.result === 'delivered';
  const needsRoom = isAgreeing && !watch.holdsPlace;
  const room = needsRoom ? await findRoom(store, watch) : { evicted: null };
  if (room?.evicted) await endLive(options, room.evicted);
  let result: DeliveryResult | null = null;
  await changeLive(options, watch, (state) => {
    const after = applyOutcome(state);
    if (after === null) return null;
    result = after.result;
    if (!isAgreeing) return { state: after.state };
    // The first look at the host is due at once.
    const agreed = { agreedAtMs: nowMs, nextLookAtMs: nowMs, holdsPlace: true };
    return { state: room === null ? endWatch(after.state, nowMs) : { ...after.state, ...agreed } };
  });
  return result;
}

/** `retried`: a later try is planned. `ended`: the try ended the watch. */
export type DeliveryResult = 'delivered' | 'retried' | 'failed' | 'ended';

/** Returns the state after a try. The delivery succeeded, waits for a retry, or failed. A failure may end the watch. */
function applyTry(
  state: WatchState,
  lastDelivery: WebhookDelivery,
  outcome: PostOutcome,
  { nowMs, timing }: { readonly nowMs: number; readonly timing: WatchTiming },
): { readonly state: WatchState; readonly result: DeliveryResult } {
  const tries = lastDelivery.tries + 1;
  const delivery = { ...lastDelivery, tries, lastTryAtMs: nowMs };
  if (hasAccepted(state, lastDelivery, outcome)) {
    const next = withDelivery(state, { ...delivery, status: 'delivered' });
    return { state: { ...next, failedForMs: 0 }, result: 'delivered' };
  }
  const failedForMs = state.failedForMs + (nowMs - (lastDelivery.lastTryAtMs ?? nowMs));
  const waitMs = timing.retryAfterMs[tries - 1];
  const nextTryAtMs = nowMs + Math.max(waitMs ?? 0, readRetryAfter(outcome, timing));
  const status = waitMs === undefined ? 'failed' : 'waiting';
  const next = { ...withDelivery(state, { ...delivery, status, nextTryAtMs }), failedForMs };
  if (outcome.status === GONE_STATUS || failedForMs >= timing.giveUpAfterMs)
    return { state: endWatch(next, nowMs), result: 'ended' };
  return { state: next, result: status === 'failed' ? 'failed' : 'retried' };
}

function withDelivery(state: WatchState, changed: WebhookDelivery): WatchState {
  const deliveries = state.deliveries.map((each) => (each.id === changed.id ? changed : each));
  return { ...state, deliveries };
}

function hasAccepted(
  { challenge: agreement }: WatchState,
  { type }: WebhookDelivery,
  { status, body }: PostOutcome,
): boolean {
  if (status === null || status < 200 || status > 299) return false;
  if (type !== 'watch.started') return true;
  const answer = parseJson(body);
  return answer.ok && isJsonObject(answer.value) && answer.value['challenge'] === agreement;
}

function readRetryAfter({ status, retryAfterMs }: PostOutcome, timing: WatchTiming): number {
  if (status === null || !RETRY_LATER_STATUSES.has(status)) return 0;
  return Math.min(retryAfterMs ?? 0, timing.longestRetryAfterMs);
}

/** The receiver's answer to one try. */
type PostOutcome = {
  /** Null if there was no answer. */
  readonly status: number | null;
  /** The wait that Retry-After asks for; null without the header. */
  readonly retryAfterMs: number | null;
  /** At most 64 KiB. */
  readonly body: string;
};

type PostRequest = {
  readonly url: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
};

const TIMEOUT_MS = 15_000;
const MAX_ANSWER_BYTES = 64 * 1_024;
const NO_ANSWER: PostOutcome = { status: null, retryAfterMs: null, body: '' };

/** Follows no redirect. A try that throws (LimitReached, or an error if the fault is ours) is not counted. */
export async function postWebhook(
  { url, body, headers }: PostRequest,
  client: Pick<TurnClient, 'request'>,
  policy: OriginPolicy,
): Promise<PostOutcome> {
  try {
    const webhook = validateUrl(url, policy);
    const observation = await client.request({
      origin: toOrigin(webhook),
      method: 'POST',
      path: `${webhook.pathname}${webhook.search}`,
      rpc: { body, headers },
      accept: 'application/json',
      capBytes: MAX_ANSWER_BYTES,
      redirects: 'none',
      timeoutMs: TIMEOUT_MS,
    });
    if (!observation.ok) return NO_ANSWER;
    const { status, headers: answerHeaders, body: answerBody } = observation.data;
    const waitMs = readRetryAfterMs({ headers: answerHeaders }, Date.now());
    return { status, retryAfterMs: waitMs, body: answerBody };
  } catch (error) {
    if (error instanceof OriginRefused) return NO_ANSWER;
    throw error;
  }
}

/** Returns the headers of Standard Webhooks, as https://www.standardwebhooks.com describes them. */
export function signHeaders(secret: string, id: string, body: string, nowMs: number) {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(nowMs / 1_000)),
    'webhook-signature': new Webhook(secret).sign(id, new Date(nowMs), body),
  };
}
