/** Templates of the public site. */
import { fileURLToPath } from 'node:url';
import staticFiles from '@fastify/static';
import view from '@fastify/view';
import { Eta } from 'eta';
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';

const TEMPLATES = fileURLToPath(new URL('../src/http/pages/templates', import.meta.url));
const ASSETS = fileURLToPath(new URL('../src/http/pages/assets', import.meta.url));

/** Pages from templates that escape everything, and the files they load. */
export default fp(
  async (app: FastifyInstance, { mockPayments }: { readonly mockPayments: boolean }) => {
    await app.register(view, {
      engine: { eta: new Eta({ views: TEMPLATES, cache: true, autoEscape: true }) },
      root: TEMPLATES,
      viewExt: 'eta',
      defaultContext: { mockPayments },
    });
    await app.register(staticFiles, {
      root: ASSETS,
      prefix: '/assets/',
      index: false,
      decorateReply: false,
      maxAge: '1h',
      schemaHide: true,
    });
  },
  { name: 'views' },
);
