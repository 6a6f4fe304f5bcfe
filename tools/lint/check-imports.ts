/** What a check may run. Which room may know which stands in biome.json, and in the READMEs in words. */
import type { Finding, HouseRule } from './finding.ts';
import { type Import, importsOf } from './imports.ts';

/** A check's digest covers its file alone, so nothing else may decide its verdict. */
const CHECK_MAY_RUN = ['src/engine/define-check.ts', 'src/model/verdict.ts'];

export const checkImports: HouseRule = (tree) =>
  tree.files
    .filter((file) => /^checks\/.*\.ts$/.test(file) && !file.endsWith('/cases.ts'))
    .flatMap((file) => importsOf(file, tree.read(file)).flatMap((one) => checkImport(file, one)));

function checkImport(file: string, { target, typeOnly, line }: Import): Finding[] {
  if (typeOnly || CHECK_MAY_RUN.includes(target)) return [];
  const message = `a check runs only what define-check.ts, verdict.ts and its kit give, not ${target}: import types with "import type", and take functions from the kit`;
  return [{ file, line, message }];
}
