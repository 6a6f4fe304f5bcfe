import { Webhook } from 'standardwebhooks';
import type { AdmitAddresses } from '../limits/origin-turns.ts';
import { isJsonObject, parseJson } from '../parse/json/json.ts';
import { endWatch } from './change-watch.ts';
import type { Delivery, WatchState } from './state.ts';
import type { WatchTiming } from './timing.ts';

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

export type PostRequest = {
  readonly url: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
};

/**
 * Sends one try, to addresses that `admit` allows; throws NoPlace where it allows none. Rejects when the fault is
 * ours. Neither counts as a try.
 */
export type PostWebhook = (request: PostRequest, admit: AdmitAddresses) => Promise<PostOutcome>;

const GONE = 410;
const ASKS_FOR_TIME: ReadonlySet<number> = new Set([429, 503]);

/** The headers of Standard Webhooks. */
export function signHeaders(
  secret: string,
  id: string,
  body: string,
  nowMs: number,
): Readonly<Record<string, string>> {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(nowMs / 1_000)),
    'webhook-signature': new Webhook(secret).sign(id, new Date(nowMs), body),
  };
}

export type Result = 'delivered' | 'retried' | 'failed' | 'ended';

/** Returns the watch after a try: the delivery is done, is retried, or has failed, which may end the watch. */
export function applyTry(
  state: WatchState,
  tried: Delivery,
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

function withDelivery(state: WatchState, changed: Delivery): WatchState {
  const deliveries = state.deliveries.map((one) => (one.id === changed.id ? changed : one));
  return { ...state, deliveries };
}

function isDelivered({ challenge }: WatchState, { type }: Delivery, outcome: PostOutcome): boolean {
  const { status, body } = outcome;
  if (status === null || status < 200 || status > 299) return false;
  if (type !== 'watch.started') return true;
  const read = parseJson(body);
  return read.ok && isJsonObject(read.value) && read.value['challenge'] === challenge;
}

function askedFor({ status, retryAfterMs }: PostOutcome, timing: WatchTiming): number {
  if (status === null || !ASKS_FOR_TIME.has(status)) return 0;
  return Math.min(retryAfterMs ?? 0, timing.longestRetryAfterMs);
}
