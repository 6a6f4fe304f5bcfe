import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { DOCUMENT_OFFER } from '../../../config/revision.ts';
import { readStatistics } from '../../../directory/statistics.ts';
import { explainCheck } from '../../../engine/catalog/explain.ts';
import type { RouteContext } from '../route-context.ts';
import { sendMessage } from './page.ts';

/** Loaded with the first page: it imports all patches and a Markdown parser. */
const page = () => import('../../pages/check-page.ts');

/** Longer than the default of the API: a single check is found less often. */
const DAYS = 30;

const params = Type.Object({ id: Type.String({ maxLength: 10 }) });

export const checkRoutes: FastifyPluginAsyncTypebox<RouteContext> = async (
  app,
  { catalog, checks, store, config },
) => {
  const hasStatistics = config.revision.offers.statistics !== undefined;
  app.get(
    '/checks',
    { config: { offer: DOCUMENT_OFFER }, schema: { hide: true } },
    async (_request, reply) => reply.view('checks', (await page()).checksPage(catalog)),
  );

  app.get(
    '/checks/:id',
    { config: { offer: DOCUMENT_OFFER }, schema: { hide: true, params } },
    async (request, reply) => {
      const id = request.params.id.toUpperCase();
      if (!catalog.checks.some((check) => check.id === id)) {
        const text = `Catalog ${catalog.checksVersion} has no check of this id.`;
        return sendMessage(reply, 404, 'No such check', text);
      }
      const explanation = await explainCheck(id, catalog, checks);
      const { label = '' } =
        catalog.categories.find(({ key }) => key === explanation.category) ?? {};
      const statistics = hasStatistics ? await readStatistics(store, DAYS, [id]) : null;
      const found = statistics?.checks[0] ?? null;
      const { checkPage } = await page();
      const view = checkPage({ explanation, categoryLabel: label, found, days: DAYS });
      return reply.view('check', view);
    },
  );
};
