import { findInLines, type HouseRule } from './finding.ts';

const CODE = /^(?:src|plugins|tools|checks|demo)\/.*\.(?:ts|mts|mjs|js)$/;
/** Names with an underscore that MongoDB and MCP document. */
const DOCUMENTED = new Set(['_id', '_meta']);
/** Paths into a package that its own documentation names. */
const DOCUMENTED_PATHS = new Set(['ajv/dist/2020.js']);
/** This thread exists to run the clients without a network, so it takes their `fetch` away. */
const MAY_REPLACE_GLOBALS = 'src/scanner/clients/offline-worker.ts';

const SPECIFIER = /(?:from|import|require)\s*\(?\s*['"`]([^'"`]+)['"`]/g;
const INSIDE_PACKAGE = /^(?:@[^/]+\/)?[^./][^/]*\/(?:lib|dist|src|build|esm|cjs|_[^/]+)\//;
const UNDERSCORE_MEMBER = /(?:[\w)\]]\??\.|(?<!#)\[\s*['"`]|,\s*['"`])(_[a-z]\w*)\b/g;
// Each word is split in two, because this file would otherwise break its own rule.
const RUNTIME_SWITCHES = [
  ['register', 'Hooks'],
  ['prevent', 'Extensions'],
  ['setFlags', 'FromString'],
  ['expose', '-gc'],
  ['getBuiltin', 'Module'],
].map((halves) => halves.join(''));
const GLOBAL_WRITE =
  /\bglobalThis(?:\.\w+|\[[^\]]+\])\s*=(?!=)|[(]globalThis\b,|\.prototype\.\w+\s*=(?!=)/;

/**
 * Refuses undocumented fields and files of Node and of packages, and changes to the runtime, because a minor
 * release of Node or a package may remove them.
 */
export const privateDoors: HouseRule = (tree) =>
  tree.files
    .filter((file) => CODE.test(file))
    .flatMap((file) => findInLines(tree, file, (line) => findPrivateUse(line, file)));

function findPrivateUse(line: string, file: string): string | null {
  for (const [, path = ''] of line.matchAll(SPECIFIER)) {
    const isInside = path.includes('node_modules/') || INSIDE_PACKAGE.test(path);
    if (isInside && !DOCUMENTED_PATHS.has(path)) {
      return `"${path}" is inside a package: import an entry that it documents`;
    }
  }
  for (const [, member = ''] of line.matchAll(UNDERSCORE_MEMBER)) {
    if (!DOCUMENTED.has(member)) return `"${member}" is a private field: use the documented API`;
  }
  const patch = RUNTIME_SWITCHES.find((word) => line.includes(word));
  if (patch !== undefined)
    return `"${patch}" goes around what Node documents for a program: do without it`;
  if (GLOBAL_WRITE.test(line) && file !== MAY_REPLACE_GLOBALS) {
    return 'a global or prototype is replaced: pass in what the code shall use';
  }
  return null;
}
