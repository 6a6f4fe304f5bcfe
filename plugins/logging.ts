/** One line a request, without secrets: who was answered what, and how long it took. */
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';

/**
 * One line a request: its route as registered, never its URL, which holds what callers submitted
 * (kept for 24 hours only), and no address of theirs.
 */
export default fp(
  async (app: FastifyInstance) => {
    app.addHook('onResponse', (request, reply, next) => {
      const { method, routeOptions } = request;
      const ms = Math.round(reply.elapsedTime);
      request.log.info({ method, route: routeOptions.url ?? null, status: reply.statusCode, ms });
      next();
    });
  },
  { name: 'logging' },
);
