import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { toServiceError } from '../../../../plugins/errors.ts';
import { toProject } from '../../../directory/project.ts';
import { toDirectoryParameters, toDirectoryQuery } from '../directory.ts';
import type { RouteContext } from '../route-context.ts';
import { sendMessage } from './pages.ts';

const ROWS_PER_PAGE = 30;

/** Serves the directory as a page, with the filters of `/v1/directory`. */
export const browseRoute: FastifyPluginAsyncTypebox<RouteContext> = async (
  app,
  { store, config },
) => {
  const { revision, siteUrl } = config;
  const offer = revision.offers.directory;
  if (offer === undefined) return;
  const { showsPayers, showsCensus } = revision;
  const feedUrl = revision.offers.feed === undefined ? null : `${siteUrl}/directory.atom`;
  app.get(
    '/directory',
    {
      config: { offer, bucket: '/v1/directory' },
      schema: { hide: true, querystring: toDirectoryParameters(revision) },
      errorHandler: async (error, request, reply) => {
        const { status, message } = toServiceError(error, request);
        if (status !== 400) throw error;
        const advice = `${message} Open /directory for the whole list.`;
        return sendMessage(reply, status, 'The directory has no such filter', advice);
      },
    },
    async (request, reply) => {
      const { q = '', ...filters } = request.query;
      const parameters = { ...filters, q: q.trim(), pageSize: String(ROWS_PER_PAGE) };
      const query = toDirectoryQuery(parameters, revision);
      const { count, records } = await store.directory.list(query);
      const nowMs = store.now();
      const projects = records.map((record) => toProject(record, config, nowMs));
      // The module is loaded at the first request, because it imports the names of networks.
      const { toDirectoryPage } = await import('../../pages/directory-page.ts');
      const input = { query, count, projects, showsPayers, showsCensus, feedUrl };
      return reply.view('directory', toDirectoryPage(input));
    },
  );
};
