import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { DOCUMENT_OFFER } from '../../../config/revision.ts';
import type { RouteContext } from '../route-context.ts';

/** The page that explains watches to owners, in revisions that have them. */
export const aboutWatchRoute: FastifyPluginAsyncTypebox<RouteContext> = async (app, { config }) => {
  if (config.revision.offers.watch === undefined) return;
  const view = {
    title: 'What we watch',
    summary: 'What the watch of an origin looks at, what it sends to its owner, and what it keeps',
    baseUrl: config.baseUrl,
  };
  app.get(
    '/about-watch',
    { config: { offer: DOCUMENT_OFFER }, schema: { hide: true } },
    async (_request, reply) => reply.view('about-watch', view),
  );
};
