import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';

/**
 * One line a request: its route as registered, never its URL, which holds what callers submitted
 * (kept for 24 hours only), and no address of theirs.
 */
export default fp(
  async (app: FastifyInstance) => {
    app.addHook(
      'onResponse',
      async ({ log, method, routeOptions }, { statusCode, elapsedTime }) => {
        const ms = Math.round(elapsedTime);
        log.info({ method, route: routeOptions.url ?? null, status: statusCode, ms });
      },
    );
  },
  { name: 'logging' },
);
