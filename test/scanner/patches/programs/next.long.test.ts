/** A stock seller on Next is patched as `explain` prints it, restarted, scanned and paid. */
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, test } from 'vitest';
import type { PatchPart } from '../../../../src/scanner/patches/patch.ts';
import { ensureJudge } from '../../../fixtures/judges/judge-tools.ts';
import { needs } from '../../../fixtures/needs.ts';
import {
  Bench,
  editFile,
  expectFound,
  type Fault,
  type Files,
  listParts,
  misnameEntry,
  nameRequest,
  type Runner,
  replace,
  tryFaults,
  WEATHER,
} from './program.ts';

const TIMEOUT_MS = 240_000;
const ROUTE = 'app/weather/route.ts';
const MANIFEST = 'app/.well-known/x402/route.ts';
const CONFIG = 'next.config.ts';
const CACHED = 'public, max-age=60';
const OTHER_PRICE =
  "price: { amount: '10000', asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', extra: {} }";

const packages = await ensureJudge({
  '@x402/core': '2.25.0',
  '@x402/evm': '2.25.0',
  '@x402/extensions': '2.25.0',
  '@x402/next': '2.25.0',
  next: '16.4.6',
});
const modules = 'unavailable' in packages ? '' : join(packages.folder, 'node_modules');
const runner: Runner = {
  stack: 'next',
  // Without types, Next asks for no compiler.
  toFileName: (path) => path.replace(/\.ts$/, path === CONFIG ? '.mjs' : '.js'),
  // The build of a program takes a minute on a slow machine; the server of a developer compiles what is asked.
  toCommand: async ({ folder, port }) => {
    await symlink(modules, join(folder, 'node_modules'));
    const next = join(modules, 'next/dist/bin/next');
    return `cd "${folder}" && NODE_ENV=development NEXT_TELEMETRY_DISABLED=1 exec "${process.execPath}" "${next}" dev -H 127.0.0.1 -p ${port}`;
  },
  warmUp: ['/weather', '/health', '/openapi.json', '/.well-known/x402', '/llms.txt', '/'],
};

const EXPORTED_CONFIG = "export default { ...config, turbopack: { root: '/' } };\n";

/** Files of a Next project beside its routes. Its packages lie in another folder. */
const PROJECT: Files = {
  'package.json': '{ "private": true }',
  [CONFIG]: `const config = {};\n${EXPORTED_CONFIG}`,
  'app/health/route.ts': "export const GET = () => Response.json({ status: 'ok' });\n",
};

function addParts(files: Files, parts: readonly PatchPart[]): Files {
  const program: Record<string, string> = { ...files };
  for (const { file, code } of parts) {
    const isAdded = file === ROUTE && !code.includes('withX402');
    program[file] = isAdded ? `${program[file]}\n${code}` : code;
  }
  return program;
}

const writeStock = (url: string): Files =>
  addParts(PROJECT, listParts('P4', 'next', nameRequest(url, WEATHER)).slice(0, 1));
const writeSound = (url: string): Files =>
  addParts(writeStock(url), listParts('P2', 'next', nameRequest(url, WEATHER), 'none-found'));

const FAULTS: readonly Fault[] = [
  {
    finds: ['P3', 'no-domain'],
    damage: (sound) => editFile(sound, ROUTE, "price: '$0.01'", OTHER_PRICE),
    // The patch writes the whole file, in which the fault of HEAD stays.
    mend: (faulty, parts) => {
      const head = /^export const HEAD = .*\n/m.exec(faulty[ROUTE] ?? '')?.[0] ?? '';
      const mended = addParts(faulty, parts);
      return { ...mended, [ROUTE]: `${mended[ROUTE]}${head}` };
    },
  },
  {
    finds: ['P4', 'cacheable'],
    damage: (sound) => {
      const headers = `[{ source: '/weather', headers: [{ key: 'Cache-Control', value: '${CACHED}' }] }]`;
      const config = editFile(
        sound,
        CONFIG,
        'config = {}',
        `config = { headers: async () => ${headers} }`,
      );
      return editFile(
        config,
        ROUTE,
        "'clear' });",
        `'clear' }, { headers: { 'Cache-Control': '${CACHED}' } });`,
      );
    },
    mend: (faulty, [part]) => {
      const code = replace(part?.code, 'export default config;\n', EXPORTED_CONFIG);
      return { ...faulty, [CONFIG]: code };
    },
  },
  {
    finds: ['P5', 'head-served'],
    damage: (sound) =>
      editFile(
        sound,
        ROUTE,
        /$/,
        "export const HEAD = () => new Response(null, { headers: { 'Content-Length': '15' } });\n",
      ),
    mend: (faulty, parts) =>
      addParts(editFile(faulty, ROUTE, /^export const HEAD = .*\n/m, ''), parts),
  },
  ...(['S8', 'S9', 'S12'] as const).map((id): Fault => {
    const outcomes = { S8: 'absent', S9: 'error', S12: 'no-icon' };
    return { finds: [id, outcomes[id]], damage: (sound) => sound, mend: addParts };
  }),
  {
    finds: ['S6', 'odd-address'],
    damage: misnameEntry(MANIFEST),
    mend: addParts,
  },
  {
    finds: ['S11', 'some-dead'],
    damage: (sound) => {
      const text = "'# Weather\\n\\n> Weather.\\n\\n## Documents\\n\\n- [API](/api.json)\\n'";
      return {
        ...sound,
        'app/llms.txt/route.ts': `export const GET = () => new Response(${text});\n`,
      };
    },
    mend: (faulty, parts) => {
      const file = 'app/llms.txt/route.ts';
      const linked = editFile(faulty, file, '(/api.json)', "(' + link('/openapi.json') + ')");
      return addParts(editFile(linked, file, /^/, "import { link } from '../../links';\n"), parts);
    },
  },
];

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.open();
});
afterAll(() => bench[Symbol.asyncDispose]());

describe('next', needs('unavailable' in packages ? packages.unavailable : null), () => {
  test('is found after the patch of P2', { timeout: TIMEOUT_MS }, () =>
    expectFound(bench, runner, writeSound, ['S1', 'S2', 'S3', 'S4', 'S6', 'P6']),
  );

  test(
    'the patches of eight checks mend one program, and nothing else',
    { timeout: TIMEOUT_MS },
    () => tryFaults(bench, runner, writeSound, FAULTS),
  );
});
