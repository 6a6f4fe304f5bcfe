import { execFile } from 'node:child_process';
import { cp } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { needs } from '../fixtures/needs.ts';
import { folderPerFile } from '../fixtures/temp-folder.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const BIOME_PACKAGE = `@biomejs/cli-${process.platform}-${process.arch}`;

/** A file, its code, and a part of Biome's message. */
type Row = readonly [file: string, code: string, message: string];

const IMPURE_CHECKS: readonly Row[] = [
  'const now = Date.now();',
  "const seen = Date.parse('2026-08-14T00:00:00Z');",
  'const wait = () => setTimeout(() => {}, 1);',
  "const bytes = Buffer.from('');",
  'const bytes = new Uint8Array(9);',
  'const home = process.env.HOME;',
  "const ask = () => fetch('https://example.org');",
  'const all = globalThis;',
  'const late = Promise.resolve(1);',
]
  .map((code, index): Row => [`checks/P1-globals/v${index + 1}.ts`, code, 'the global variable'])
  .concat([
    ['checks/P1-a/v1.ts', 'const luck = Math.random();', 'No Math.random'],
    ['checks/P1-a/v2.ts', "const pattern = new RegExp('a' + FIX);", 'No RegExp from a text'],
    ['checks/P1-a/v3.ts', 'const late = async () => 1;', 'Nothing asynchronous'],
    ['checks/P1-a/v4.ts', 'const check = { async evaluate() {} };', 'Nothing asynchronous'],
    ['checks/P1-a/v5.ts', 'async function late() {}', 'Nothing asynchronous'],
    ['checks/P1-a/v6.ts', "import { readFileSync } from 'node:fs';", 'Node.js builtin'],
    ['checks/P1-a/v7.ts', "import { a } from '#kit';", 'only names of package.json'],
    ['checks/P1-a/v8.ts', "export * from '#check';", 'only names of package.json'],
    ['checks/P1-a/v9.ts', "import './v1.ts';", 'only names of package.json'],
    ['checks/P1-a/v10.ts', "const late = import('./v1.ts');", 'only names of package.json'],
    ['checks/P1-a/v11.ts', 'const loose = FIX as any;', 'any'],
    [
      'checks/P1-a/v12.ts',
      "import type { Kit } from '../../src/scanner/parse/kit/kit.ts';",
      'only names of package.json',
    ],
    [
      'checks/P1-a/v13.ts',
      "import { a } from '../../src/scanner/engine/define-check.ts';",
      'only names of package.json',
    ],
    ['checks/P1-a/v14.ts', "export type { Kit } from '#kit';", 'only names of package.json'],
  ]);

const BAD_SHAPES: readonly Row[] = [
  ['src/scanner/scan/kind.ts', 'export interface A { a: 1 }', 'interface'],
  ['src/scanner/scan/long.ts', `export function a() {${'\n  a();'.repeat(61)}\n}`, 'lines (61)'],
  ['tools/long.ts', `${'\n'.repeat(300)}export {};`, 'too many lines (301)'],
  ['test/long.test.ts', `${'\n'.repeat(500)}export {};`, 'too many lines (501)'],
];

/** Code at a limit, or code that only looks like a breach. */
const CLEAN_FILES: readonly (readonly [file: string, code: string])[] = [
  ['src/scanner/scan/a-type.ts', "export type { Store } from '../store/contract/store.ts';"],
  ['src/scanner/engine/catalog/a.ts', "export { parseJson } from '../../parse/json/json.ts';"],
  ['src/service/store/mongo/a.ts', "export type { Grade } from '../../model/report.ts';"],
  ['checks/P1-b/v1.ts', '// Words in comments are not code: Date, fetch, process.'],
  ['checks/P1-b/v2.ts', "export const FIX = 'Send a Date header, then fetch the process list.';"],
  [
    'checks/P1-b/v3.ts',
    'export const a = (seen: { process: string }) => ({ Date: seen.process });',
  ],
  ['checks/P1-b/v4.ts', 'export const a = /["\'`]Date.now\\(\\)/;'],
  ['checks/P1-b/v5.ts', "export { a };\nimport { a } from '#check';"],
  ['checks/P1-b/v6.ts', "import type { Json } from '#parse/json';\nexport type A = Json;"],
  ['checks/P1-b/cases.ts', 'export const a = Date.parse(new Date().toISOString());'],
  ['src/scanner/scan/at-limit.ts', `export function a() {${'\n  a();'.repeat(60)}\n}`],
  ['tools/at-limit.ts', `${'\n'.repeat(299)}export {};`],
  ['test/at-limit.test.ts', `${'\n'.repeat(499)}export {};`],
];

function findBiome(): string | null {
  try {
    return createRequire(import.meta.url).resolve(`${BIOME_PACKAGE}/biome`);
  } catch {
    return null;
  }
}

const executable = findBiome();

describe('Biome', needs(executable ? null : `no ${BIOME_PACKAGE}`), () => {
  const root = folderPerFile();
  /** One line for each finding, in the format of GitHub's commands. */
  let findings: readonly string[];

  beforeAll(async () => {
    for (const file of ['biome.json', 'tools/lint/pure-checks.grit']) {
      await cp(join(ROOT, file), root.at(file));
    }
    for (const [file, code] of [...IMPURE_CHECKS, ...BAD_SHAPES, ...CLEAN_FILES]) {
      await root.write(file, `/** A file. */${code.startsWith('\n') ? '' : '\n'}${code}`);
    }
    const args = ['lint', '--vcs-enabled=false', '--reporter=github', '--max-diagnostics=none'];
    const { stdout } = await run(executable ?? '', [...args, '--diagnostic-level=warn', '.'], {
      cwd: root.path,
    }).catch((error: { stdout: string }) => error);
    findings = stdout.split('\n').filter((line) => line.startsWith('::'));
  });

  function findingsIn(file: string): readonly string[] {
    return findings.filter((line) => line.includes(`/${file},line=`));
  }

  test.each(IMPURE_CHECKS)('refuses the impure check %s: %s', (file, _code, message) => {
    expect(findingsIn(file)).toContainEqual(expect.stringContaining(message));
  });

  test.each(BAD_SHAPES.map(([file, , message]) => [file, message] as const))(
    'refuses %s: %s',
    (file, message) => {
      expect(findingsIn(file)).toEqual([expect.stringContaining(message)]);
    },
  );

  test.each(CLEAN_FILES.map(([file]) => file))('finds nothing in %s', (file) => {
    expect(findingsIn(file)).toEqual([]);
  });
});
