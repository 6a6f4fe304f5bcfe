import type { PaidOffer } from '../../../config/revision.ts';
import { type ChangesQuery, listChanges, parseChangesQuery } from '../../../directory/changes.ts';
import type { PaidRoute } from '../../../payment/paid-route.ts';
import { JSON_HEADERS } from '../json-headers.ts';
import type { SellingOptions } from './scan-route.ts';

const MIN_VALIDITY_MS = 20_000;

/** `GET /v1/changes`: changes of the directory since an instant. */
export function changesRoute(
  { config, store }: SellingOptions,
  offer: PaidOffer,
): PaidRoute<ChangesQuery> {
  return {
    name: 'changes',
    method: 'GET',
    path: '/v1/changes',
    description: 'Directory changes since an instant: new, grade_changed and rescanned origins.',
    priceBaseUnits: offer.priceBaseUnits,
    maxTimeoutSeconds: offer.maxTimeoutSeconds,
    minValidityMs: MIN_VALIDITY_MS,
    isPublic: false,
    discovery: {
      input: { since: '2026-08-14T00:00:00Z', limit: '100' },
      inputSchema: {
        properties: { since: { type: 'string' }, limit: { type: 'string' } },
        required: ['since'],
      },
      output: {
        example: { count: 0, hasMore: false, nextSince: '2026-08-14T00:00:00Z', changes: [] },
        schema: {
          properties: { count: { type: 'integer' }, changes: { type: 'array' } },
          required: ['count', 'changes'],
        },
      },
    },

    parse: ({ query }) => parseChangesQuery(query as { since?: string; limit?: string }), // text, by the route's schema
    canonical: ({ sinceMs, limit }) => `${new Date(sinceMs).toISOString()} ${limit}`,

    async compute(query) {
      const page = await listChanges(store, query, config.siteUrl);
      return { headers: JSON_HEADERS, body: JSON.stringify(page) };
    },
  };
}
