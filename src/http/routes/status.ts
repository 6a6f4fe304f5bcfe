import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { gradeSummary } from '../../directory/grade-summary.ts';
import { errorResponses, URL_ERRORS } from './error-schema.ts';
import { requestedOrigin } from './requested-origin.ts';
import type { RouteContext } from './route-context.ts';
import { urlParameter } from './url-parameter.ts';

const count = (status: string) =>
  Type.Unsafe<number | null>({ type: ['integer', 'null'], description: `Checks with ${status}.` });

const summarySchema = Type.Object(
  {
    origin: Type.String(),
    known: Type.Boolean({ description: 'Whether the origin has ever been scanned.' }),
    fresh: Type.Boolean({ description: 'Whether the result is younger than 24 hours.' }),
    grade: Type.Unsafe<'A' | 'B' | 'C' | 'D' | 'F' | null>({
      type: ['string', 'null'],
      enum: ['A', 'B', 'C', 'D', 'F', null],
    }),
    score: Type.Unsafe<number | null>({ type: ['integer', 'null'], minimum: 0, maximum: 100 }),
    passCount: count('pass'),
    warnCount: count('warn'),
    failCount: count('fail'),
    scannedAt: Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time' }),
    reportUrl: Type.String(),
  },
  { description: 'What is known of the origin; null where it was never scanned.' },
);

export const statusRoutes: FastifyPluginAsyncTypebox<RouteContext> = async (app, parts) => {
  const { store, config } = parts;
  const offer = config.revision.offers.status;
  if (offer === undefined) return;

  app.get(
    '/v1/status',
    {
      config: { offer },
      schema: {
        operationId: 'status',
        tags: ['scanning'],
        summary: 'Grade of an origin, and how fresh it is',
        description: 'The grade, score and counts of the last scan, without its findings.',
        querystring: Type.Object({ url: urlParameter }),
        response: {
          200: summarySchema,
          ...errorResponses(...URL_ERRORS),
        },
      },
    },
    async ({ query }) => {
      const origin = requestedOrigin(query.url, parts);
      const grade = await store.directory.gradeOf(origin.host);
      return gradeSummary(grade, origin, { siteUrl: config.siteUrl, nowMs: store.now() });
    },
  );
};
