import type { FastifyPluginAsync } from 'fastify';
import type { SoldRoute } from './paid-catalog.ts';
import { paidSchemas } from './paid-schemas.ts';

/** Registers the paid operations behind the payment gate (`plugins/payment.ts`). */
export const paidRoutes: FastifyPluginAsync<{ readonly sold: readonly SoldRoute[] }> = async (
  app,
  { sold },
) => {
  for (const { operation, route, offer } of sold) {
    app.sell(route, { schema: paidSchemas[operation], offer });
  }
};
