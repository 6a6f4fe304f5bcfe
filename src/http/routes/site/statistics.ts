import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import {
  DEFAULT_STATISTICS_DAYS,
  readStatistics,
  STATISTICS_DAYS,
} from '../../../directory/statistics.ts';
import type { RouteContext } from '../route-context.ts';

const querystring = Type.Object({ days: Type.Optional(Type.String({ maxLength: 3 })) });

/** The page over `/v1/statistics`; absent in revisions without it. */
export const statisticsPageRoute: FastifyPluginAsyncTypebox<RouteContext> = async (
  app,
  { store, catalog, config },
) => {
  const offer = config.revision.offers.statistics;
  if (offer === undefined) return;
  const ids = catalog.checks.map(({ id }) => id);
  app.get(
    '/statistics',
    { config: { offer, bucket: '/v1/statistics' }, schema: { hide: true, querystring } },
    async ({ query }, reply) => {
      const days = STATISTICS_DAYS.find((one) => String(one) === query.days);
      const read = await readStatistics(store, days ?? DEFAULT_STATISTICS_DAYS, ids);
      // Loaded with the first page: it imports the names of networks.
      const { statisticsPage } = await import('../../pages/statistics-page.ts');
      return reply.view('statistics', statisticsPage(read, catalog.checks));
    },
  );
};
