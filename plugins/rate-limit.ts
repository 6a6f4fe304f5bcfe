import rateLimit, {
  type FastifyRateLimitStore,
  type RateLimitPluginOptions,
} from '@fastify/rate-limit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import {
  type OperationOffer,
  PAID_REQUESTS_PER_MINUTE,
  UNPAID_ANSWERS_PER_MINUTE,
} from '../src/config/revision.ts';
import { clientKey } from '../src/limits/client-key.ts';
import { RateLimited } from '../src/model/errors.ts';
import { hasPaymentHeader } from '../src/payment/gate/payment-header.ts';
import type { Store } from '../src/store/store.ts';

/** True for requests that carry a payment; they have a bucket of their own. */
export type IsPaying = (request: FastifyRequest) => boolean;

export type CountRequest = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * Counts a request against the route at `url` as well as against its own. Throws RateLimited.
     * Undefined if RATE_LIMIT is off.
     */
    countAs?(url: string, offer: OperationOffer, isPaying: IsPaying): CountRequest;
  }
}

type RateLimitOptions = { readonly store: Pick<Store, 'limits' | 'now'> };

const MINUTE_MS = 60_000;
const UNKNOWN_PATHS_PER_MINUTE = 60;

/**
 * Limits requests a minute, by route and client, to the rate of the route's offer. The store holds the
 * counts, so instances share them. An unavailable store limits nothing: routes that need it answer 503.
 */
export default fp(
  async (app: FastifyInstance, { store }: RateLimitOptions) => {
    app.addHook('onRoute', ({ url, config }) => {
      const limit = config?.offer && limitOf(config.offer, config.bucket ?? url, hasPayment);
      if (config && limit) config.rateLimit = limit;
    });
    await app.register(rateLimit, {
      global: false,
      enableDraftSpec: true,
      timeWindow: MINUTE_MS,
      skipOnError: true,
      store: storeOver(store),
      errorResponseBuilder: (_request, { max, ttl }) => rateLimited(max, ttl),
    });
    app.decorate('countAs', (url, offer, isPaying) => {
      const limit = limitOf(offer, url, isPaying);
      return limit === null ? async () => {} : counter(app, limit);
    });
    // Unknown paths share one bucket, because callers could otherwise invent a new path for each request.
    const countUnknown = app.rateLimit({
      max: UNKNOWN_PATHS_PER_MINUTE,
      keyGenerator: ({ ip }) => `unknown ${clientKey(ip)}`,
    });
    app.addHook('onRequest', async (request, reply) => {
      if (request.is404) await countUnknown.call(app, request, reply);
    });
  },
  { name: 'rate-limit', dependencies: ['offers', 'errors'] },
);

const hasPayment: IsPaying = ({ headers }) => hasPaymentHeader(headers);

type Limit = Required<Pick<RateLimitPluginOptions, 'max' | 'keyGenerator'>>;

function limitOf(offer: OperationOffer, url: string, isPaying: IsPaying): Limit | null {
  if (offer.kind === 'free') {
    const { requestsPerMinute: max } = offer;
    return max === null ? null : { max, keyGenerator: ({ ip }) => `${url} ${clientKey(ip)}` };
  }
  return {
    max: (request) => (isPaying(request) ? PAID_REQUESTS_PER_MINUTE : UNPAID_ANSWERS_PER_MINUTE),
    keyGenerator: (request) =>
      `${url} ${isPaying(request) ? 'paid' : 'unpaid'} ${clientKey(request.ip)}`,
  };
}

function rateLimited(max: number, ttlMs: number): RateLimited {
  return new RateLimited(max, Math.max(1, Math.ceil(ttlMs / 1_000)));
}

/** The plugin's own handler counts a request once; this counts it against another route. */
function counter(app: FastifyInstance, limit: Limit): CountRequest {
  const count = app.createRateLimit(limit);
  return async (request, reply) => {
    const counted = await count(request);
    if (counted.isAllowed) return;
    if (counted.isExceeded) throw rateLimited(counted.max, counted.ttl);
    reply.headers({
      'ratelimit-limit': counted.max,
      'ratelimit-remaining': counted.remaining,
      'ratelimit-reset': counted.ttlInSeconds,
    });
  };
}

/** The routes share one store; keys begin with the route. */
function storeOver({ limits, now }: RateLimitOptions['store']) {
  return class CountingStore implements FastifyRateLimitStore {
    incr(
      key: string,
      callback: (error: Error | null, result?: { current: number; ttl: number }) => void,
    ): void {
      limits
        .hit(key, MINUTE_MS)
        .then(
          ({ count, resetAtMs }) => callback(null, { current: count, ttl: resetAtMs - now() }),
          callback,
        );
    }

    child(): CountingStore {
      return this;
    }
  };
}
