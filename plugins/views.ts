import { fileURLToPath } from 'node:url';
import view from '@fastify/view';
import { Eta } from 'eta';
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { SCRIPT, STYLES } from '../src/http/pages/inline-assets.ts';

const TEMPLATES = fileURLToPath(new URL('../src/http/pages/templates', import.meta.url));

/** Renders pages from templates that escape every value. */
export default fp(
  async (app: FastifyInstance, { mockPayments }: { readonly mockPayments: boolean }) => {
    await app.register(view, {
      engine: { eta: new Eta({ views: TEMPLATES, autoEscape: true }) },
      // Without this the plugin reads and compiles the templates for each page, whatever the engine's cache setting.
      production: true,
      root: TEMPLATES,
      viewExt: 'eta',
      defaultContext: { mockPayments, styles: STYLES.text, script: SCRIPT.text },
    });
  },
  { name: 'views' },
);
