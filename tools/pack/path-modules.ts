/** Bundler plugin: modules that are loaded by their path, not by an import, become entries too. */
import { dirname, join, resolve } from 'node:path';
import type { Plugin } from 'rolldown';

const MODULE_BY_PATH = /new URL\(\s*'(\.{1,2}\/[\w./-]+)\.ts'\s*,\s*import\.meta\.url\s*,?\s*\)/g;
/** Folders and files beside the sources that a bundle has beside itself. */
const PLACES: Readonly<Record<string, string>> = {
  'catalog/': './catalog/',
  'checks/': './checks/',
  'package.json': '../package.json',
};
const PLACE_BY_PATH = /new URL\(\s*'((?:\.\.\/)+)(catalog\/|checks\/|package\.json)'\s*,/g;
/** Piscina starts its threads with a file of its own. */
const PISCINA_WORKER = "(0, node_path_1.resolve)(__dirname, 'worker.js')";

/**
 * Rewrites `new URL('./worker.ts', import.meta.url)` to the entry that is emitted for it. All
 * entries and chunks lie in one folder, so a name is enough.
 */
export function pathModules(): Plugin {
  const names = new Map<string, string>();
  return {
    name: 'path-modules',
    transform(code, id) {
      if (id.endsWith(join('piscina', 'dist', 'index.js'))) {
        const worker = join(dirname(id), 'worker.js');
        const name = 'piscina-worker';
        if (!code.includes(PISCINA_WORKER)) {
          throw new Error('Piscina names its worker in another way now: adapt path-modules.ts.');
        }
        if (!names.has(worker))
          this.emitFile({ type: 'chunk', id: worker, fileName: `${name}.js` });
        names.set(worker, name);
        const beside = `(0, node_path_1.resolve)(import.meta.dirname, '${name}.js')`;
        return { code: code.replace(PISCINA_WORKER, beside), map: null };
      }
      if (!id.endsWith('.ts')) return null;
      const rewritten = code
        .replaceAll(PLACE_BY_PATH, (_all, _up: string, place: string) => {
          return `new URL('${PLACES[place]}',`;
        })
        .replaceAll(MODULE_BY_PATH, (_all, path: string) => {
          const file = `${resolve(dirname(id), path)}.ts`;
          const name = nameOf(file, names);
          if (!names.has(file)) {
            names.set(file, name);
            this.emitFile({ type: 'chunk', id: file, fileName: `${name}.js` });
          }
          return `new URL('./${name}.js', import.meta.url)`;
        });
      return rewritten === code ? null : { code: rewritten, map: null };
    },
  };
}

/** "work-thread" of src/engine/pool/worker.ts: its folder tells two workers apart. */
function nameOf(file: string, names: ReadonlyMap<string, string>): string {
  const known = names.get(file);
  if (known !== undefined) return known;
  const parts = file.replace(/\.ts$/, '').split(/[\\/]/);
  return parts.slice(-2).join('-');
}
