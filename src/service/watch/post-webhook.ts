import { Webhook } from 'standardwebhooks';
import { OriginRefused } from '../../scanner/guard/failures.ts';
import { type OriginPolicy, toOrigin, validateUrl } from '../../scanner/guard/origin.ts';
import { readRetryAfterMs } from '../../scanner/parse/text/http-header.ts';
import type { TurnClient } from '../turns/origin-turns.ts';

/** The receiver's answer to one try. */
export type PostOutcome = {
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

/**
 * Sends one try, and follows no redirect. Throws LimitReached if a limit forbids the request, and another error if the
 * fault is ours. A try that throws is not counted.
 */
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
