/** Registers the paid operations; the payment gate stands before each of them. */
import type { FastifyPluginAsync } from 'fastify';
import type { SoldRoute } from './paid-catalog.ts';
import { paidSchemas } from './paid-schemas.ts';

/** Everything that is sold, behind the payment gate (`plugins/payment.ts`). */
export const paidRoutes: FastifyPluginAsync<{ readonly sold: readonly SoldRoute[] }> = async (
  app,
  { sold },
) => {
  for (const { operation, route, offer } of sold) {
    app.sell(route, { schema: paidSchemas[operation], offer });
  }
};
