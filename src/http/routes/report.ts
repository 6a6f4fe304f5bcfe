import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { findFreshReport } from '../../directory/fresh-report.ts';
import { toReportBody } from '../../directory/report-body.ts';
import { NoFreshReport } from '../../model/errors.ts';
import { errorResponses, URL_ERRORS } from './error-schema.ts';
import { reportSchema } from './report-schema.ts';
import { requestedOrigin } from './requested-origin.ts';
import type { RouteContext } from './route-context.ts';
import { urlParameter } from './url-parameter.ts';

/** The report of the last 24 hours, in revisions where it is free. */
export const reportRoutes: FastifyPluginAsyncTypebox<RouteContext> = async (app, parts) => {
  const { store, config } = parts;
  const offer = config.revision.offers.report;
  if (offer?.kind !== 'free') return;

  app.get(
    '/v1/report',
    {
      config: { offer },
      schema: {
        operationId: 'report',
        tags: ['scanning'],
        summary: 'The full report of the last 24 hours',
        description:
          'Every result of the last scan, if it is younger than 24 hours; 404 otherwise, with a pointer to POST /v1/scan.',
        querystring: Type.Object({ url: urlParameter }),
        response: {
          200: reportSchema,
          ...errorResponses(...URL_ERRORS, 'no_fresh_report'),
        },
      },
    },
    async ({ query }) => {
      const origin = requestedOrigin(query.url, parts);
      const finished = await findFreshReport(store, origin.host);
      if (finished === null) throw new NoFreshReport(origin);
      return toReportBody(finished, { cache: 'hit', siteUrl: config.siteUrl, saysCharged: false });
    },
  );
};
