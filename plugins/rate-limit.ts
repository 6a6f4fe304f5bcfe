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
} from '../src/service/config/revision.ts';
import { RateLimited } from '../src/service/errors/errors.ts';
import { hasPaymentHeader } from '../src/service/payment/gate/payment-header.ts';
import type { Store } from '../src/service/store/store.ts';
import { toClientKey } from '../src/service/turns/client-key.ts';

/** Returns true for a request that carries a payment. Such requests have a limit of their own. */
type IsPaying = (request: FastifyRequest) => boolean;

/** Rejects with `RateLimited` if the client has reached the limit. */
export type CountRequest = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

declare module 'fastify' {
  interface FastifyInstance {
    /** Returns a function that counts a request against the limit of the route at `url`. Undefined with RATE_LIMIT=off. */
    createRouteCounter?(url: string, offer: OperationOffer, isPaying: IsPaying): CountRequest;
  }
}

type RateLimitOptions = { readonly store: Pick<Store, 'limits' | 'now'> };

const MINUTE_MS = 60_000;
const UNKNOWN_PATHS_PER_MINUTE = 60;

/**
 * The route's offer limits how many requests a client may send to the route in a minute. The store holds
 * the counts, which all instances share. While the store is unavailable, requests are not limited. Routes
 * that need the store then answer 503.
 */
export default fp(
  async (app: FastifyInstance, { store }: RateLimitOptions) => {
    app.addHook('onRoute', ({ url, config }) => {
      const limit = config?.offer && toLimit(config.offer, config.bucket ?? url, hasPayment);
      if (config && limit) config.rateLimit = limit;
    });
    await app.register(rateLimit, {
      global: false,
      enableDraftSpec: true,
      timeWindow: MINUTE_MS,
      skipOnError: true,
      store: createCounterClass(store),
      errorResponseBuilder: (_request, { max, ttl }) => toRateLimited(max, ttl),
    });
    app.decorate('createRouteCounter', (url, offer, isPaying) => {
      const limit = toLimit(offer, url, isPaying);
      return limit === null ? async () => {} : createCounter(app, limit);
    });
    // Unknown paths share one count, because a caller could otherwise invent a new path for each request.
    const countUnknownPath = app.rateLimit({
      max: UNKNOWN_PATHS_PER_MINUTE,
      keyGenerator: ({ ip }) => `unknown ${toClientKey(ip)}`,
    });
    app.addHook('onRequest', async (request, reply) => {
      if (request.is404) await countUnknownPath.call(app, request, reply);
    });
  },
  { name: 'rate-limit', dependencies: ['offers', 'errors'] },
);

const hasPayment: IsPaying = ({ headers }) => hasPaymentHeader(headers);

type RouteLimit = Required<Pick<RateLimitPluginOptions, 'max' | 'keyGenerator'>>;

function toLimit(offer: OperationOffer, bucket: string, isPaying: IsPaying): RouteLimit | null {
  if (offer.kind === 'free') {
    const { requestsPerMinute: max } = offer;
    return max === null ? null : { max, keyGenerator: ({ ip }) => `${bucket} ${toClientKey(ip)}` };
  }
  return {
    max: (request) => (isPaying(request) ? PAID_REQUESTS_PER_MINUTE : UNPAID_ANSWERS_PER_MINUTE),
    keyGenerator: (request) =>
      `${bucket} ${isPaying(request) ? 'paid' : 'unpaid'} ${toClientKey(request.ip)}`,
  };
}

function toRateLimited(max: number, ttlMs: number): RateLimited {
  return new RateLimited(max, Math.max(1, Math.ceil(ttlMs / 1_000)));
}

/** Counts a request against the limit of another route, which `@fastify/rate-limit` does not do by itself. */
function createCounter(app: FastifyInstance, limit: RouteLimit): CountRequest {
  const countRequest = app.createRateLimit(limit);
  return async (request, reply) => {
    const usage = await countRequest(request);
    if (usage.isAllowed) return;
    if (usage.isExceeded) throw toRateLimited(usage.max, usage.ttl);
    reply.headers({
      'ratelimit-limit': usage.max,
      'ratelimit-remaining': usage.remaining,
      'ratelimit-reset': usage.ttlInSeconds,
    });
  };
}

/** `@fastify/rate-limit` takes a class. All routes share one instance of it, because each key begins with a route. */
function createCounterClass({ limits, now }: RateLimitOptions['store']) {
  return class RequestCounter implements FastifyRateLimitStore {
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

    child(): RequestCounter {
      return this;
    }
  };
}
