import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

function readAsset(name: string, squeeze = (text: string) => text) {
  const text = squeeze(readFileSync(new URL(`./assets/${name}`, import.meta.url), 'utf8'));
  const digest = createHash('sha256').update(text).digest('base64');
  return { text, source: `'sha256-${digest}'` } as const;
}

/** Styles and script of every page. They are part of it, so that a page is one request. */
export const STYLES = readAsset('site.css', (css) => css.replace(/\/\*.*?\*\/|\n\s*/g, ''));
export const SCRIPT = readAsset('site.js');
