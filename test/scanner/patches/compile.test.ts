/** Compilers accept each patch with placeholders, with values, and with hostile values. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { STACKS, type Stack } from '../../../src/scanner/patches/patch.ts';
import {
  choosePlaceholders,
  type PatchValues,
  readPatchValues,
} from '../../../src/scanner/patches/patch-values.ts';
import { CHECK_TOPICS } from '../../../src/scanner/patches/topics.ts';
import { writePatches, writeTrialPatch } from '../../../src/scanner/patches/write-patches.ts';
import { findExecutable } from '../../fixtures/find-executable.ts';
import { ensureJudge } from '../../fixtures/judges/judge-tools.ts';
import { needs } from '../../fixtures/needs.ts';
import { HOSTILE_PATHS, paidRoute, report, TEMPLATES } from './reports.ts';

const run = promisify(execFile);
const TSC = fileURLToPath(new URL('../../../node_modules/typescript/bin/tsc', import.meta.url));
const SOLANA = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp';
const COMPILE_TIMEOUT_MS = 120_000;

const packages = await ensureJudge({
  '@x402/core': '2.25.0',
  '@x402/evm': '2.25.0',
  '@x402/svm': '2.25.0',
  '@x402/extensions': '2.25.0',
  '@x402/express': '2.25.0',
  '@x402/hono': '2.25.0',
  '@x402/next': '2.25.0',
  hono: '4.13.19',
  next: '16.4.6',
  express: '5.3.0',
  'express-rate-limit': '8.1.0',
  '@types/express': '5.0.6',
  '@types/node': '24.19.2',
  '@types/react': '19.2.0',
});

type Source = { readonly name: string; readonly code: string };

/** Lists the parts of all patches for these stacks whose file matches, each code once. */
function listSources(stacks: readonly Stack[], file: RegExp): readonly Source[] {
  const parts = stacks.flatMap((stack) => [
    ...listAllValues().flatMap(([id, values]) => listParts(stack, id, values)),
    ...listClaimParts(stack),
  ]);
  const partsByCode = new Map(
    parts.filter((part) => file.test(part.file)).map((part) => [part.code, part]),
  );
  return [...partsByCode.values()].map(({ name, code }, index) => ({
    name: `${name}_${index}`,
    code,
  }));
}

function listParts(stack: Stack, id: string, values: PatchValues) {
  const codeByFile = new Map<string, string>();
  return (writePatches(id, stack, values)?.patches ?? []).flatMap(({ topic, patch }) => {
    const name = `${stack}_${topic.replaceAll('-', '_')}`;
    const parts = 'whyNot' in patch ? [] : patch.parts;
    return parts.map((part) => {
      // An addition compiles in the program to which it is added.
      const code = `${(part.isAddition && codeByFile.get(part.file)) || ''}${part.code}`;
      codeByFile.set(part.file, code);
      return { ...part, name, code };
    });
  });
}

function listClaimParts(stack: Stack) {
  const { patch } = writeTrialPatch('T7', stack, readPatchValues(report()));
  const name = `${stack}_claim`;
  return 'whyNot' in patch ? [] : patch.parts.map((part) => ({ ...part, name }));
}

function listAllValues(): readonly (readonly [id: string, values: PatchValues])[] {
  const reports = [
    report({}),
    report({ network: SOLANA }),
    ...HOSTILE_PATHS.map((path) => report({ path })),
    report({ paid: TEMPLATES.map((path) => paidRoute(path)) }),
    report({
      paid: [paidRoute('/a/{b}'), paidRoute('/a/{b}', { method: 'POST', network: SOLANA })],
    }),
  ];
  return Object.keys(CHECK_TOPICS).flatMap((id) => [
    [id, choosePlaceholders(id)] as const,
    ...reports.map((report) => [id, readPatchValues(report)] as const),
  ]);
}

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'patches-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function writeFiles(
  folder: string,
  extension: string,
  files: readonly Source[],
): Promise<string[]> {
  await mkdir(folder, { recursive: true });
  return Promise.all(
    files.map(async ({ name, code }) => {
      const file = join(folder, `${name}.${extension}`);
      await writeFile(file, code);
      return file;
    }),
  );
}

/** Returns the output of a compiler that failed, or an empty text. */
function findCompilerErrors(command: string, args: readonly string[]): Promise<string> {
  return run(command, args, { timeout: COMPILE_TIMEOUT_MS, maxBuffer: 1 << 24 }).then(
    () => '',
    ({ stdout, stderr }) => `${stdout}${stderr}`,
  );
}

describe(
  'a patch compiles against the official packages',
  needs('unavailable' in packages ? packages.unavailable : null),
  () => {
    test('for Express, Hono and Next', { timeout: COMPILE_TIMEOUT_MS }, async () => {
      if ('unavailable' in packages) return;
      // The compiler looks for packages beside the file.
      const projectFolder = await mkdtemp(join(packages.folder, 'patches-'));
      try {
        const files = listSources(['express', 'hono', 'next'], /\.ts$/);
        expect(files.length).toBeGreaterThan(40);
        const paths = await writeFiles(projectFolder, 'ts', files);
        const flags = [
          '--ignoreConfig',
          '--noEmit',
          '--strict',
          '--skipLibCheck',
          '--target',
          'es2023',
        ];
        const modules = ['--module', 'esnext', '--moduleResolution', 'bundler'];
        await writeFile(join(projectFolder, 'package.json'), '{"type":"module"}');
        // The patch leaves the constant `ROUTE` to the seller, and does not compile without it.
        const routeFile = join(projectFolder, 'route.d.ts');
        await writeFile(routeFile, 'declare const ROUTE: string;');
        const args = [TSC, ...flags, ...modules, '--types', 'node', routeFile, ...paths];
        expect(await findCompilerErrors(process.execPath, args)).toBe('');
      } finally {
        await rm(projectFolder, { recursive: true, force: true });
      }
    });
  },
);

const python = findExecutable('python3');
describe('Python', needs(python === null ? 'no python3 on the PATH' : null), () => {
  test('compiles FastAPI and Flask patches', { timeout: COMPILE_TIMEOUT_MS }, async () => {
    const files = listSources(['fastapi', 'flask'], /\.py$/);
    expect(files.length).toBeGreaterThan(25);
    const paths = await writeFiles(join(folder, 'python'), 'py', files);
    expect(await findCompilerErrors(python ?? '', ['-m', 'py_compile', ...paths])).toBe('');
  });
});

const gofmt = findExecutable('gofmt');
describe('Go', needs(gofmt === null ? 'no gofmt on the PATH' : null), () => {
  test('parses Go patches', { timeout: COMPILE_TIMEOUT_MS }, async () => {
    const files = listSources(['go'], /\.go$/);
    expect(files.length).toBeGreaterThan(12);
    const paths = await writeFiles(join(folder, 'go'), 'go', files);
    expect(await findCompilerErrors(gofmt ?? '', ['-e', '-l', ...paths])).toBe('');
  });
});

test('a JSON document in an nginx patch is valid JSON', () => {
  const files = listSources(['nginx'], /\.json$|x402$/);
  expect(files.length).toBeGreaterThan(2);
  for (const { code } of files) expect(() => JSON.parse(code)).not.toThrow();
});

test('a hostile value adds no line to a patch', () => {
  for (const path of HOSTILE_PATHS) {
    for (const stack of STACKS) {
      const values = readPatchValues(report({ path }));
      const withoutPath = readPatchValues(report({ path: '/?' }));
      const countLines = (patchValues: PatchValues) =>
        JSON.stringify(writePatches('P2', stack, patchValues)).split('\\n').length;
      expect([path, stack, countLines(values)]).toEqual([path, stack, countLines(withoutPath)]);
    }
  }
});
