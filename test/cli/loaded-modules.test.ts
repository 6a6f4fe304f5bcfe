/** What a command does not use is not loaded: people and build machines wait for each module. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const RECORDING = 'test/fixtures/origins/recorded/newcomer.json';
const WATCH = new URL('../fixtures/loaded-modules.mjs', import.meta.url).href;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'loaded-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** Of the main thread: packages by name, our own modules by path. */
async function loadedBy(...args: readonly string[]) {
  const file = join(folder, 'loaded.json');
  await run(process.execPath, ['--import', WATCH, 'src/cli/main.ts', ...args], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'], LOADED_TO: file },
  });
  const urls: readonly string[] = JSON.parse(await readFile(file, 'utf8'));
  const paths = urls.filter((url) => url.startsWith('file:')).map((url) => fileURLToPath(url));
  const [packaged, own] = [true, false].map((is) =>
    paths.filter((path) => path.includes('node_modules') === is),
  );
  const packages = new Set(
    packaged?.map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1]),
  );
  return { packages: [...packages].sort(), own: own?.map((path) => path.slice(ROOT.length)) ?? [] };
}

test('--help loads its own text alone', async () => {
  const { packages, own } = await loadedBy('--help');
  expect(packages).toEqual([]);
  expect(own.length).toBeLessThanOrEqual(5);
});

test('a replay loads what judges, and nothing that asks', async () => {
  const { packages, own } = await loadedBy('scan', '--offline', '--from', RECORDING);
  const chain = packages.filter((name) => name === 'viem' || name?.startsWith('@x402/'));
  const service = packages.filter((name) => name === 'mongodb' || name === 'fastify');
  const client = packages.filter((name) => name === 'undici' || name === 'typebox');
  expect([chain, service, client]).toEqual([[], [], []]);
  expect(own).not.toContain('src/probe/client/client.ts');
  expect(own.filter((path) => path.startsWith('src/parse/kit/'))).toEqual([]);
});

test('explain loads the one check that it tells of, and no package', async () => {
  const { packages, own } = await loadedBy('explain', 'P6');
  expect(packages).toEqual([]);
  expect(own.filter((path) => path.startsWith('checks/'))).toEqual([
    'checks/P6-price-integrity/v1.ts',
  ]);
  expect(own.filter((path) => path.startsWith('src/engine/pool/'))).toEqual([]);
});
