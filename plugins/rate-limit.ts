/** Limits of request rates. */
import rateLimit, {
  type FastifyRateLimitStore,
  type FastifyRateLimitStoreCtor,
  type RateLimitOptions as RouteLimit,
} from '@fastify/rate-limit';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import {
  type Offer,
  PAID_REQUESTS_PER_MINUTE,
  UNPAID_ANSWERS_PER_MINUTE,
} from '../src/config/revision.ts';
import { rememberingClientKey } from '../src/directory/client-key.ts';
import { RateLimited } from '../src/errors/errors.ts';
import type { Store } from '../src/store/contract/store.ts';

export type RateLimitOptions = { readonly store: Store };

const MINUTE_MS = 60_000;

/**
 * Requests a minute, by route and client, as the route's offer says. Counted in the store, so that
 * hosts count together. A store that is gone limits nothing: what needs it fails by itself.
 */
export default fp(
  async (app: FastifyInstance, { store }: RateLimitOptions) => {
    const keyOf = rememberingClientKey();
    app.addHook('onRoute', (route) => {
      const offer = route.config?.offer;
      if (offer === undefined) return;
      const limit = limitOf(offer, route.url, keyOf);
      if (limit !== null) route.config = { ...route.config, rateLimit: limit };
    });
    await app.register(rateLimit, {
      global: false,
      enableDraftSpec: true,
      skipOnError: true,
      timeWindow: MINUTE_MS,
      store: countersIn(store),
      errorResponseBuilder: (_request, { max, ttl }) =>
        new RateLimited(max, Math.max(1, Math.ceil(ttl / 1_000))),
    });
  },
  { name: 'rate-limit', dependencies: ['offers', 'errors'] },
);

function limitOf(offer: Offer, url: string, keyOf: (ip: string) => string): RouteLimit | null {
  if (offer.kind === 'free') {
    if (offer.requestsPerMinute === null) return null;
    return {
      max: offer.requestsPerMinute,
      keyGenerator: (request) => `${url} ${keyOf(request.ip)}`,
    };
  }
  return {
    max: (request) => (isPaying(request) ? PAID_REQUESTS_PER_MINUTE : UNPAID_ANSWERS_PER_MINUTE),
    keyGenerator: (request) =>
      `${url} ${isPaying(request) ? 'paid' : 'unpaid'} ${keyOf(request.ip)}`,
  };
}

function isPaying({ headers }: FastifyRequest): boolean {
  return headers['payment-signature'] !== undefined || headers['x-payment'] !== undefined;
}

function countersIn(store: Store): FastifyRateLimitStoreCtor {
  return class StoredCounters implements FastifyRateLimitStore {
    incr(...[key, callback, windowMs]: Parameters<FastifyRateLimitStore['incr']>): void {
      store.limits.hit(key, windowMs).then(
        ({ count, resetAtMs }) =>
          callback(null, { current: count, ttl: Math.max(0, resetAtMs - store.now()) }),
        (error: unknown) => callback(error instanceof Error ? error : new Error(String(error))),
      );
    }

    /** Keys name their route already. */
    child(): FastifyRateLimitStore {
      return this;
    }
  };
}
