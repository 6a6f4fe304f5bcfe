import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fileDigest } from '../../src/engine/catalog/discover-checks.ts';
import { findHouseBreaches } from '../../tools/lint/house-rules.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CHECK = 'checks/P6-price-integrity';
const MARK = ['TO', 'DO'].join('');

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
const V1 = `/** P6: the price. */
import { defineCheck, fail, pass } from '../../src/engine/define-check.ts';
import type { Lookup } from '../../src/model/observations.ts';

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
const CASES = `export default [
  { name: 'two prices', seen: {}, expect: { status: 'fail', outcome: 'differs' } },
  { name: 'one price', seen: {}, expect: { status: 'pass', outcome: 'equal' } },
  { name: 'no answer', seen: {}, expect: { status: 'fail', outcome: 'limits' } },
];
`;
const CATALOG = JSON.stringify({ checks: [{ impl: 'P6@1', digest: fileDigest(V1) }] });

let root: string;

/** A small checkout in which no rule finds anything. */
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'lint-'));
  for (const file of [
    'engine/define-check.ts',
    'engine/findings.ts',
    'engine/README.md',
    'model/verdict.ts',
    'model/README.md',
  ]) {
    await cp(join(ROOT, 'src', file), join(root, 'src', file), { recursive: true });
  }
  await write(`${CHECK}/README.md`, README);
  await write(`${CHECK}/v1.ts`, V1);
  await write(`${CHECK}/cases.ts`, CASES);
  await write('catalog/2026-08-14.2.json', CATALOG);
  await write(
    'catalog/published.json',
    JSON.stringify({ catalogs: { '2026-08-14.2': fileDigest(CATALOG) } }),
  );
  await write('package-lock.json', '{ "packages": {} }');
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function write(file: string, content: string) {
  await mkdir(dirname(join(root, file)), { recursive: true });
  await writeFile(join(root, file), content);
}

/** Returns the printed findings after `content` was written to `file`. */
async function findings(file?: string, content = '') {
  if (file !== undefined) await write(file, content);
  return (await findHouseBreaches(root)).map((one) => `${one.file}:${one.line}: ${one.message}`);
}

test('a checkout that keeps all rules has no finding', async () => {
  expect(await findings()).toEqual([]);
});

test('line ends of a Windows checkout do not count as a change', async () => {
  expect(await findings(`${CHECK}/v1.ts`, V1.replaceAll('\n', '\r\n'))).toEqual([]);
});

describe('a check folder', () => {
  test.each(['README.md', 'cases.ts', 'v1.ts'])('without %s is refused', async (name) => {
    await rm(join(root, CHECK, name));
    expect(await findings()).toContainEqual(expect.stringContaining(`${CHECK}/${name}:1: missing`));
  });

  test('has nothing else in it, and its name has its id', async () => {
    expect(await findings(`${CHECK}/prices.ts`, '/** A. */')).toEqual([
      expect.stringContaining(`${CHECK}/prices.ts:1: a check folder holds`),
    ]);
    await rm(join(root, CHECK, 'prices.ts'));
    expect(await findings('checks/prices/README.md', README)).toContainEqual(
      expect.stringContaining('"prices" is no name of a check'),
    );
  });

  test.each([
    ['missing', README.replace('## Source', '## Sources'), '1: no section "## Source"'],
    ['empty', README.replace('RFC 9110', ''), '13: "## Source" is empty'],
  ])('has a README in which no section is %s', async (_what, content, message) => {
    expect(await findings(`${CHECK}/README.md`, content)).toEqual([
      expect.stringContaining(`${CHECK}/README.md:${message}`),
    ]);
  });

  test('says in its History which cells a version moves', async () => {
    const content = `${README}- v2: what moves from v1, and why.\n`;
    expect(await findings(`${CHECK}/README.md`, content)).toEqual([
      expect.stringContaining('"## History" does not say what moves'),
    ]);
  });

  test('documents each outcome', async () => {
    const content = README.replace('`differs`', '`differing`');
    expect(await findings(`${CHECK}/README.md`, content)).toEqual([
      expect.stringContaining(`${CHECK}/README.md:1: \`differs\` of v1`),
    ]);
  });

  test('documents outcomes in their order of precedence', async () => {
    const [first, second] = ['- `differs` (fail): two prices', '- `equal` (pass): one price'];
    const content = README.replace(`${first}\n${second}`, `${second}\n${first}`);
    expect(await findings(`${CHECK}/README.md`, content)).toEqual([
      expect.stringContaining(`${CHECK}/README.md:1: \`equal\` stands before`),
    ]);
  });

  test('has a case for each outcome, and for no other', async () => {
    expect(await findings(`${CHECK}/cases.ts`, CASES.replace("'equal'", "'same'"))).toEqual([
      expect.stringContaining(`${CHECK}/cases.ts:1: no case reaches equal of v1`),
      expect.stringContaining(`${CHECK}/cases.ts:1: a case expects same`),
    ]);
  });

  test('has no placeholder that "npm run check:new" wrote', async () => {
    const scaffold = 'Say in one imperative line what to do.';
    const content = V1.replace('Send a Date header, then fetch the process list.', scaffold);
    expect(await findings(`${CHECK}/v2.ts`, content.replace('version: 1', 'version: 2'))).toEqual([
      expect.stringContaining(`${CHECK}/v2.ts:1: says nothing yet`),
    ]);
  });

  test('has versions that load and cases that are a list', async () => {
    expect(await findings(`${CHECK}/v2.ts`, V1)).toContainEqual(
      expect.stringContaining(`${CHECK}/v2.ts:1: version is 1`),
    );
    await rm(join(root, CHECK, 'v2.ts'));
    expect(await findings(`${CHECK}/cases.ts`, 'export default 1;')).toEqual([
      expect.stringContaining(`${CHECK}/cases.ts:1: cannot be read`),
    ]);
  });
});

describe('a published file', () => {
  test.each([
    [`${CHECK}/v1.ts`, `${V1}// changed\n`],
    ['catalog/2026-08-14.2.json', '{ "checks": [1] }\n'],
  ])('may not change: %s', async (file, content) => {
    expect(await findings(file, content)).toEqual([
      expect.stringMatching(`^${file}:1: .*published`),
    ]);
  });

  test('may not be removed', async () => {
    await rm(join(root, 'catalog/2026-08-14.2.json'));
    expect(await findings()).toEqual([
      expect.stringContaining(
        'catalog/2026-08-14.2.json:1: catalog/2026-08-14.2.json is published',
      ),
    ]);
  });

  test('is pinned', async () => {
    expect(await findings('catalog/2026-09-01.1.json', CATALOG)).toEqual([
      expect.stringContaining('catalog/2026-09-01.1.json:1: not pinned'),
    ]);
    // The catalog that is being published needs no pin yet.
    expect(await findHouseBreaches(root, '2026-09-01.1')).toEqual([]);
    await rm(join(root, 'catalog/2026-09-01.1.json'));
    expect(await findings('catalog/published.json', '[]')).toEqual([
      expect.stringContaining('catalog/published.json:1:'),
    ]);
  });
});

describe('code that uses a private or global door', () => {
  const hooks = ['register', 'Hooks'].join('');
  test.each([
    ['a file inside a package', "import { one } from 'undici/lib/core/util.js';"],
    ['a file of a scoped package', "const one = await import('@x402/core/dist/esm/index.mjs');"],
    ['a path into node_modules', "import { one } from '../node_modules/viem/index.js';"],
    ['a private field', 'export const head = (response: Head) => response._header;'],
    ['a private field by name', "export const head = Reflect.get(response, '_header');"],
    ['hooks of the loader', `import { ${hooks} } from 'node:module';`],
    ['a global', 'globalThis.fetch = offline;'],
    ['a global by description', "Object.defineProperty(globalThis, 'fetch', { value: offline });"],
    ['a prototype', 'Array.prototype.first = first;'],
  ])('%s is refused', async (_, code) => {
    expect(await findings('src/engine/a.ts', `${code}\n`)).toEqual([
      expect.stringContaining('src/engine/a.ts:1:'),
    ]);
  });

  test.each([
    ['an entry that the package documents', "import { Ajv2020 } from 'ajv/dist/2020.js';"],
    ['the id of a document', 'export const id = (row: Row) => row._id;'],
    ['a private field of our own', 'class A { readonly #head = 1; head = () => this.#head; }'],
    ['a comparison', 'export const isOffline = globalThis.fetch === offline;'],
  ])('%s is allowed', async (_, code) => {
    expect(await findings('src/engine/a.ts', `${code}\n`)).toEqual([]);
  });
});

describe('a checkout', () => {
  test.each([
    ['src/engine/utils.ts', '/** A. */', ':1: "utils" says nothing'],
    ['test/helpers/chain.ts', '/** A. */', ':1: "helpers" says nothing'],
    ['catalog/CHANGELOG.md', '| P6 | `P6@1`: … | `P6@2`: two |', ':1: "`P6@1`: …" says nothing'],
    ['docs/a.md', `One\n${MARK}: two\n`, `:2: ${MARK}`],
    [
      'package-lock.json',
      '{\n"resolved": "https://example.org/a.tgz" }',
      ':2: no download addresses',
    ],
  ])('with a fault in %s is refused', async (file, content, message) => {
    expect(await findings(file, content)).toEqual([expect.stringContaining(`${file}${message}`)]);
  });

  test('without a README in a folder of src is refused', async () => {
    expect(await findings('src/orders/a.ts', '/** A. */')).toEqual([
      expect.stringContaining('src/orders/README.md:1: missing'),
    ]);
  });

  test.each([
    ['type', 'export type Reading = { at: number };'],
    ['interface', 'export interface Reading { at: number }'],
    ['class', 'export class Reading {}'],
    ['abstract class with a parameter', 'export abstract class Reading<T> {}'],
  ])('two files do not export the same name: %s', async (_, code) => {
    await write('src/engine/a.ts', 'export type Reading<T> = readonly T[];\n');
    expect(await findings('plugins/b.ts', `/** B. */\n${code}\n`)).toEqual([
      "src/engine/a.ts:1: plugins/b.ts exports a type Reading too: give it its room's word",
    ]);
  });

  test.each([
    ['a re-export', "export type { Reading } from './a.ts';"],
    ['a type that the file keeps', 'type Reading = number;'],
    ['a longer name', 'export type ReadingOptions = { at: number };'],
    ['a function', 'export function Reading() {}'],
  ])('%s may have the name of an exported type', async (_, code) => {
    await write('src/engine/a.ts', 'export type Reading<T> = readonly T[];\n');
    expect(await findings('src/engine/b.ts', `${code}\n`)).toEqual([]);
  });

  test('a test may declare a type of the same name', async () => {
    await write('src/engine/a.ts', 'export type Reading = number;\n');
    expect(await findings('test/engine/b.ts', 'export type Reading = string;\n')).toEqual([]);
  });
});
