import { fileURLToPath } from 'node:url';
import files from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';

const ASSETS = fileURLToPath(new URL('../src/http/pages/assets', import.meta.url));

/** The files that pages load. */
export default fp(
  async (app: FastifyInstance) => {
    await app.register(files, {
      root: ASSETS,
      prefix: '/assets/',
      // A route a file: whatever else is asked for there is an unknown path.
      wildcard: false,
      maxAge: '1h',
    });
  },
  { name: 'static' },
);
