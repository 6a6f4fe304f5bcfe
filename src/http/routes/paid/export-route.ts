import type { PaidOffer } from '../../../config/revision.ts';
import { ExportSnapshots } from '../../../directory/export-snapshots.ts';
import type { PaidRoute } from '../../../payment/paid-route.ts';
import { JSON_HEADERS } from '../json-headers.ts';
import type { SellingOptions } from './scan-route.ts';

const MIN_VALIDITY_MS = 20_000;

/** `GET /v1/directory/export`: the whole directory in one answer, stored in chunks before it is settled. */
export function exportRoute({ config, store }: SellingOptions, offer: PaidOffer): PaidRoute<null> {
  const snapshots = new ExportSnapshots({ store, siteUrl: config.siteUrl, headers: JSON_HEADERS });
  return {
    name: 'export',
    method: 'GET',
    path: '/v1/directory/export',
    description: 'The whole directory with grade history, up to 10,000 projects in one answer.',
    priceBaseUnits: offer.priceBaseUnits,
    maxTimeoutSeconds: offer.maxTimeoutSeconds,
    minValidityMs: MIN_VALIDITY_MS,
    isPublic: false,
    discovery: {
      input: {},
      inputSchema: { properties: {} },
      output: {
        example: { count: 0, truncated: false, exportedAt: '2026-08-14T00:00:00Z', projects: [] },
        schema: {
          properties: { count: { type: 'integer' }, projects: { type: 'array' } },
          required: ['count', 'truncated', 'projects'],
        },
      },
    },

    parse: () => null,
    canonical: () => 'all',
    compute: async () => ({ answerId: await snapshots.current() }),
  };
}
