import { Webhook } from 'standardwebhooks';
import { isJsonObject, parseJson } from '../parse/json/json.ts';
import { endWatch } from './change-watch.ts';
import type { Delivery, WatchState } from './state.ts';
import type { WatchTiming } from './timing.ts';

/** How a receiver answered one try. */
export type PostOutcome = {
  /** Null where no answer came. */
  readonly status: number | null;
  /** What Retry-After asks for. */
  readonly retryAfterMs: number | null;
  /** At most 64 KiB. */
  readonly body: string;
};

export type PostRequest = {
  readonly url: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
};

/** Sends one try. Rejects where the fault is ours, which is no try. */
export type PostWebhook = (request: PostRequest) => Promise<PostOutcome>;

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

/** What one try leads to. */
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
