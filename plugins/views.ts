import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import view from '@fastify/view';
import { Eta } from 'eta';
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';

/** Pages are sent without the indentation of their templates. */
const TRIMMING = { processTemplate: (text: string) => text.replace(/^\s+/gm, '') };
const TEMPLATES = fileURLToPath(new URL('../src/http/pages/templates', import.meta.url));

/** Styles and script of every page. They are part of it, so that a page is one request. */
export const STYLES = readAsset('site.css', (css) => css.replace(/\/\*.*?\*\/|\n\s*/g, ''));
export const SCRIPT = readAsset('site.js');

export type ViewOptions = {
  readonly mockPayments: boolean;
  /** True if `/statistics` is served. */
  readonly hasStatistics: boolean;
};

/** Renders pages from templates that escape every value. */
export default fp(
  async (app: FastifyInstance, options: ViewOptions) => {
    await app.register(view, {
      engine: { eta: new Eta({ views: TEMPLATES, autoEscape: true, plugins: [TRIMMING] }) },
      // Without this the plugin reads and compiles the templates for each page, whatever the engine's cache setting.
      production: true,
      root: TEMPLATES,
      viewExt: 'eta',
      defaultContext: { ...options, styles: STYLES.text, script: SCRIPT.text },
    });
  },
  { name: 'views' },
);

function readAsset(name: string, squeeze = (text: string) => text) {
  const text = squeeze(
    readFileSync(new URL(`../src/http/pages/assets/${name}`, import.meta.url), 'utf8'),
  );
  const digest = createHash('sha256').update(text).digest('base64');
  return { text, source: `'sha256-${digest}'` } as const;
}
