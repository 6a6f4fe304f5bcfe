/** Official middlewares run each patch. A path that a template guards never answers 200 without payment. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Stack } from '../../../src/scanner/patches/patch.ts';
import { type PatchValues, readPatchValues } from '../../../src/scanner/patches/patch-values.ts';
import { writePatches } from '../../../src/scanner/patches/write-patches.ts';
import { ensurePythonEnv } from '../../fixtures/clients/python/python-env.ts';
import { ensureJudge } from '../../fixtures/judges/judge-tools.ts';
import { needs } from '../../fixtures/needs.ts';
import { startFacilitatorServer } from '../../fixtures/sellers/facilitator-server.ts';
import type { Seller } from '../../fixtures/sellers/seller.ts';
import { paidRoute, report, TEMPLATES } from './reports.ts';

const run = promisify(execFile);
const TIMEOUT_MS = 240_000;
const findScript = (name: string) => fileURLToPath(new URL(`guards/${name}`, import.meta.url));

/** The patches that write a guard, by check and outcome. */
const GUARD_PATCHES = [
  ['P2', 'not-challenged'],
  ['P3', 'http-url'],
  ['P5', 'head-unguarded'],
  ['S5', 'missing'],
] as const;
const PATHS = [
  '/weather/paris',
  '/weather/new%20york',
  '/files/a.json',
  '/news',
  '/news/',
  '/v1/1/x/2',
];
const REQUESTS = PATHS.flatMap((path) => [
  ['GET', path],
  ['HEAD', path],
]);

const values: PatchValues = readPatchValues(
  report({
    paid: [
      ...TEMPLATES.map((path) => paidRoute(path)),
      paidRoute('/v1/{a}/x/{b-c}', { method: 'POST' }),
    ],
  }),
);

let facilitator: Seller;
let folder: string;
beforeAll(async () => {
  facilitator = await startFacilitatorServer();
  folder = await mkdtemp(join(tmpdir(), 'guards-'));
});
afterAll(async () => {
  await facilitator[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

async function writeParts(stack: Stack, folder: string, id: string, outcome: string) {
  const [guard] = writePatches(id, stack, values, outcome)?.patches ?? [];
  if (guard === undefined || 'whyNot' in guard.patch) throw new Error(`${stack} has no ${id}`);
  return Promise.all(
    guard.patch.parts.map(async ({ file, code }) => {
      // Node does not strip types from files under node_modules.
      const [name, body] = file.endsWith('.ts')
        ? [file.replace(/ts$/, 'mjs'), stripTypeScriptTypes(code)]
        : [file, code];
      const path = join(folder, `${stack}-${id}`, name);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, body);
      return path;
    }),
  );
}

async function fetchStatuses(
  command: string,
  args: readonly string[],
  cwd: string,
): Promise<unknown> {
  const env = { ...process.env, FACILITATOR_URL: facilitator.url };
  const { stdout } = await run(command, args, { cwd, env, timeout: TIMEOUT_MS });
  return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '');
}

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
  '@types/express': '5.0.6',
  '@types/node': '24.19.2',
  '@types/react': '19.2.0',
});

describe('JavaScript', needs('unavailable' in packages ? packages.unavailable : null), () => {
  const requestsJson = JSON.stringify(REQUESTS);

  test.each(
    (['express', 'hono'] as const).flatMap((stack) =>
      GUARD_PATCHES.map((guard) => [stack, ...guard] as const),
    ),
  )(
    '%s, %s: every request to a guarded path gets 402',
    { timeout: TIMEOUT_MS },
    async (stack, ...guard) => {
      if ('unavailable' in packages) return;
      const patchFolder = await mkdtemp(join(packages.folder, 'guards-'));
      try {
        const files = await writeParts(stack, patchFolder, ...guard);
        const args = [findScript('serve-javascript.mjs'), stack, requestsJson, ...files];
        const statuses = await fetchStatuses(process.execPath, args, packages.folder);
        expect(statuses).toEqual(REQUESTS.map(() => 402));
      } finally {
        await rm(patchFolder, { recursive: true, force: true });
      }
    },
  );

  test.each(GUARD_PATCHES.filter(([id]) => id !== 'P5'))(
    'next, %s: every request to the route of a file gets 402',
    { timeout: TIMEOUT_MS },
    async (...guard) => {
      if ('unavailable' in packages) return;
      const patchFolder = await mkdtemp(join(packages.folder, 'guards-'));
      try {
        const files = await writeParts('next', patchFolder, ...guard);
        // A folder name cannot match a part of a segment, so the seller must guard that file.
        const guardingFiles = files.filter((file) => !file.includes('<route>'));
        const requests = REQUESTS.filter(([, path]) => /^\/(?:weather|news$|v1)/.test(path ?? ''));
        const args = [
          findScript('serve-javascript.mjs'),
          'next',
          JSON.stringify(requests),
          ...guardingFiles,
        ];
        const statuses = await fetchStatuses(process.execPath, args, packages.folder);
        expect(statuses).toEqual(requests.map(() => 402));
      } finally {
        await rm(patchFolder, { recursive: true, force: true });
      }
    },
  );
});

const python = await ensurePythonEnv();
describe('Python', needs('unavailable' in python ? python.unavailable : null), () => {
  test.each(
    (['fastapi', 'flask'] as const).flatMap((stack) =>
      GUARD_PATCHES.map((guard) => [stack, ...guard] as const),
    ),
  )(
    '%s, %s: every request to a guarded path gets 402',
    { timeout: TIMEOUT_MS },
    async (stack, ...guard) => {
      if ('unavailable' in python) return;
      const files = await writeParts(stack, folder, ...guard);
      const args = [findScript('serve_python.py'), stack, JSON.stringify(REQUESTS), ...files];
      expect(await fetchStatuses(python.python, args, folder)).toEqual(REQUESTS.map(() => 402));
    },
  );
});
