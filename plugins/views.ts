/** Templates of the public site, and the files that its pages load. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import view from '@fastify/view';
import { Eta } from 'eta';
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';

const TEMPLATES = fileURLToPath(new URL('../src/http/pages/templates', import.meta.url));
const ASSETS = new URL('../src/http/pages/assets/', import.meta.url);
const ASSET_TYPES = {
  'site.css': 'text/css; charset=utf-8',
  'copy.js': 'text/javascript; charset=utf-8',
} as const;

/** Pages from templates that escape everything, and the files they load. */
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
    for (const [file, type] of Object.entries(ASSET_TYPES)) addAsset(app, file, type);
  },
  { name: 'views' },
);

/** Serves one small file: a server of folders is forty modules, which a start would wait for. */
function addAsset(app: FastifyInstance, file: string, type: string): void {
  const body = readFileSync(new URL(file, ASSETS));
  // Of the content: instances behind one address agree on it.
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  app.get(`/assets/${file}`, { schema: { hide: true } }, async (request, reply) => {
    reply.headers({ etag, 'cache-control': 'public, max-age=3600' });
    if (request.headers['if-none-match']?.includes(etag)) return reply.code(304).send();
    return reply.type(type).send(body);
  });
}
