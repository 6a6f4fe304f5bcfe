import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';

/**
 * Logs one line for each request, with the path of its route. The line has no URL and no client address:
 * callers' data may be kept for only 24 hours.
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
