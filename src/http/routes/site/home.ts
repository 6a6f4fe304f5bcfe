import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { DOCUMENT_OFFER } from '../../../config/revision.ts';
import { readFrontPage } from '../../../directory/front-page.ts';
import { toProject } from '../../../directory/project.ts';
import { PATHS } from '../../documents/service-facts.ts';
import { homePage } from '../../pages/home-page.ts';
import type { RouteContext } from '../route-context.ts';
import { priceText } from './page.ts';

const PAGE_SIZE = 50;
/** Link header: agents that know only the host find the documents by it. */
const LINKS = `<${PATHS.openapi}>; rel="service-desc", <${PATHS.llms}>; rel="describedby"`;

const querystring = Type.Object({
  q: Type.Optional(Type.String({ maxLength: 253 })),
  page: Type.Optional(Type.String({ pattern: '^\\d{1,6}$' })),
});

export const homeRoute: FastifyPluginAsyncTypebox<RouteContext> = async (
  app,
  { config, store },
) => {
  const scanPrice = priceText(config.revision.offers.scan);

  app.get(
    '/',
    { config: { offer: DOCUMENT_OFFER }, schema: { hide: true, querystring } },
    async (request, reply) => {
      reply.header('link', LINKS);
      const { q = '', page = '0' } = request.query;
      const query = q.trim();
      const nowMs = store.now();
      const wanted = { sort: 'recent', q: query, page: Number(page), pageSize: PAGE_SIZE } as const;
      const isFront = query === '' && wanted.page === 0;
      const { count, records } = isFront
        ? await readFrontPage(store.directory)
        : await store.directory.list(wanted);
      const projects = records.map((record) => toProject(record, config.siteUrl, nowMs));
      const view = homePage({ ...wanted, query, count, projects, scanPrice });
      return reply.view('home', view);
    },
  );
};
