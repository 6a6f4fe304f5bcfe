import { fileURLToPath } from 'node:url';
import files from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';

const ASSETS = fileURLToPath(new URL('../src/http/pages/assets', import.meta.url));

/** Serves the styles, scripts and images of the pages. */
export default fp(
  async (app: FastifyInstance) => {
    await app.register(files, {
      root: ASSETS,
      prefix: '/assets/',
      // One route for each file; every other path below it is unknown.
      wildcard: false,
      maxAge: '1h',
    });
  },
  { name: 'static' },
);
