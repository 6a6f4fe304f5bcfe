/**
 * Bundler plugin: Node's own modules without the facades that an `import` of them costs, which ask each
 * export for its value, and so load what stands behind it: streams for `fs`, all of WebCrypto for `crypto`.
 */
import type { Plugin } from 'rolldown';

const NAMES = String.raw`\{[^}]*\}`;
const NAMESPACE = String.raw`\* as [\w$]+`;
const IMPORT = new RegExp(
  String.raw`^import (?:([\w$]+)(?:, )?)?(${NAMES}|${NAMESPACE})? ?from "(node:[\w/]+)";$`,
  'gm',
);

/** Rewrites the imports of a chunk, where the bundler has put them at the top, a line each. */
export function builtinModules(): Plugin {
  return {
    name: 'builtin-modules',
    renderChunk: (code) => withoutFacades(code),
  };
}

export function withoutFacades(code: string): string {
  const rewritten = code.replace(IMPORT, (_, own = '', names = '', module: string) => {
    const loaded = `process.getBuiltinModule("${module}")`;
    const targets = [own, targetOf(names)].filter((target) => target !== '');
    return targets.map((target) => `const ${target} = ${loaded};`).join(' ');
  });
  const left = /^import .* from "node:.*$/m.exec(rewritten);
  if (left !== null)
    throw new Error(`${left[0]}: adapt builtin-modules.ts to this form of import.`);
  return rewritten;
}

/** What `const` takes for `{ a as b }` and `* as c`. */
function targetOf(names: string): string {
  return names.startsWith('*') ? names.slice('* as '.length) : names.replaceAll(' as ', ': ');
}
