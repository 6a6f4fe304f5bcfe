import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { DOCUMENT_OFFER } from '../../../config/revision.ts';
import type { RouteContext } from '../route-context.ts';
import { answerRoute } from './answer.ts';
import { createSendHome } from './send-home.ts';

const querystring = Type.Object({
  q: Type.Optional(Type.String({ maxLength: 253 })),
  page: Type.Optional(Type.String({ pattern: '^\\d{1,6}$' })),
});

export const homeRoute: FastifyPluginAsyncTypebox<RouteContext> = async (app, parts) => {
  const sendHome = createSendHome(parts);
  app.get(
    '/',
    { config: { offer: DOCUMENT_OFFER }, schema: { hide: true, querystring } },
    async ({ query: { q = '', page = '0' } }, reply) =>
      sendHome(reply, { q: q.trim(), page: Number(page), asked: '', answer: null }),
  );
  await app.register(answerRoute, { ...parts, sendHome });
};
