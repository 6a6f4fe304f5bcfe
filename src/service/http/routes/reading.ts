import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { ALL_GRADES, type Grade } from '../../../scanner/model/report.ts';
import { oneOf } from '../../../scanner/model/shapes.ts';
import {
  findFreshReport,
  type ReportBody,
  toFreeReport,
  toGradeSummary,
} from '../../directory/published-report.ts';
import { NoFreshReport, ScannerFailed, StoreUnavailable } from '../../errors/errors.ts';
import { SCORE_NOTE } from '../documents/service-facts.ts';
import { errorResponses, toReportSchema, URL_ERRORS } from './answer-schema.ts';
import { parseRequestedOrigin, type RouteContext, urlParameter } from './route-context.ts';

const checkCountSchema = (status: string) =>
  Type.Unsafe<number | null>({
    type: ['integer', 'null'],
    description: `Number of checks with ${status}.`,
  });

const summarySchema = Type.Object(
  {
    origin: Type.String(),
    known: Type.Boolean({ description: 'True if the origin was ever scanned.' }),
    fresh: Type.Boolean({ description: 'True if the result is under 24 hours old.' }),
    grade: Type.Unsafe<Grade | null>({ type: ['string', 'null'], enum: [...ALL_GRADES, null] }),
    score: Type.Unsafe<number | null>({ type: ['integer', 'null'], minimum: 0, maximum: 100 }),
    passCount: checkCountSchema('pass'),
    warnCount: checkCountSchema('warn'),
    failCount: checkCountSchema('fail'),
    scannedAt: Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time' }),
    reportUrl: Type.String(),
  },
  {
    description:
      'The result of the last scan. Grade, score, counts and time are null if the origin was never scanned.',
  },
);

export const statusRoutes: FastifyPluginAsyncTypebox<RouteContext> = async (app, parts) => {
  const { store, config } = parts;
  app.offer('status', {
    method: 'GET',
    url: '/v1/status',
    schema: {
      tags: ['scanning'],
      summary: 'The grade of an origin, and the time of its last scan',
      description: 'The grade, score and counts of the last scan, without its findings.',
      querystring: Type.Object({ url: urlParameter }),
      response: { 200: summarySchema, ...errorResponses(...URL_ERRORS) },
    },
    async handler({ query }) {
      const origin = parseRequestedOrigin(query.url, parts);
      const grade = await store.directory.findGrade(origin.host);
      return toGradeSummary(grade, origin, { siteUrl: config.siteUrl, nowMs: store.now() });
    },
  });
};

/** Gives reports away; `paid/paid-catalog.ts` sells them in a revision that has a price for them. */
export const reportRoutes: FastifyPluginAsyncTypebox<RouteContext> = async (app, parts) => {
  const { store, config } = parts;
  app.offer('report', {
    method: 'GET',
    url: '/v1/report',
    schema: {
      tags: ['scanning'],
      summary: 'The full report of the last 24 hours',
      description:
        'Every result of the last scan, if it is under 24 hours old. Otherwise the answer is 404, which names POST /v1/scan.',
      querystring: Type.Object({ url: urlParameter }),
      response: {
        200: Type.Unsafe<ReportBody>(toReportSchema(config.revision)),
        ...errorResponses(...URL_ERRORS, 'no_fresh_report'),
      },
    },
    async handler({ query }) {
      const origin = parseRequestedOrigin(query.url, parts);
      const report = await findFreshReport(store, origin.host);
      if (report === null) throw new NoFreshReport(origin);
      return toFreeReport(report, config.siteUrl);
    },
  });
};

const categorySchema = oneOf(['protocol', 'docs', 'directory']);

const catalogSchema = Type.Object(
  {
    checksVersion: Type.String({ description: '<date>.<n>' }),
    totalChecks: Type.Integer(),
    categories: Type.Array(
      Type.Object({
        key: categorySchema,
        label: Type.String(),
        count: Type.Integer(),
        description: Type.String(),
      }),
    ),
    checks: Type.Optional(
      Type.Array(
        Type.Object({
          id: Type.String(),
          title: Type.String(),
          severity: oneOf(['critical', 'major', 'minor']),
          category: categorySchema,
        }),
      ),
    ),
    note: Type.Optional(Type.String({ description: 'How the score is computed.' })),
  },
  { description: 'The checks that every scan runs.' },
);

export const checksRoutes: FastifyPluginAsyncTypebox<RouteContext> = async (
  app,
  { config, catalog },
) => {
  const { checksVersion, categories, checks } = catalog;
  const summary = { checksVersion, totalChecks: checks.length, categories: [...categories] };
  const listedChecks = checks.map(({ id, title, severity, category }) => {
    return { id, title, severity, category };
  });
  const answer = config.revision.catalogListsChecks
    ? { ...summary, checks: listedChecks, note: SCORE_NOTE }
    : summary;

  app.offer('checks', {
    method: 'GET',
    url: '/v1/checks',
    schema: {
      tags: ['scanning'],
      summary: 'The catalog of checks',
      response: { 200: catalogSchema, ...errorResponses('rate_limited') },
    },
    handler: async () => answer,
  });
};

const healthSchema = Type.Object({
  status: oneOf(['ok', 'unavailable']),
  version: Type.String({ description: 'Revision of the API.' }),
  checksVersion: Type.String(),
  paymentMode: oneOf(['live', 'mock'], 'mock: signatures are verified, but nothing is settled.'),
  store: Type.String({ description: 'Kind of database.' }),
});

/** This route has no rate limit, because load balancers ask often, and from one address. */
export const healthRoutes: FastifyPluginAsyncTypebox<RouteContext> = async (app, parts) => {
  const { config, catalog, store, scanCoordinator } = parts;
  const facts = {
    version: config.revision.name,
    checksVersion: catalog.checksVersion,
    paymentMode: config.payment.mode === 'mock' ? 'mock' : 'live',
    store: store.info.kind,
  } as const;

  app.get(
    '/health',
    {
      config: { offer: { kind: 'free', requestsPerMinute: null } },
      schema: {
        operationId: 'health',
        tags: ['service'],
        summary: 'Liveness and payment mode',
        response: { 200: healthSchema, ...errorResponses('store_unavailable', 'scanner_failed') },
      },
    },
    async (_request, reply) => {
      reply.header('cache-control', 'no-store');
      try {
        await store.ping();
      } catch (error) {
        throw new StoreUnavailable(error, { ...facts, status: 'unavailable' });
      }
      const fault = scanCoordinator.findFault();
      if (fault !== null) throw new ScannerFailed(fault, { ...facts, status: 'unavailable' });
      return { status: 'ok' as const, ...facts };
    },
  );
};
