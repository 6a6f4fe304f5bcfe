import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, test } from 'vitest';
import { fileDigest } from '../../src/scanner/engine/catalog/discover-checks.ts';
import { findHouseBreaches } from '../../tools/lint/house-rules.ts';
import { folderPerTest } from '../fixtures/temp-folder.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CHECK_FOLDER = 'checks/P6-price-integrity';
// Lint reads this file too, so the mark is not written out here.
const TODO_MARK = ['TO', 'DO'].join('');

const README = `# P6

## Why
It matters.

## Rule
- \`differs\` (fail): two prices
- \`equal\` (pass): one price

## Fix
Do it.

## Source
RFC 9110

## History
- v1: first.
`;
const V1_CODE = `/** P6: the price. */
import { defineCheck, fail, pass } from '#check';
import type { Lookup } from '#model';

// Words in comments are not code: Date, fetch, process.
const FIX = 'Send a Date header, then fetch the process list.';
const SEEN: Lookup<string> | null = null;

export default defineCheck({
  id: 'P6',
  version: 1,
  needs: ['root'],
  requires: [],
  says: { right: 'The price is the same everywhere.', wrong: 'The price differs.', unjudged: 'The price is not known.' },
  outcomes: { differs: fail(FIX), equal: pass(FIX) },
  evaluate({ root }) {
    const quoted = /["'\`]Date.now\\(\\)/.test(String(SEEN));
    return ['equal', \`\${root.ok ? \`{"process":1}\` : 'fetch'} \${quoted}\`];
  },
});
`;
const CASES_CODE = `export default [
  { name: 'two prices', seen: {}, expect: { status: 'fail', outcome: 'differs' } },
  { name: 'one price', seen: {}, expect: { status: 'pass', outcome: 'equal' } },
  { name: 'no answer', seen: {}, expect: { status: 'fail', outcome: 'limits' } },
];
`;
const CATALOG = JSON.stringify({
  checksVersion: '2026-08-14.2',
  scoring: 'scoring@1',
  categories: [{ key: 'protocol', count: 1 }],
  checks: [
    {
      id: 'P6',
      title: 'price-integrity',
      category: 'protocol',
      impl: 'P6@1',
      digest: fileDigest(V1_CODE),
    },
  ],
});

const root = folderPerTest();

/** Each test starts with a small checkout in which no rule finds anything. */
beforeEach(async () => {
  for (const file of [
    'scanner/engine/define-check.ts',
    'scanner/engine/findings.ts',
    'scanner/engine/missing-challenge.ts',
    'scanner/engine/nothing-paid.ts',
    'scanner/engine/README.md',
    'scanner/model/verdict.ts',
    'scanner/model/README.md',
    'scanner/parse/text/text.ts',
    'scanner/parse/README.md',
    'scanner/README.md',
  ]) {
    await cp(join(ROOT, 'src', file), root.at('src', file), { recursive: true });
  }
  await cp(join(ROOT, 'catalog/schema.json'), root.at('catalog/schema.json'));
  await root.write(`${CHECK_FOLDER}/README.md`, README);
  await root.write(`${CHECK_FOLDER}/v1.ts`, V1_CODE);
  await root.write(`${CHECK_FOLDER}/cases.ts`, CASES_CODE);
  await root.write('catalog/2026-08-14.2.json', CATALOG);
  await root.write(
    'catalog/published.json',
    JSON.stringify({ catalogs: { '2026-08-14.2': fileDigest(CATALOG) } }),
  );
  await root.write('package-lock.json', '{ "packages": {} }');
  await root.write('package.json', toManifest({}));
});

/** The small checkout's package.json, which maps the names that checks import. */
function toManifest(members: Readonly<Record<string, string>>): string {
  const imports = { '#check': './src/scanner/engine/define-check.ts' };
  return JSON.stringify({ ...members, imports }, null, 2);
}

/** Writes `content` to `file`, and returns the findings of lint as text. */
async function listFindings(file?: string, content = '') {
  if (file !== undefined) await root.write(file, content);
  return (await findHouseBreaches(root.path)).map(
    ({ file: place, line, message }) => `${place}:${line}: ${message}`,
  );
}

test('a checkout that keeps all rules has no finding', async () => {
  expect(await listFindings()).toEqual([]);
});

test('line ends of a Windows checkout do not count as a change', async () => {
  expect(await listFindings(`${CHECK_FOLDER}/v1.ts`, V1_CODE.replaceAll('\n', '\r\n'))).toEqual([]);
});

describe('a check folder', () => {
  test.each(['README.md', 'cases.ts', 'v1.ts'])('without %s is refused', async (name) => {
    await rm(root.at(CHECK_FOLDER, name));
    expect(await listFindings()).toContainEqual(
      expect.stringContaining(`${CHECK_FOLDER}/${name}:1: missing`),
    );
  });

  test('with a further file, or without a check id in its name, is refused', async () => {
    expect(await listFindings(`${CHECK_FOLDER}/prices.ts`, '/** A. */')).toEqual([
      expect.stringContaining(`${CHECK_FOLDER}/prices.ts:1: a check folder holds`),
    ]);
    await rm(root.at(CHECK_FOLDER, 'prices.ts'));
    expect(await listFindings('checks/prices/README.md', README)).toContainEqual(
      expect.stringContaining('"prices" is not a name of a check'),
    );
  });

  const DIFFERS = '- `differs` (fail): two prices\n';
  const EQUAL = '- `equal` (pass): one price';

  test.each([
    ['has each section', README.replace('## Source', '## Sources'), ':1: no section "## Source"'],
    ['leaves no section empty', README.replace('RFC 9110', ''), ':13: "## Source" is empty'],
    [
      'says in its History which cells a version moves',
      `${README}- v2: what moves from v1, and why.\n`,
      '"## History" does not say what moves',
    ],
    ['has each outcome', README.replace('`differs`', '`differing`'), ':1: `differs` of v1'],
    [
      'has the outcomes in their order of precedence',
      README.replace(DIFFERS + EQUAL, `${EQUAL}\n${DIFFERS.trim()}`),
      ':1: `equal` stands before',
    ],
  ])('has a README that %s', async (_rule, content, message) => {
    const [finding, ...more] = await listFindings(`${CHECK_FOLDER}/README.md`, content);
    expect(more).toEqual([]);
    expect(finding).toContain(`${CHECK_FOLDER}/README.md:`);
    expect(finding).toContain(message);
  });

  test('has a case for each outcome, and for no other outcome', async () => {
    expect(
      await listFindings(`${CHECK_FOLDER}/cases.ts`, CASES_CODE.replace("'equal'", "'same'")),
    ).toEqual([
      expect.stringContaining(`${CHECK_FOLDER}/cases.ts:1: no case reaches equal of v1`),
      expect.stringContaining(`${CHECK_FOLDER}/cases.ts:1: a case expects same`),
    ]);
  });

  test('has no placeholder that "npm run check:new" wrote', async () => {
    const scaffold = 'Say in one imperative line what to do.';
    const content = V1_CODE.replace('Send a Date header, then fetch the process list.', scaffold);
    expect(
      await listFindings(`${CHECK_FOLDER}/v2.ts`, content.replace('version: 1', 'version: 2')),
    ).toEqual([expect.stringContaining(`${CHECK_FOLDER}/v2.ts:1: says nothing yet`)]);
  });

  test.each([
    ['no check', 'export default {', 'exports no check: '],
    ['no defineCheck', V1_CODE.replace('defineCheck({', 'Object({'), 'must say'],
    ['the version of another file', V1_CODE, 'version is 1, the file says 2'],
    ['the id of another folder', V1_CODE.replace("id: 'P6'", "id: 'P7'"), 'id is "P7"'],
    ['an unknown prerequisite', V1_CODE.replace('requires: []', "requires: ['Z9']"), 'it requires'],
  ])('has no version with %s', async (_case, content, message) => {
    expect(await listFindings(`${CHECK_FOLDER}/v2.ts`, content)).toContainEqual(
      expect.stringContaining(`${CHECK_FOLDER}/v2.ts:1: ${message}`),
    );
  });

  test('has cases that are a list', async () => {
    expect(await listFindings(`${CHECK_FOLDER}/cases.ts`, 'export default 1;')).toEqual([
      expect.stringContaining(`${CHECK_FOLDER}/cases.ts:1: cannot be read`),
    ]);
  });
});

test('a catalog that contradicts itself or its checks is refused', async () => {
  const catalog = CATALOG.replace('price-integrity', 'prices');
  const pins = JSON.stringify({ catalogs: { '2026-08-14.2': fileDigest(catalog) } });
  await root.write('catalog/published.json', pins);
  expect(await listFindings('catalog/2026-08-14.2.json', catalog)).toEqual([
    'catalog/2026-08-14.2.json:1: P6 is "prices" here and "price-integrity" in checks/',
  ]);
});

describe('a published file', () => {
  test.each([
    [`${CHECK_FOLDER}/v1.ts`, `${V1_CODE}// changed\n`],
    ['catalog/2026-08-14.2.json', '{ "checks": [1] }\n'],
  ])('may not change: %s', async (file, content) => {
    expect(await listFindings(file, content)).toEqual([
      expect.stringMatching(`^${file}:1: .*published`),
    ]);
  });

  test('may not be removed', async () => {
    await rm(root.at('catalog/2026-08-14.2.json'));
    expect(await listFindings()).toEqual([
      expect.stringContaining(
        'catalog/2026-08-14.2.json:1: catalog/2026-08-14.2.json is published',
      ),
    ]);
  });

  test('without a pin is refused, except while it is being published', async () => {
    expect(await listFindings('catalog/2026-09-01.1.json', CATALOG)).toEqual([
      expect.stringContaining('catalog/2026-09-01.1.json:1: not pinned'),
    ]);
    // The catalog that is being published needs no pin yet.
    expect(await findHouseBreaches(root.path, '2026-09-01.1')).toEqual([]);
    await rm(root.at('catalog/2026-09-01.1.json'));
    expect(await listFindings('catalog/published.json', '[]')).toEqual([
      expect.stringContaining('catalog/published.json:1:'),
    ]);
  });
});

describe('in code that uses private or global members', () => {
  // Lint reads this file too, so the name is not written out here.
  const hooks = ['register', 'Hooks'].join('');
  test.each([
    ['a file inside a package', "import { one } from 'undici/lib/core/util.js';"],
    ['a file of a scoped package', "const one = await import('@x402/core/dist/esm/index.mjs');"],
    ['a path into node_modules', "import { one } from '../node_modules/viem/index.js';"],
    ['a private field', 'export const head = (response: Head) => response._header;'],
    [
      'a private field that is read by its name',
      "export const head = Reflect.get(response, '_header');",
    ],
    ['hooks of the loader', `import { ${hooks} } from 'node:module';`],
    ['a write to a global', 'globalThis.fetch = offline;'],
    [
      'a global that is defined by a descriptor',
      "Object.defineProperty(globalThis, 'fetch', { value: offline });",
    ],
    ['a write to a prototype', 'Array.prototype.first = first;'],
  ])('%s is refused', async (_case, code) => {
    expect(await listFindings('src/scanner/engine/a.ts', `${code}\n`)).toEqual([
      expect.stringContaining('src/scanner/engine/a.ts:1:'),
    ]);
  });

  test.each([
    ['an entry that the package documents', "import { Ajv2020 } from 'ajv/dist/2020.js';"],
    ['the `_id` of a database document', 'export const id = (row: Row) => row._id;'],
    ['a private field of our own', 'class A { readonly #head = 1; head = () => this.#head; }'],
    ['a comparison with a global', 'export const isOffline = globalThis.fetch === offline;'],
  ])('%s is allowed', async (_case, code) => {
    expect(await listFindings('src/scanner/engine/a.ts', `${code}\n`)).toEqual([]);
  });
});

describe('a checkout', () => {
  test.each([
    ['src/scanner/engine/utils.ts', '/** A. */', ':1: "utils" says nothing'],
    ['test/helpers/chain.ts', '/** A. */', ':1: "helpers" says nothing'],
    ['catalog/CHANGELOG.md', '| P6 | `P6@1`: … | `P6@2`: two |', ':1: "`P6@1`: …" says nothing'],
    ['docs/a.md', `One\n${TODO_MARK}: two\n`, `:2: ${TODO_MARK}`],
    [
      'package-lock.json',
      '{\n"resolved": "https://example.org/a.tgz" }',
      ':2: no download addresses',
    ],
  ])('with a fault in %s is refused', async (file, content, message) => {
    expect(await listFindings(file, content)).toEqual([
      expect.stringContaining(`${file}${message}`),
    ]);
  });

  test.each([
    ['docs/ci.md', '- uses: <this repository>@v1.2.4', 1, '1.2.4'],
    ['docs/ci.md', 'One\nnpx x402-scan@1.2.2 and x402-scan-1.2.3.tgz', 2, '1.2.2'],
    ['ci/gitlab.yml', '# rev: v1.3.3', 1, '1.3.3'],
    ['server.json', '{ "name": "io.github.OWNER/x402-scan",\n "version": "2.2.3" }', 2, '2.2.3'],
    ['package-lock.json', '{\n"name": "x402-scan",\n"version": "1.2.2" }', 3, '1.2.2'],
  ])('may name no other version than package.json: %s', async (file, content, line, found) => {
    await root.write('package.json', toManifest({ name: 'x402-scan', version: '1.2.3' }));
    expect(await listFindings(file, content)).toEqual([
      `${file}:${line}: names version ${found}, and package.json says 1.2.3: name the same`,
    ]);
    expect(await listFindings(file, content.replace(found, '1.2.3'))).toEqual([]);
  });

  // In parts: this file replaces nothing, and its own name is judged by the same rule.
  const nock = ['import nock from ', "'nock';"].join('');
  const spy = ['vi.', "spyOn(console, 'error');"].join('');
  test.each([
    ['test/a/b.test.ts', nock, 1],
    ['test/a/b.unit.test.ts', spy, 1],
    ['test/a/b.apart.test.ts', spy, 0],
    ['test/a/b.long.test.ts', nock, 0],
  ])(
    'judges a suite that replaces parts of its process by its name: %s',
    async (file, code, found) => {
      const message = 'replaces parts of its process: name it *.apart.test.ts, or *.long.test.ts';
      expect(await listFindings(file, code)).toEqual([`${file}:1: ${message}`].slice(0, found));
    },
  );

  test('without a README in a wing or a room is refused', async () => {
    expect(await listFindings('src/shop/orders/cards/a.ts', '/** A. */')).toEqual([
      expect.stringContaining('src/shop/orders/README.md:1: missing'),
      expect.stringContaining('src/shop/README.md:1: missing'),
    ]);
  });

  test.each([
    ['type', 'export type Reading = { at: number };'],
    ['interface', 'export interface Reading { at: number }'],
    ['class', 'export class Reading {}'],
    ['abstract class with a parameter', 'export abstract class Reading<T> {}'],
  ])('with two exported types of the same name is refused: %s', async (_case, code) => {
    await root.write('src/scanner/engine/a.ts', 'export type Reading<T> = readonly T[];\n');
    expect(await listFindings('plugins/b.ts', `/** B. */\n${code}\n`)).toEqual([
      "src/scanner/engine/a.ts:1: plugins/b.ts exports a type Reading too: give it its room's word",
    ]);
  });

  test.each([
    ['a re-export of it', "export type { Reading } from './a.ts';"],
    ['a private type of that name', 'type Reading = number;'],
    ['an exported type with a longer name', 'export type ReadingOptions = { at: number };'],
    ['a function of that name', 'export function Reading() {}'],
  ])('beside an exported type Reading, may have %s', async (_case, code) => {
    await root.write('src/scanner/engine/a.ts', 'export type Reading<T> = readonly T[];\n');
    expect(await listFindings('src/scanner/engine/b.ts', `${code}\n`)).toEqual([]);
  });

  test('may have a test that exports a type of that name', async () => {
    await root.write('src/scanner/engine/a.ts', 'export type Reading = number;\n');
    expect(
      await listFindings('test/scanner/engine/b.ts', 'export type Reading = string;\n'),
    ).toEqual([]);
  });
});
