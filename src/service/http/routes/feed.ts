import { hash } from 'node:crypto';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import hasCurrentCopy from 'fresh';
import { Type } from 'typebox';
import {
  type AtomFeed,
  MAX_FEED_ENTRIES,
  writeDirectoryFeed,
  writeHostFeed,
} from '../../directory/feeds.ts';
import { UnknownProject } from '../../errors/errors.ts';
import { errorResponses, STORE_ERRORS } from './answer-schema.ts';
import { toDirectoryParameters, toDirectoryQuery } from './directory.ts';
import { findOriginOfHost, type RouteContext } from './route-context.ts';

const ATOM_TYPE = 'application/atom+xml';

const FEED_ANSWERS = {
  200: {
    description: 'Atom 1.0. The id of an entry stays the same.',
    content: { [ATOM_TYPE]: { schema: Type.String() } },
  },
  304: { description: 'The feed has not changed since the copy that the request names.' },
};

export const feedRoutes: FastifyPluginAsyncTypebox<RouteContext> = async (app, parts) => {
  const { store, config } = parts;
  app.offer('feed', {
    method: 'GET',
    url: '/o/:host/feed.atom',
    schema: {
      tags: ['directory'],
      summary: 'The history of one origin as an Atom feed',
      description:
        'The first scan, and each change of the grade or of the clients that can pay: the newest 50 entries. Send If-None-Match or If-Modified-Since to get 304 if nothing has changed.',
      params: Type.Object({
        host: Type.String({
          maxLength: 300,
          description: 'A host, such as api.example.com.',
          documented: { example: 'api.example.com' },
        }),
      }),
      response: {
        ...FEED_ANSWERS,
        ...errorResponses(
          'invalid_parameter',
          'invalid_path',
          'unknown_project',
          'not_found',
          ...STORE_ERRORS,
        ),
      },
    },
    async handler(request, reply) {
      const origin = findOriginOfHost(request.params.host, parts);
      if (origin === null) throw new UnknownProject('This name');
      const record = await store.directory.get(origin.host);
      if (record === null || !record.listed) throw new UnknownProject(origin.host);
      const history = await store.history.list(origin.host);
      return sendFeed(request, reply, await writeHostFeed(record, history, config.siteUrl));
    },
  });

  if (config.revision.offers.feed === undefined) return;
  // Calls of this feed count as calls of the operation `directory`.
  app.offer('directory', {
    method: 'GET',
    url: '/directory.atom',
    // The page, the route and the feed of the directory share one limit.
    config: { bucket: '/v1/directory' },
    schema: {
      operationId: 'directoryFeed',
      tags: ['directory'],
      summary: 'The newest origins of the directory as an Atom feed',
      description:
        'The newest 50 origins that match the filters of /v1/directory; sort, page and pageSize change nothing. Send If-None-Match or If-Modified-Since to get 304 if nothing has changed.',
      querystring: toDirectoryParameters(config.revision),
      response: { ...FEED_ANSWERS, ...errorResponses('invalid_parameter', ...STORE_ERRORS) },
    },
    async handler(request, reply) {
      const query = toDirectoryQuery(request.query, config.revision);
      const newest = { ...query, sort: 'new', page: 0, pageSize: MAX_FEED_ENTRIES } as const;
      const { records } = await store.directory.list(newest);
      return sendFeed(request, reply, await writeDirectoryFeed(records, query, config.siteUrl));
    },
  });
};

/** Answers 304 if the caller already has this feed. */
function sendFeed(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  { xml, updatedAtMs }: AtomFeed,
) {
  const validators = {
    etag: `"${hash('sha256', xml, 'base64url')}"`,
    'last-modified': new Date(updatedAtMs).toUTCString(),
  };
  reply.headers({ ...validators, 'cache-control': 'public, max-age=60' });
  if (hasCurrentCopy(headers, validators)) return reply.code(304).send();
  return reply.type(`${ATOM_TYPE}; charset=utf-8`).send(xml);
}
