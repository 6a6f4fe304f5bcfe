/** `npm run upstream` runs in a new process, on packages and documents that the test writes. */

import { spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { cp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { SCHEMES } from '../../src/scanner/parse/x402/schemes.ts';
import { renderKnownAssets } from '../../tools/upstream/known-assets.ts';
import { folderPerFile } from '../fixtures/temp-folder.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const BASE_USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';

const folder = folderPerFile();

async function runUpstream(args: readonly string[], root = ROOT) {
  const child = spawn(process.execPath, ['tools/upstream/main.ts', ...args], { cwd: root });
  const closed = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await closed, lines: out.split('\n').filter((line) => line !== ''), err };
}

async function editFile(file: string, change: (text: string) => string): Promise<void> {
  const before = await readFile(file, 'utf8');
  const after = change(before);
  expect(after).not.toBe(before);
  await writeFile(file, after);
}

/** Copies the official packages without their dependencies. */
async function copyPackages(name: string): Promise<string> {
  const copy = folder.at(name);
  for (const packageName of ['evm', 'svm']) {
    await cp(join(ROOT, 'node_modules/@x402', packageName), join(copy, '@x402', packageName), {
      recursive: true,
    });
  }
  return copy;
}

/** Copies the sources of this checkout, so that a test can change them. */
async function copyTree(name: string): Promise<string> {
  const copy = folder.at(name);
  for (const entry of ['src', 'tools', 'docs', 'package.json']) {
    await cp(join(ROOT, entry), join(copy, entry), { recursive: true });
  }
  await symlink(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

describe('npm run upstream on the official packages', () => {
  test('reports nothing for the installed packages, and nothing for a copy of them', async () => {
    const silentRun = { code: 0, lines: [], err: '' };
    expect(await runUpstream([])).toEqual(silentRun);
    const copy = await copyPackages('same');
    expect(await runUpstream(['--packages', copy])).toEqual(silentRun);
    expect(await runUpstream(['--packages', join(copy, '@x402')])).toEqual(silentRun);
  });

  test('names each row that is missing in our tables', async () => {
    const tree = await copyTree('fewer-rows');
    const table = join(tree, 'src/scanner/parse/x402');
    await editFile(join(table, 'known-assets.ts'), (source) =>
      source.replace(/^ {2}'eip155:8453': .*\n/m, ''),
    );
    await editFile(join(table, 'schemes.ts'), (source) =>
      source.replace("scheme: 'auth-capture'", "scheme: 'deferred'"),
    );
    await editFile(join(table, 'networks.ts'), (source) =>
      source.replace("  ['base', 'eip155:8453'],\n", ''),
    );
    await editFile(join(table, 'network-names.ts'), (source) =>
      source.replace(/^ {2}\['eip155:137', .*\n/m, ''),
    );
    const { code, lines } = await runUpstream([], tree);
    expect(lines).toEqual([
      'auth-capture on eip155: @x402/evm has a client, and there is no row',
      'deferred on eip155: has a row, and @x402/evm has no client',
      `default asset eip155:8453 ${BASE_USDC} (USDC): in @x402/evm, and there is no row`,
      'network eip155:137: has a default asset, and no name here',
      'version 1 name base: no row here, eip155:8453 upstream',
    ]);
    expect(code).toBe(1);
  });

  test('names each difference in a changed copy of the packages', async () => {
    const copy = await copyPackages('doctored');
    const evm = join(copy, '@x402/evm');
    const manifest = join(evm, 'package.json');
    await editFile(manifest, (source) => {
      const { exports, ...rest } = JSON.parse(source);
      delete exports['./upto/client'];
      const next = { './next/client': exports['./exact/client'] };
      return JSON.stringify({ ...rest, exports: { ...exports, ...next } });
    });
    const { '.': root } = JSON.parse(await readFile(manifest, 'utf8')).exports;
    await writeFile(
      join(evm, 'doctored.mjs'),
      `export * from '${root.import.default}';
       import { DEFAULT_ASSETS as all } from '${root.import.default}';
       const [usdc] = all['eip155:8453'];
       const { 'eip155:1': _, ...others } = all;
       export const DEFAULT_ASSETS = {
         ...others,
         'eip155:8453': [{ ...usdc, decimals: 7, name: 'USDC' }],
         'eip155:424242': [{ ...usdc, symbol: 'NEW' }],
       };`,
    );
    await editFile(manifest, (source) => {
      const { exports, ...rest } = JSON.parse(source);
      return JSON.stringify({ ...rest, exports: { ...exports, '.': './doctored.mjs' } });
    });
    await rm(join(copy, '@x402/svm'), { recursive: true });
    const { code, lines } = await runUpstream(['--packages', copy]);
    const baseUsdc = `default asset eip155:8453 ${BASE_USDC}`;
    for (const line of [
      '@x402/svm: gone, and rows of schemes name it',
      'next on eip155: @x402/evm has a client, and there is no row',
      'upto on eip155: has a row, and @x402/evm has no client',
      `${baseUsdc}: decimals 6 here, 7 in @x402/evm`,
      `${baseUsdc}: name USD Coin here, USDC in @x402/evm`,
      `default asset eip155:424242 ${BASE_USDC} (NEW): in @x402/evm, and there is no row`,
      'network eip155:424242: has a default asset, and no name here',
    ]) {
      expect(lines).toContain(line);
    }
    expect(lines.filter((line) => /^default asset eip155:1 .*: gone$/.test(line))).toHaveLength(1);
    expect(code).toBe(1);
  });

  test('writes the same page and table as in this checkout, with --write', async () => {
    const tree = await copyTree('written');
    const files = ['docs/networks-and-schemes.md', 'src/scanner/parse/x402/known-assets.ts'];
    for (const file of files) await writeFile(join(tree, file), 'export const KNOWN_ASSETS = [];');
    expect(await runUpstream(['--write'], tree)).toEqual({ code: 0, lines: [], err: '' });
    for (const file of files) {
      const [written, committed] = await Promise.all(
        [tree, ROOT].map((root) => readFile(join(root, file), 'utf8')),
      );
      expect(written).toBe(committed);
    }
  });
});

describe('npm run upstream on a checkout of the specifications', () => {
  const ERROR_CODES = [
    ...['insufficient_funds', 'invalid_network', 'invalid_payload', 'invalid_scheme'],
    ...['invalid_payment_requirements', 'invalid_x402_version', 'unsupported_scheme'],
    ...['valid_after', 'valid_before', 'value_mismatch'].map(
      (suffix) => `invalid_exact_evm_payload_authorization_${suffix}`,
    ),
    ...['signature', 'recipient_mismatch'].map((suffix) => `invalid_exact_evm_payload_${suffix}`),
    ...['invalid_transaction_state', 'unexpected_verify_error', 'unexpected_settle_error'],
  ];
  const specificationFiles = new Set(
    SCHEMES.flatMap(({ specification }) => specification?.file ?? []),
  );

  /** Writes a checkout with the document of each row, but without the files of `missing`. */
  async function writeCheckout(
    name: string,
    documents: Readonly<Record<string, string>>,
    missing: readonly string[] = [],
  ): Promise<string> {
    const all = {
      ...Object.fromEntries([...specificationFiles].map((file) => [file, '# Another version\n'])),
      'specs/schemes/exact/scheme_exact.md': '# Overview\n',
      'specs/x402-specification-v2.md': ERROR_CODES.map((code) => `- **\`${code}\`**: it\n`).join(
        '',
      ),
      ...documents,
    };
    for (const [file, content] of Object.entries(all)) {
      if (!missing.includes(file)) await folder.write(`${name}/${file}`, content);
    }
    return folder.at(name);
  }

  test('names files without a row, rows without a file, changed files, and new and removed error codes', async () => {
    const removedFile = 'specs/schemes/exact/scheme_exact_near.md';
    const addedFile = 'specs/schemes/exact/scheme_exact_moon.md';
    const codes = [...ERROR_CODES.slice(1), 'moon_unreachable'];
    const checkout = await writeCheckout(
      'made',
      {
        [addedFile]: '# Moon\n',
        'specs/x402-specification-v2.md': codes.map((code) => `- **\`${code}\`**: it\n`).join(''),
      },
      [removedFile],
    );
    const { code, lines } = await runUpstream(['--specs', checkout]);
    const blob = hash('sha1', 'blob 18\0# Another version\n');
    const [changedLines, otherLines] = [
      lines.filter((line) => line.includes(blob)),
      lines.filter((line) => !line.includes(blob)),
    ];
    expect(otherLines).toEqual([
      `${addedFile}: has neither a row nor a reason to have none`,
      `${removedFile}: has a row, and is gone`,
      'error code moon_unreachable: in specs/x402-specification-v2.md, and not classified',
      'error code insufficient_funds: classified, and gone from specs/x402-specification-v2.md',
    ]);
    expect(changedLines).toHaveLength(specificationFiles.size - 1);
    expect(changedLines).toContainEqual(
      expect.stringMatching(
        /^specs\/schemes\/exact\/scheme_exact_evm\.md: changed, its row was read on \d{4}-\d\d-\d\d from blob [0-9a-f]{10}, now it is blob [0-9a-f]{40}$/,
      ),
    );
    expect(code).toBe(1);
  });

  test('accepts the folder specs itself, and reports nothing for a document with the blob of its row', async () => {
    const tree = await copyTree('own-blobs');
    const [row] = SCHEMES.flatMap(({ specification }) => specification?.blob ?? []);
    const content = '# The version that was read\n';
    const blob = hash('sha1', `blob ${content.length}\0${content}`);
    await editFile(join(tree, 'src/scanner/parse/x402/schemes.ts'), (source) =>
      source.replaceAll(row ?? '', blob),
    );
    const file = SCHEMES.find(({ specification }) => specification?.blob === row)?.specification
      ?.file;
    const checkout = await writeCheckout('same', { [file ?? '']: content });
    const { lines } = await runUpstream(['--specs', join(checkout, 'specs')], tree);
    expect(lines).toHaveLength(specificationFiles.size - 1);
    expect(lines.filter((line) => line.startsWith(`${file}:`))).toEqual([]);
  });
});

test.each([
  [['--packages', join(tmpdir(), 'no-such-folder')], 'holds no package @x402/*'],
  [['--packages'], 'usage: npm run upstream'],
  [['--specs', tmpdir()], 'has no specs/schemes'],
  [['--all'], "Unknown option '--all'"],
  [['evm'], 'usage: npm run upstream'],
] as const)(
  'npm run upstream with the bad arguments %j prints one line, and exits with 2',
  async (args, words) => {
    const { code, lines, err } = await runUpstream(args);
    expect({ code, lines }).toEqual({ code: 2, lines: [] });
    expect(err.trimEnd().split('\n')).toHaveLength(1);
    expect(err).toContain(words);
  },
);

describe('texts of packages', () => {
  const HARM = "\\',globalThis.HARM=7]],//";
  const textsOf = (symbol: string) =>
    renderKnownAssets([
      {
        name: '@x402/evm',
        failed: new Map(),
        lacksDependency: false,
        entries: new Map([
          [
            '.',
            {
              DEFAULT_ASSETS: {
                'eip155:1': [{ asset: symbol, symbol, decimals: 6, name: symbol }],
              },
            },
          ],
        ]),
      },
    ]);

  test.each([HARM, "it's", '"', 'a\n\u2028b', 'USD Coin'])(
    'stay texts in the table of assets: %j',
    async (symbol) => {
      const file = await folder.write(`assets-${hash('sha256', symbol)}.ts`, textsOf(symbol));
      const { KNOWN_ASSETS } = await import(file);
      const row = ['eip155:1', symbol, symbol, 6, [symbol, 'undefined']];
      expect(KNOWN_ASSETS).toEqual([row]);
      expect(globalThis).not.toHaveProperty('HARM');
    },
  );

  test('are printed on one line, without backticks and commands of a runner', async () => {
    const copy = await copyPackages('hostile-texts');
    const asset = String.raw`{ asset: 'a', symbol: 'X\n::error::x', decimals: 6, name: '\x60\x60\x60', version: '1' }`;
    await writeFile(
      join(copy, '@x402/evm/dist/esm/index.mjs'),
      `export const DEFAULT_ASSETS = { 'eip155:424242': [${asset}] };`,
    );
    const { code, lines } = await runUpstream(['--packages', copy]);
    expect(code).toBe(1);
    expect(lines.join('\n')).toContain('eip155:424242');
    expect(lines.join('\n')).not.toMatch(/`|^::/m);
  });
});
