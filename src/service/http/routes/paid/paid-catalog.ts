import type { FastifyPluginAsync, FastifySchema } from 'fastify';
import type { Origin } from '../../../../scanner/guard/origin.ts';
import type { PaidOffer, Revision } from '../../../config/revision.ts';
import { ExportSnapshots } from '../../../directory/export.ts';
import { listChanges, parseChangesQuery } from '../../../directory/list-changes.ts';
import { findFreshReport, toReportBody } from '../../../directory/published-report.ts';
import { NoFreshReport } from '../../../errors/errors.ts';
import type { PaidRoute } from '../../../payment/paid-route.ts';
import type { ChangesQuery } from '../../../store/changes.ts';
import { JSON_HEADERS, toReportExample } from '../answer-schema.ts';
import { parseRequestedOrigin } from '../route-context.ts';
import { type PaidOperation, toPaidSchemas } from './paid-schemas.ts';
import { createScanRoute, type SellingOptions } from './scan-route.ts';

/** The payer's signature must stay valid for this time, in which an answer can be read from the store and settled. */
const MIN_VALIDITY_MS = 20_000;

const ROUTE_MAKERS = {
  scan: createScanRoute,
  report: createReportRoute,
  export: createExportRoute,
  changes: createChangesRoute,
} as const satisfies Record<
  keyof Revision['offers'] & PaidOperation,
  (options: SellingOptions, offer: PaidOffer) => PaidRoute
>;

export type SoldOperation = {
  readonly operation: PaidOperation;
  readonly offer: PaidOffer;
  readonly route: PaidRoute;
  readonly schema: FastifySchema;
};

export function listSoldOperations(options: SellingOptions): SoldOperation[] {
  const operations = Object.keys(ROUTE_MAKERS) as PaidOperation[]; // the keys of ROUTE_MAKERS
  const schemas = toPaidSchemas(options.config.revision);
  return operations.flatMap((operation) => {
    const offer = options.config.revision.offers[operation];
    if (offer?.kind !== 'paid') return [];
    const route = ROUTE_MAKERS[operation](options, offer);
    return [{ operation, offer, route, schema: schemas[operation] }];
  });
}

type SoldOperations = { readonly sold: readonly SoldOperation[] };

/** Registers the paid operations behind the payment gate. */
export const paidRoutes: FastifyPluginAsync<SoldOperations> = async (app, { sold }) => {
  for (const { route, schema, offer } of sold) app.sell(route, { schema, offer });
};

/** Only the payer may read an answer that is sold. */
function toSaleTerms({ priceBaseUnits, maxTimeoutSeconds }: PaidOffer) {
  return { priceBaseUnits, maxTimeoutSeconds, minValidityMs: MIN_VALIDITY_MS, isPublic: false };
}

function createChangesRoute(
  { config, store }: SellingOptions,
  offer: PaidOffer,
): PaidRoute<ChangesQuery> {
  return {
    name: 'changes',
    method: 'GET',
    path: '/v1/changes',
    description:
      'Directory changes since an instant: new, grade_changed, rules_changed and rescanned origins.',
    ...toSaleTerms(offer),
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

    parse: ({ query }) => parseChangesQuery(query as { since?: string; limit?: string }), // the route's schema accepts only strings
    toCanonicalText: ({ sinceMs, limit }) => `${new Date(sinceMs).toISOString()} ${limit}`,

    async compute(query) {
      const page = await listChanges(store, query, config.siteUrl);
      return { headers: JSON_HEADERS, body: JSON.stringify(page) };
    },
  };
}

/** The route stores its answer in chunks before the payment is settled, because the answer can be large. */
function createExportRoute({ config, store }: SellingOptions, offer: PaidOffer): PaidRoute<null> {
  const snapshots = new ExportSnapshots({ store, siteUrl: config.siteUrl, headers: JSON_HEADERS });
  return {
    name: 'export',
    method: 'GET',
    path: '/v1/directory/export',
    description: 'The whole directory with grade history, up to 10,000 projects in one answer.',
    ...toSaleTerms(offer),
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
    toCanonicalText: () => 'all',
    compute: async () => ({ answerId: await snapshots.findOrWrite() }),
  };
}

/** Only revision 0.1.0 sells reports; other revisions give them away. */
function createReportRoute(options: SellingOptions, offer: PaidOffer): PaidRoute<Origin> {
  const { config, store } = options;
  const { siteUrl, revision } = config;
  return {
    name: 'report',
    method: 'GET',
    path: '/v1/report',
    description: 'The full report of the last scan of an origin, if it is under 24 hours old.',
    ...toSaleTerms(offer),
    discovery: {
      input: { url: 'https://api.example.com' },
      inputSchema: { properties: { url: { type: 'string' } }, required: ['url'] },
      output: toReportExample('hit'),
    },

    parse({ query }) {
      const { url } = query as { url: string }; // the route's schema has validated the query
      return parseRequestedOrigin(url, options);
    },
    toCanonicalText: (origin) => origin.host,

    async compute(origin) {
      const report = await findFreshReport(store, origin.host);
      if (report === null) throw new NoFreshReport(origin);
      const saysCharged = revision.reportSaysCharged;
      const paidBy = revision.showsCensus ? report.paidBy : null;
      const body = toReportBody(report, { cache: 'hit', siteUrl, saysCharged, paidBy });
      return { headers: JSON_HEADERS, body: JSON.stringify(body), reportOf: report.scanId };
    },
  };
}
