/** `npm run upstream` runs in a new process, on packages and documents that the test writes. */
import { spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SCHEMES } from '../../src/parse/x402/schemes.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const BASE_USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'upstream-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function run(args: readonly string[], root = ROOT) {
  const child = spawn(process.execPath, ['tools/upstream/main.ts', ...args], { cwd: root });
  const closed = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await closed, lines: out.split('\n').filter((line) => line !== ''), err };
}

async function edit(file: string, change: (text: string) => string): Promise<void> {
  const before = await readFile(file, 'utf8');
  const after = change(before);
  expect(after).not.toBe(before);
  await writeFile(file, after);
}

/** Copies the official packages without their dependencies. */
async function copyPackages(name: string): Promise<string> {
  const copy = join(folder, name);
  for (const one of ['evm', 'svm']) {
    await cp(join(ROOT, 'node_modules/@x402', one), join(copy, '@x402', one), { recursive: true });
  }
  return copy;
}

/** Copies the files of the tool, so that a test can remove a row. */
async function copyTree(name: string): Promise<string> {
  const copy = join(folder, name);
  for (const one of ['src', 'tools', 'docs', 'package.json']) {
    await cp(join(ROOT, one), join(copy, one), { recursive: true });
  }
  await symlink(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

describe('against the official packages', () => {
  it('reports nothing for the tree, nor for a copy of the installed packages', async () => {
    const quiet = { code: 0, lines: [], err: '' };
    expect(await run([])).toEqual(quiet);
    const copy = await copyPackages('same');
    expect(await run(['--packages', copy])).toEqual(quiet);
    expect(await run(['--packages', join(copy, '@x402')])).toEqual(quiet);
  });

  it('names each missing row', async () => {
    const tree = await copyTree('fewer-rows');
    const table = join(tree, 'src/parse/x402');
    await edit(join(table, 'known-assets.ts'), (all) =>
      all.replace(/^ {2}\['eip155:8453', .*\n/m, ''),
    );
    await edit(join(table, 'client-schemes.ts'), (all) =>
      all.replace("scheme: 'auth-capture'", "scheme: 'deferred'"),
    );
    await edit(join(table, 'networks.ts'), (all) =>
      all.replace("  ['base', 'eip155:8453'],\n", ''),
    );
    await edit(join(table, 'network-names.ts'), (all) =>
      all.replace(/^ {2}\['eip155:137', .*\n/m, ''),
    );
    const { code, lines } = await run([], tree);
    expect(lines).toEqual([
      'auth-capture on eip155: @x402/evm has a client, and there is no row',
      'deferred on eip155: has a row, and @x402/evm has no client',
      `default asset eip155:8453 ${BASE_USDC} (USDC): in @x402/evm, and there is no row`,
      'network eip155:137: has a default asset, and no name here',
      'version 1 name base: no row here, eip155:8453 upstream',
    ]);
    expect(code).toBe(1);
  });

  it('names the differences in a changed copy', async () => {
    const copy = await copyPackages('doctored');
    const evm = join(copy, '@x402/evm');
    const manifest = join(evm, 'package.json');
    await edit(manifest, (all) => {
      const { exports, ...rest } = JSON.parse(all);
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
    await edit(manifest, (all) => {
      const { exports, ...rest } = JSON.parse(all);
      return JSON.stringify({ ...rest, exports: { ...exports, '.': './doctored.mjs' } });
    });
    await rm(join(copy, '@x402/svm'), { recursive: true });
    const { code, lines } = await run(['--packages', copy]);
    const at = `default asset eip155:8453 ${BASE_USDC}`;
    for (const line of [
      '@x402/svm: gone, and rows of schemes name it',
      'next on eip155: @x402/evm has a client, and there is no row',
      'upto on eip155: has a row, and @x402/evm has no client',
      `${at}: decimals 6 here, 7 in @x402/evm`,
      `${at}: name USD Coin here, USDC in @x402/evm`,
      `default asset eip155:424242 ${BASE_USDC} (NEW): in @x402/evm, and there is no row`,
      'network eip155:424242: has a default asset, and no name here',
    ]) {
      expect(lines).toContain(line);
    }
    expect(lines.filter((line) => /^default asset eip155:1 .*: gone$/.test(line))).toHaveLength(1);
    expect(code).toBe(1);
  });

  it('writes the same page and table as in the tree', async () => {
    const tree = await copyTree('written');
    const files = ['docs/networks-and-schemes.md', 'src/parse/x402/known-assets.ts'];
    for (const file of files) await writeFile(join(tree, file), 'export const KNOWN_ASSETS = [];');
    expect(await run(['--write'], tree)).toEqual({ code: 0, lines: [], err: '' });
    for (const file of files) {
      const [made, own] = await Promise.all(
        [tree, ROOT].map((root) => readFile(join(root, file), 'utf8')),
      );
      expect(made).toBe(own);
    }
  });
});

describe('against a checkout of the specifications', () => {
  const CODES = [
    ...['insufficient_funds', 'invalid_network', 'invalid_payload', 'invalid_scheme'],
    ...['invalid_payment_requirements', 'invalid_x402_version', 'unsupported_scheme'],
    ...['valid_after', 'valid_before', 'value_mismatch'].map(
      (one) => `invalid_exact_evm_payload_authorization_${one}`,
    ),
    ...['signature', 'recipient_mismatch'].map((one) => `invalid_exact_evm_payload_${one}`),
    ...['invalid_transaction_state', 'unexpected_verify_error', 'unexpected_settle_error'],
  ];
  const files = new Set(SCHEMES.flatMap(({ specification }) => specification?.file ?? []));

  /** Writes a checkout with the document of each row, except `without`. */
  async function checkoutWith(
    name: string,
    documents: Readonly<Record<string, string>>,
    without: readonly string[] = [],
  ): Promise<string> {
    const all = {
      ...Object.fromEntries([...files].map((file) => [file, '# Another version\n'])),
      'specs/schemes/exact/scheme_exact.md': '# Overview\n',
      'specs/x402-specification-v2.md': CODES.map((code) => `- **\`${code}\`**: it\n`).join(''),
      ...documents,
    };
    for (const [file, content] of Object.entries(all)) {
      if (without.includes(file)) continue;
      await mkdir(dirname(join(folder, name, file)), { recursive: true });
      await writeFile(join(folder, name, file), content);
    }
    return join(folder, name);
  }

  it('names files without a row, rows without a file, other blobs and new codes', async () => {
    const gone = 'specs/schemes/exact/scheme_exact_near.md';
    const added = 'specs/schemes/exact/scheme_exact_moon.md';
    const codes = [...CODES.slice(1), 'moon_unreachable'];
    const made = await checkoutWith(
      'made',
      {
        [added]: '# Moon\n',
        'specs/x402-specification-v2.md': codes.map((code) => `- **\`${code}\`**: it\n`).join(''),
      },
      [gone],
    );
    const { code, lines } = await run(['--specs', made]);
    const blob = hash('sha1', 'blob 18\0# Another version\n');
    const [changed, others] = [
      lines.filter((line) => line.includes(blob)),
      lines.filter((line) => !line.includes(blob)),
    ];
    expect(others).toEqual([
      `${added}: has neither a row nor a reason to have none`,
      `${gone}: has a row, and is gone`,
      'error code moon_unreachable: in specs/x402-specification-v2.md, and not classified',
      'error code insufficient_funds: classified, and gone from specs/x402-specification-v2.md',
    ]);
    expect(changed).toHaveLength(files.size - 1);
    expect(changed).toContainEqual(
      expect.stringMatching(
        /^specs\/schemes\/exact\/scheme_exact_evm\.md: changed, its row was read on \d{4}-\d\d-\d\d from blob [0-9a-f]{10}, now it is blob [0-9a-f]{40}$/,
      ),
    );
    expect(code).toBe(1);
  });

  it('reads the folder specs too, and reports nothing for a document of the same blob', async () => {
    const tree = await copyTree('own-blobs');
    const [row] = SCHEMES.flatMap(({ specification }) => specification?.blob ?? []);
    const content = '# The version that was read\n';
    const blob = hash('sha1', `blob ${content.length}\0${content}`);
    await edit(join(tree, 'src/parse/x402/client-schemes.ts'), (all) =>
      all.replaceAll(row ?? '', blob),
    );
    const file = SCHEMES.find(({ specification }) => specification?.blob === row)?.specification
      ?.file;
    const made = await checkoutWith('same', { [file ?? '']: content });
    const { lines } = await run(['--specs', join(made, 'specs')], tree);
    expect(lines).toHaveLength(files.size - 1);
    expect(lines.filter((line) => line.startsWith(`${file}:`))).toEqual([]);
  });
});

it.each([
  [['--packages', join(tmpdir(), 'no-such-folder')], 'holds no package @x402/*'],
  [['--packages'], 'usage: npm run upstream'],
  [['--specs', tmpdir()], 'has no specs/schemes'],
  [['--all'], "Unknown option '--all'"],
  [['evm'], 'usage: npm run upstream'],
] as const)('bad usage is one line and exit 2: %j', async (args, words) => {
  const { code, lines, err } = await run(args);
  expect({ code, lines }).toEqual({ code: 2, lines: [] });
  expect(err.trimEnd().split('\n')).toHaveLength(1);
  expect(err).toContain(words);
});
