/** Limits of request rates. */
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import fp from 'fastify-plugin';
import {
  type Offer,
  PAID_REQUESTS_PER_MINUTE,
  UNPAID_ANSWERS_PER_MINUTE,
} from '../src/config/revision.ts';
import { clientKey } from '../src/directory/client-key.ts';
import { RateLimited } from '../src/model/errors.ts';
import type { Counted } from '../src/store/contract/limits.ts';
import type { Store } from '../src/store/contract/store.ts';
import answerHeaders from './answer-headers.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Counts a request in the bucket of its client; absent where rates are not limited. */
    limitRate?(limit: RateLimit): onRequestHookHandler;
    /** Counts a request as one of the route at `url`, by the offer of that route; null where it has no limit. */
    limitAs?(url: string, offer: Offer, isPaying: IsPaying): onRequestHookHandler | null;
  }
  interface FastifyRequest {
    /** The bucket it was counted in last: a HEAD has the hooks of its GET, too, and counts once. */
    rateBucket: string | null;
  }
}

export type RateLimitOptions = { readonly store: Pick<Store, 'limits' | 'now'> };

/** Whether a request carries a payment: those have a bucket of their own. */
export type IsPaying = (request: FastifyRequest) => boolean;

export type RateLimit = {
  /** Requests a minute. */
  readonly max: (request: FastifyRequest) => number;
  /** The client's bucket; `client` is its key. */
  readonly bucket: (request: FastifyRequest, client: string) => string;
};

const MINUTE_MS = 60_000;

/**
 * Requests a minute, by route and client, as the route's offer says. Counted in the store, so that
 * hosts count together; an embedded store answers at once, and nothing is waited for. A store that
 * is gone limits nothing: what needs it fails by itself.
 */
export default fp(
  async (app: FastifyInstance, { store }: RateLimitOptions) => {
    await app.register(answerHeaders);
    const uncounted = (): Counted => ({ count: 0, resetAtMs: store.now() });
    const limitRate =
      ({ max: maxOf, bucket }: RateLimit): onRequestHookHandler =>
      (request, reply, next) => {
        const key = bucket(request, clientKey(request.ip));
        if (request.rateBucket === key) return next();
        request.rateBucket = key;
        const max = maxOf(request);
        const counted = store.limits.hit(key, MINUTE_MS);
        const go = (one: Counted) => next(answerCount(reply, max, one, store.now()));
        if (!(counted instanceof Promise)) return go(counted);
        counted.catch(uncounted).then(go);
      };
    app.decorateRequest('rateBucket', null);
    app.decorate('limitRate', limitRate);
    app.decorate('limitAs', (url, offer, isPaying) => {
      const limit = limitOf(offer, url, isPaying);
      return limit === null ? null : limitRate(limit);
    });
    app.addHook('onRoute', (route) => {
      const offer = route.config?.offer;
      const limit = offer === undefined ? null : limitOf(offer, route.url, hasPaymentHeader);
      if (limit === null) return;
      route.onRequest = [...[route.onRequest ?? []].flat(), limitRate(limit)];
    });
  },
  { name: 'rate-limit', dependencies: ['offers', 'errors'] },
);

/** Tells the client what is left; the error is that nothing is. */
function answerCount(
  reply: FastifyReply,
  max: number,
  { count, resetAtMs }: Counted,
  nowMs: number,
): RateLimited | undefined {
  const resetSec = Math.max(0, Math.ceil((resetAtMs - nowMs) / 1_000));
  reply.rateHeaders = {
    'ratelimit-limit': max,
    'ratelimit-remaining': Math.max(0, max - count),
    'ratelimit-reset': resetSec,
  };
  return count > max ? new RateLimited(max, Math.max(1, resetSec)) : undefined;
}

function limitOf(offer: Offer, url: string, isPaying: IsPaying): RateLimit | null {
  if (offer.kind === 'free') {
    const { requestsPerMinute } = offer;
    if (requestsPerMinute === null) return null;
    return { max: () => requestsPerMinute, bucket: (_request, client) => `${url} ${client}` };
  }
  return {
    max: (request) => (isPaying(request) ? PAID_REQUESTS_PER_MINUTE : UNPAID_ANSWERS_PER_MINUTE),
    bucket: (request, client) => `${url} ${isPaying(request) ? 'paid' : 'unpaid'} ${client}`,
  };
}

function hasPaymentHeader({ headers }: FastifyRequest): boolean {
  return headers['payment-signature'] !== undefined || headers['x-payment'] !== undefined;
}
