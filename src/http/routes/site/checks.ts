import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { DOCUMENT_OFFER } from '../../../config/revision.ts';
import { explainCheck } from '../../../engine/catalog/explain.ts';
import type { RouteContext } from '../route-context.ts';
import { sendMessage } from './page.ts';

/** Loaded with the first page: it imports all patches and a Markdown parser. */
const page = () => import('../../pages/check-page.ts');

const params = Type.Object({ id: Type.String({ maxLength: 10 }) });

export const checkRoutes: FastifyPluginAsyncTypebox<RouteContext> = async (
  app,
  { catalog, checks },
) => {
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
      return reply.view('check', (await page()).checkPage(explanation));
    },
  );
};
