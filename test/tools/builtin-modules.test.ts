/** Imports of Node's modules, as the bundler writes them, without what an import of them loads. */
import { expect, test } from 'vitest';
import { withoutFacades } from '../../tools/pack/builtin-modules.ts';

test.each([
  [
    'import { hash } from "node:crypto";',
    'const { hash } = process.getBuiltinModule("node:crypto");',
  ],
  [
    'import { connect as dial, isIP } from "node:net";',
    'const { connect: dial, isIP } = process.getBuiltinModule("node:net");',
  ],
  ['import v8 from "node:v8";', 'const v8 = process.getBuiltinModule("node:v8");'],
  ['import * as url from "node:url";', 'const url = process.getBuiltinModule("node:url");'],
  [
    'import fs, { readFileSync } from "node:fs";',
    'const fs = process.getBuiltinModule("node:fs"); const { readFileSync } = process.getBuiltinModule("node:fs");',
  ],
])('%s', (written, expected) => {
  expect(withoutFacades(`${written}\nhash();`)).toBe(`${expected}\nhash();`);
});

test('other imports stay as they are', () => {
  const code = 'import { a } from "./chunk.js";\nconst text = `import { b } from "node:fs";`;';
  expect(withoutFacades(code)).toBe(code);
});

test('a form that is not known stops the build', () => {
  expect(() => withoutFacades('import "node:fs";\nimport type from "node:os" with {};')).toThrow(
    'adapt builtin-modules.ts',
  );
});
