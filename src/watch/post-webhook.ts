import { OriginRefused } from '../guard/errors.ts';
import { NetworkDown } from '../guard/failures.ts';
import { toOrigin, validateUrl } from '../guard/origin.ts';
import { LimitReached } from '../looks/in-turn.ts';
import { retryAfterMs } from '../parse/text/http-header.ts';
import type { CreateProbeClient, ProbeClientOptions } from '../probe/client/client.ts';
import type { PostOutcome, PostWebhook } from './deliveries.ts';

export type PostWebhookOptions = {
  readonly createClient: CreateProbeClient;
  /** Default 15 s. */
  readonly timeoutMs?: number;
} & Pick<ProbeClientOptions, 'policy' | 'userAgent' | 'resolver' | 'connect' | 'extraCa'>;

const TIMEOUT_MS = 15_000;
/** Each try of a delivery asks for the name once, because a delivery is tried again anyway. */
const FREE_LIMITS = { maxDnsTries: 1 };
const MAX_ANSWER_BYTES = 64 * 1_024;
const NO_ANSWER: PostOutcome = { status: null, retryAfterMs: null, body: '' };

/** Posts through the guard of the prober. Each try resolves the name again. A redirect is not followed. */
export function createPostWebhook({
  createClient,
  timeoutMs = TIMEOUT_MS,
  ...options
}: PostWebhookOptions): PostWebhook {
  return async ({ url, body, headers }, admit) => {
    const client = createClient({ ...options, limits: FREE_LIMITS });
    try {
      const webhook = validateUrl(url, options.policy);
      const origin = toOrigin(webhook);
      const resolved = await client.resolveOrigin(origin);
      if (resolved.kind === 'our-fault') throw new NetworkDown(resolved.detail);
      if (resolved.kind !== 'addresses') return NO_ANSWER;
      if (!(await admit(resolved.addresses))) throw new LimitReached();
      const observation = await client.request({
        origin,
        method: 'POST',
        path: `${webhook.pathname}${webhook.search}`,
        rpc: { body, headers },
        accept: 'application/json',
        capBytes: MAX_ANSWER_BYTES,
        redirects: 'none',
        timeoutMs,
      });
      const { handshakeMs } = client.stats();
      if (!observation.ok) return { ...NO_ANSWER, handshakeMs };
      const { status, headers: answerHeaders, body: answerBody } = observation.data;
      const waitMs = retryAfterMs({ headers: answerHeaders }, Date.now());
      return { status, retryAfterMs: waitMs, body: answerBody, handshakeMs };
    } catch (error) {
      if (error instanceof OriginRefused) return NO_ANSWER;
      throw error;
    } finally {
      client.close();
    }
  };
}
