/** Bundler plugin: modules that jobs name, in the file of their thread, as each file of its own costs a start. */
import { join } from 'node:path';
import type { Plugin } from 'rolldown';

const LOADER = join('engine', 'pool', 'load-module.ts');

/** `modules`: name under which each is bundled, without `.js`, and its file. */
export function loadedModules(modules: readonly (readonly [name: string, file: string])[]): Plugin {
  return {
    name: 'loaded-modules',
    load: (id) => (id.endsWith(LOADER) ? loaderOf(modules) : null),
  };
}

function loaderOf(modules: readonly (readonly [string, string])[]): string {
  const imports = modules.map(([, file], at) => `import * as m${at} from ${JSON.stringify(file)};`);
  const members = modules.map(([name], at) => `${JSON.stringify(`${name}.js`)}: m${at}`);
  return `${imports.join('\n')}
const LOADED = { ${members.join(', ')} };
const HERE = new URL('./', import.meta.url).href;
export async function loadModule(url) {
  const name = url.startsWith(HERE) ? url.slice(HERE.length) : '';
  return Object.hasOwn(LOADED, name) ? LOADED[name] : await import(url);
}
`;
}
