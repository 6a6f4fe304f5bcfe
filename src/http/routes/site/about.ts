import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { DOCUMENT_OFFER } from '../../../config/revision.ts';
import { scannerUserAgent } from '../../../probe/client/user-agent.ts';
import type { RouteContext } from '../route-context.ts';

/** The page about the scanner's requests; our User-Agent header links to it. */
export const aboutRoute: FastifyPluginAsyncTypebox<RouteContext> = async (app, { config }) => {
  const view = {
    title: 'About the scanner',
    summary: 'What the scanner sends to an origin, and what it never does',
    userAgent: scannerUserAgent(`${config.siteUrl}/about-scanner`),
  };
  app.get(
    '/about-scanner',
    { config: { offer: DOCUMENT_OFFER }, schema: { hide: true } },
    async (_request, reply) => reply.view('about-scanner', view),
  );
};
