import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import view from '@fastify/view';
import { Eta } from 'eta';
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';

const INDENT_REMOVER = { processTemplate: (text: string) => text.replace(/^\s+/gm, '') };
const TEMPLATE_FOLDER = fileURLToPath(
  new URL('../src/service/http/pages/templates', import.meta.url),
);

/** The styles and the script that each page contains, because a page should need only one request. */
export const STYLES = readAsset('site.css', (css) =>
  css.replace(/\/\*.*?\*\/|\n\s*|(?<=[{};,:]) +| +(?=\{)/g, ''),
);
export const SCRIPT = readAsset('site.js');

type ViewOptions = {
  readonly hasMockPayments: boolean;
  /** True if `/statistics` is served. */
  readonly hasStatistics: boolean;
};

/** Renders pages from Eta templates, which escape every value. */
export default fp(
  async (app: FastifyInstance, options: ViewOptions) => {
    await app.register(view, {
      engine: {
        eta: new Eta({ views: TEMPLATE_FOLDER, autoEscape: true, plugins: [INDENT_REMOVER] }),
      },
      // Otherwise the plugin reads and compiles the templates again for each page.
      production: true,
      root: TEMPLATE_FOLDER,
      viewExt: 'eta',
      defaultContext: { ...options, styles: STYLES.text, script: SCRIPT.text },
    });
  },
  { name: 'views' },
);

/** Reads a file. `source` is the hash of its text that the Content-Security-Policy header lists. */
function readAsset(name: string, minify = (text: string) => text) {
  const text = minify(
    readFileSync(new URL(`../src/service/http/pages/assets/${name}`, import.meta.url), 'utf8'),
  );
  const digest = createHash('sha256').update(text).digest('base64');
  return { text, source: `'sha256-${digest}'` } as const;
}
