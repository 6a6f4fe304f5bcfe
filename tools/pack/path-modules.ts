/** Bundler plugin: finds the modules that are loaded by their path, not by an import. */
import { dirname, resolve } from 'node:path';
import type { Plugin } from 'rolldown';

const MODULE_BY_PATH = /new URL\(\s*'(\.{1,2}\/[\w./-]+)\.ts'\s*,\s*import\.meta\.url\s*,?\s*\)/g;
/** Folders and files beside the sources that a bundle has beside itself. */
const PLACES: Readonly<Record<string, string>> = {
  'catalog/': './catalog/',
  'checks/': './checks/',
  'package.json': '../package.json',
};
const PLACE_BY_PATH = /new URL\(\s*'((?:\.\.\/)+)(catalog\/|checks\/|package\.json)'\s*,/g;

/**
 * Rewrites `new URL('./worker.ts', import.meta.url)` to the name under which that file is bundled, and
 * writes it into `found`, by file. All entries and chunks lie in one folder, so a name is enough.
 */
export function pathModules(found: Map<string, string>): Plugin {
  return {
    name: 'path-modules',
    transform(code, id) {
      if (!id.endsWith('.ts')) return null;
      const rewritten = code
        .replaceAll(PLACE_BY_PATH, (_all, _up: string, place: string) => {
          return `new URL('${PLACES[place]}',`;
        })
        .replaceAll(MODULE_BY_PATH, (_all, path: string) => {
          const file = `${resolve(dirname(id), path)}.ts`;
          const name = nameOf(file);
          found.set(file, name);
          return `new URL('./${name}.js', import.meta.url)`;
        });
      return rewritten === code ? null : { code: rewritten, map: null };
    },
  };
}

/** "workers-worker" of src/workers/worker.ts: its folder tells two workers apart. */
function nameOf(file: string): string {
  const parts = file.replace(/\.ts$/, '').split(/[\\/]/);
  return parts.slice(-2).join('-');
}
