import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { DOCUMENT_OFFER } from '../../../config/revision.ts';
import type { RouteContext } from '../route-context.ts';
import { originOfHost } from './page.ts';

const COLOURS = { A: '#16713b', B: '#16713b', C: '#8a5a00', D: '#8a5a00', F: '#b3261e' };
const NO_COLOUR = '#5b6875';
const params = Type.Object({ file: Type.String({ maxLength: 300 }) });

/** `/badge/api.example.com.svg`, which other sites embed. */
export const badgeRoute: FastifyPluginAsyncTypebox<RouteContext> = async (app, parts) => {
  app.get(
    '/badge/:file',
    { config: { offer: DOCUMENT_OFFER }, schema: { hide: true, params } },
    async (request, reply) => {
      const origin = originOfHost(request.params.file.replace(/\.svg$/, ''), parts);
      const record = origin === null ? null : await parts.store.directory.get(origin.host);
      const listed = record?.listed === true ? record : null;
      // Loaded with the first badge: the module holds a table of character widths.
      const { makeBadge } = await import('badge-maker');
      const svg = makeBadge({
        label: 'x402',
        message: listed === null ? 'not scanned' : `${listed.grade} ${listed.score}/100`,
        color: listed === null ? NO_COLOUR : COLOURS[listed.grade],
      });
      return reply.type('image/svg+xml').header('cache-control', 'public, max-age=300').send(svg);
    },
  );
};
