import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';

/**
 * Logs one line a request with the registered route. URLs and client addresses are left out: they are
 * callers' data, which is stored for 24 hours only.
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
