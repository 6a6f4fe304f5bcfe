/** Stock sellers of official middlewares are patched as `explain` prints it, restarted, scanned and paid. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ScanReport } from '../../src/model/report.ts';
import type { PatchPart, Stack } from '../../src/patches/patch.ts';
import { type PatchReport, readPatchValues } from '../../src/patches/patch-values.ts';
import { patchesFor } from '../../src/patches/patches-for.ts';
import { runPayTest } from '../../src/pay-test/run-pay-test.ts';
import { SellerProcess } from '../../src/pay-test/seller-process.ts';
import { resolveTarget } from '../../src/pay-test/target.ts';
import { ensurePythonEnv } from '../fixtures/clients/python/python-env.ts';
import { ensureJudge } from '../fixtures/judges/judge-tools.ts';
import { startFacilitatorServer } from '../fixtures/sellers/facilitator-server.ts';
import type { Seller } from '../fixtures/sellers/seller.ts';
import { freePort } from '../fixtures/service/free-port.ts';
import { type EngineUnderTest, startEngine } from '../scan/engine-under-test.ts';

const NONE_FOUND = [{ id: 'P2', outcome: 'none-found' }];
const TIMEOUT_MS = 240_000;
const SOLD = { network: 'eip155:8453', payTo: '0x209693Bc6afc0C5328bA36FaF03C514EF312287C' };
const STACKS_UNDER_TEST = ['express', 'hono', 'fastapi', 'flask'] as const;
type TestedStack = (typeof STACKS_UNDER_TEST)[number];

/** What the seller fills in where the scan could not know a value. */
const FILLED: readonly (readonly [placeholder: string, value: string])[] = [
  ['<price>', '0.01'],
  ['<network:id>', SOLD.network],
  ['<payTo>', SOLD.payTo],
  ['<free route>', 'health'],
  ['<name of the service>', 'Weather'],
  ['<email>', 'ops@example.com'],
];
const fillIn = (code: string) =>
  FILLED.reduce((text, [placeholder, value]) => text.replaceAll(placeholder, value), code);

const GUARD_CALL = /^(?:\/\/ Put this before.*\n)?app\.use\(paymentMiddleware/m;
const APP_LINE = /^(?:export const )?app = .*\n/gm;
const IMPORT_LINE = /^(?:import|from) .*\n/gm;

/** Puts the code where its comment says: before the payment middleware, or at the end (Python). */
function addTo(program: string, { code }: PatchPart): string {
  const added = code
    .replace(APP_LINE, '')
    .replace(IMPORT_LINE, (line) => (program.includes(line) ? '' : line));
  if (!GUARD_CALL.test(program)) return `${program}\n${added}`;
  return program.replace(GUARD_CALL, (call) => `${added}\n${call}`);
}

function listParts(id: string, stack: Stack, report: PatchReport, url: string) {
  const outcome = report.results.find((result) => result.id === id)?.outcome ?? null;
  const patches = patchesFor(id, stack, readPatchValues(report, url), outcome)?.patches ?? [];
  const parts = patches.flatMap(({ patch }) => ('whyNot' in patch ? [] : patch.parts));
  return parts.map((part) => ({ ...part, code: fillIn(part.code) }));
}

/** The documented minimal app: one route, guarded by GET. */
function writeStockGuard(stack: Stack, url: string): string {
  const report = { origin: url, results: [], named: { method: 'GET', path: '/weather' } };
  const [guard] = listParts('P4', stack, report, url);
  return (guard?.code ?? '').replace(/^.*HEAD \/weather.*\n/m, '');
}

const packages = await ensureJudge({
  '@x402/core': '2.25.0',
  '@x402/evm': '2.25.0',
  '@x402/express': '2.25.0',
  '@x402/hono': '2.25.0',
  hono: '4.13.19',
  express: '5.3.0',
});
const python = await ensurePythonEnv();

let engine: EngineUnderTest;
let facilitator: Seller;
const folders: string[] = [];
beforeAll(async () => {
  [engine, facilitator] = await Promise.all([startEngine(), startFacilitatorServer()]);
});
afterAll(async () => {
  await Promise.all([engine[Symbol.asyncDispose](), facilitator[Symbol.asyncDispose]()]);
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

const findScript = (name: string) => fileURLToPath(new URL(`programs/${name}`, import.meta.url));

/** Writes the program, and returns the shell command that serves it. */
async function writeProgram(stack: TestedStack, port: number, code: string): Promise<string> {
  const isPython = stack === 'fastapi' || stack === 'flask';
  const parent = isPython || 'unavailable' in packages ? tmpdir() : packages.folder;
  const folder = await mkdtemp(join(parent, 'program-'));
  folders.push(folder);
  const file = join(folder, isPython ? 'program.py' : 'program.mjs');
  await writeFile(file, isPython ? code : stripTypeScriptTypes(code));
  const script = findScript(isPython ? 'serve_program.py' : 'serve-program.mjs');
  const command = isPython && 'python' in python ? python.python : process.execPath;
  return `PORT=${port} exec "${command}" "${script}" ${stack} "${file}"`;
}

async function scanProgram(command: string, url: string): Promise<ScanReport> {
  const seller = new SellerProcess({
    command,
    variables: ['FACILITATOR_URL'],
    facilitatorUrl: facilitator.url,
    withheldVariables: [],
  });
  try {
    await seller.start(await resolveTarget(url), 60_000);
    return (await engine.scan(url)).report;
  } finally {
    await seller.close();
  }
}

/** An official client buys GET /weather. */
async function buy(command: string, url: string) {
  const { trials } = await runPayTest({
    target: url,
    start: command,
    routes: [{ method: 'GET', path: '/weather', body: null }],
    failingRoute: null,
    facilitatorHost: '127.0.0.1',
    facilitatorPort: 0,
    variables: ['FACILITATOR_URL'],
    networks: [],
    only: ['T1'],
    findRoutes: async () => [],
    say: () => undefined,
  });
  return trials.map(({ id, status, evidence }) => (status === 'pass' ? `${id} pass` : evidence));
}

const RANKS = { pass: 2, warn: 1, fail: 0 } as const;
function listWorse(before: ScanReport, after: ScanReport): readonly string[] {
  return after.results
    .filter(({ id, status, basis }) => {
      const old = before.results.find((result) => result.id === id);
      return basis === 'measured' && old?.basis === 'measured' && RANKS[status] < RANKS[old.status];
    })
    .map(({ id, outcome, evidence }) => `${id} ${outcome}: ${evidence}`);
}
const cellOf = ({ results }: ScanReport, id: string) => {
  const result = results.find((one) => one.id === id);
  return `${result?.status} ${result?.outcome}`;
};
const nameSold = ({ routes }: ScanReport) =>
  routes?.paid.map(({ method, template }) => `${method} ${template}`);

const missing = (stack: TestedStack): string | null => {
  const tools = stack === 'fastapi' || stack === 'flask' ? python : packages;
  return 'unavailable' in tools ? tools.unavailable : null;
};

describe.each(STACKS_UNDER_TEST)('%s', (stack) => {
  test.skipIf(missing(stack) !== null)(
    `is found, guards HEAD and sells after the patches of P2 and P5 ${missing(stack) ?? ''}`,
    { timeout: TIMEOUT_MS },
    async () => {
      const port = await freePort();
      const url = `http://127.0.0.1:${port}`;
      const stock = writeStockGuard(stack, url);
      const stockReport = await scanProgram(await writeProgram(stack, port, stock), url);

      const named = { ...stockReport, named: { method: 'GET', path: '/weather' } };
      const documents = listParts('P2', stack, { ...named, results: NONE_FOUND }, url);
      const declared = documents.reduce(addTo, stock);
      const command = await writeProgram(stack, port, declared);
      const report = await scanProgram(command, url);
      expect(cellOf(report, 'P2')).toBe('pass challenged');
      for (const id of ['S1', 'S2', 'S3', 'S4', 'S6', 'P6']) {
        expect([id, cellOf(report, id)]).toEqual([id, expect.stringMatching(/^pass /)]);
      }
      expect(listWorse(stockReport, report)).toEqual([]);
      expect(nameSold(report)).toEqual(['GET /weather']);
      expect(report.routes?.free).toEqual([{ method: 'GET', template: '/health' }]);
      expect(await buy(command, url)).toEqual(['T1 pass']);

      const [guard] = listParts('P5', stack, report, url);
      const guarded = documents.reduce(addTo, guard?.code ?? '');
      const guardedCommand = await writeProgram(stack, port, guarded);
      const guardedReport = await scanProgram(guardedCommand, url);
      expect(cellOf(guardedReport, 'P5')).toBe('pass no-settle');
      expect(listWorse(report, guardedReport)).toEqual([]);
      expect(nameSold(guardedReport)).toEqual(nameSold(report));
      expect(guardedReport.routes?.free).toEqual(report.routes?.free);
      expect(await buy(guardedCommand, url)).toEqual(['T1 pass']);
    },
  );
});
