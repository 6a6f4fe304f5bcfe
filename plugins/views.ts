import { fileURLToPath } from 'node:url';
import view from '@fastify/view';
import { Eta } from 'eta';
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';

const TEMPLATES = fileURLToPath(new URL('../src/http/pages/templates', import.meta.url));

/** Pages from templates that escape everything. */
export default fp(
  async (app: FastifyInstance, { mockPayments }: { readonly mockPayments: boolean }) => {
    await app.register(view, {
      engine: { eta: new Eta({ views: TEMPLATES, autoEscape: true }) },
      // Otherwise each page reads and compiles its templates anew, whatever the engine was told.
      production: true,
      root: TEMPLATES,
      viewExt: 'eta',
      defaultContext: { mockPayments },
    });
  },
  { name: 'views' },
);
