import { dirname, join, relative, resolve } from 'node:path';
import type { Plugin } from 'rolldown';
import { type ESTree, Visitor } from 'rolldown/utils';

/** Paths of the checkout that differ in the bundle, relative to the bundle's folder. */
const BUNDLE_PATHS: Readonly<Record<string, string>> = {
  catalog: './catalog/',
  checks: './checks/',
  'src/scanner/patches/code': './patches/',
  'package.json': '../package.json',
};

/**
 * Bundler plugin: makes the module of `new URL('./worker.ts', import.meta.url)` an entry of the bundle.
 * All chunks are in one folder, so the file name is the URL.
 */
export function pathModules(root: string): Plugin {
  return {
    name: 'path-modules',
    transform(code, id) {
      if (!id.startsWith(join(root, 'src'))) return null;
      const edits: { readonly start: number; readonly end: number; readonly text: string }[] = [];
      const visitor = new Visitor({
        NewExpression: (node) => {
          const path = findPath(node);
          if (path === null) return;
          const file = relative(root, resolve(dirname(id), path.value)).replaceAll('\\', '/');
          const bundlePath = file.endsWith('.ts')
            ? `./${toEntryName(file)}.js`
            : BUNDLE_PATHS[file];
          if (file.endsWith('.ts')) {
            this.emitFile({
              type: 'chunk',
              id: join(root, file),
              fileName: `${toEntryName(file)}.js`,
            });
          }
          if (bundlePath !== undefined) edits.push({ ...path, text: JSON.stringify(bundlePath) });
        },
      });
      visitor.visit(this.parse(code, { lang: 'ts' }));
      if (edits.length === 0) return null;
      return { code: edits.reduceRight(replace, code), map: null };
    },
  };
}

/** The first argument of `new URL('…', import.meta.url)`. */
function findPath({ callee, arguments: [path, base] }: ESTree.NewExpression) {
  const isUrl = callee.type === 'Identifier' && callee.name === 'URL';
  const isHere =
    base?.type === 'MemberExpression' &&
    base.object.type === 'MetaProperty' &&
    base.property.type === 'Identifier' &&
    base.property.name === 'url';
  if (!isUrl || !isHere || path?.type !== 'Literal' || typeof path.value !== 'string') return null;
  return { start: path.start, end: path.end, value: path.value };
}

function replace(code: string, { start, end, text }: { start: number; end: number; text: string }) {
  return code.slice(0, start) + text + code.slice(end);
}

/** Returns "scanner-workers-worker" for src/scanner/workers/worker.ts. */
function toEntryName(file: string): string {
  return file
    .replace(/^src\//, '')
    .replace(/\.ts$/, '')
    .replaceAll('/', '-');
}
