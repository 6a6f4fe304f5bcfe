/** Programs of stacks that keep the app in one file: Express, Hono, FastAPI and Flask. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PatchPart } from '../../../../src/scanner/patches/patch.ts';
import { ensurePythonEnv } from '../../../fixtures/clients/python/python-env.ts';
import { ensureJudge } from '../../../fixtures/judges/judge-tools.ts';
import { needs } from '../../../fixtures/needs.ts';
import {
  Bench,
  cellOf,
  expectSameElsewhere,
  type Fault,
  type Files,
  findScript,
  findUrl,
  listParts,
  listSold,
  nameRequest,
  type Request,
  type Runner,
  tryFaults,
  WEATHER,
} from './program.ts';

export const MAINS = {
  express: 'server.ts',
  hono: 'server.ts',
  fastapi: 'main.py',
  flask: 'app.py',
} as const;
export type OneFileStack = keyof typeof MAINS;
const NONE_FOUND = 'none-found';

/** Returns the runner, or says what this machine lacks. */
export async function findRunner(stack: OneFileStack): Promise<Runner | { unavailable: string }> {
  const main = MAINS[stack];
  if (stack === 'fastapi' || stack === 'flask') {
    const env = await ensurePythonEnv();
    if ('unavailable' in env) return env;
    return {
      stack,
      toCommand: ({ folder, port }) =>
        `cd "${folder}" && PORT=${port} exec "${env.python}" "${findScript('serve_program.py')}" ${stack} ${main}`,
    };
  }
  const packages = await ensureJudge({
    '@x402/core': '2.25.0',
    '@x402/evm': '2.25.0',
    '@x402/extensions': '2.25.0',
    '@x402/express': '2.25.0',
    '@x402/hono': '2.25.0',
    hono: '4.13.19',
    express: '5.3.0',
    'express-rate-limit': '8.1.0',
    'on-headers': '1.1.0',
  });
  if ('unavailable' in packages) return packages;
  return {
    stack,
    parent: packages.folder,
    // Node strips no types under node_modules.
    toFileName: (path) => path.replace(/\.ts$/, '.mjs'),
    toCommand: ({ folder, port }) =>
      `cd "${folder}" && PORT=${port} exec "${process.execPath}" "${findScript('serve-program.mjs')}" ${stack} server.mjs`,
  };
}

const GUARD_CALL = /^(?:\/\/ Put this before.*\n)?app\.use\(paymentMiddleware/m;
const APP_LINE = /^(?:export const )?app = .*\n/gm;
const IMPORT_LINE = /^(?:import|from) .*\n/gm;
/** The body of each FastAPI handler that the patch of a document writes. */
const STUB_BODY = /^ {4}\.\.\.$/gm;

/** Puts code where its comment says: before the payment middleware, or at the end (Python). */
export function insert(program: string, code: string): string {
  const added = code
    .replace(APP_LINE, '')
    .replace(IMPORT_LINE, (line) => (program.includes(line) ? '' : line))
    .replace(STUB_BODY, '    return {"sky": "clear"}');
  if (!GUARD_CALL.test(program)) return `${program}\n${added}`;
  return program.replace(GUARD_CALL, (call) => `${added}\n${call}`);
}

export function addParts(files: Files, parts: readonly PatchPart[]): Files {
  const program: Record<string, string> = { ...files };
  for (const { file, code } of parts) {
    const earlier = program[file];
    program[file] = earlier === undefined ? code : insert(earlier, code);
  }
  return program;
}

/** The documented minimal app: one route, guarded by its own verb. */
export function writeStock(stack: OneFileStack, url: string, named: Request = WEATHER): Files {
  const [guard] = listParts('P4', stack, nameRequest(url, named));
  return { [MAINS[stack]]: (guard?.code ?? '').replace(/^.*HEAD \/weather.*\n/m, '') };
}

export const listDocuments = (stack: OneFileStack, url: string, named: Request = WEATHER) =>
  listParts('P2', stack, nameRequest(url, named), NONE_FOUND);

/** A seller without a fault that these tests make. */
export const writeSound = (stack: OneFileStack, named?: Request) => (url: string) =>
  addParts(writeStock(stack, url, named), listDocuments(stack, url, named));

/** The patches of P2 and P5, one after the other, on the minimal app. */
async function tryDocumentsAndHead(bench: Bench, runner: Runner, stack: OneFileStack) {
  const url = await findUrl(runner);
  const stock = writeStock(stack, url);
  const stockReport = await bench.scan(runner, stock, url);
  const named = { ...stockReport, named: WEATHER };
  const documents = listParts('P2', stack, named, NONE_FOUND);
  const declared = addParts(stock, documents);
  const report = await bench.scan(runner, declared, url);
  expect(cellOf(report, 'P2')).toBe('pass challenged');
  for (const id of ['S1', 'S2', 'S3', 'S4', 'S6', 'P6']) {
    expect([id, cellOf(report, id)]).toEqual([id, expect.stringMatching(/^pass /)]);
  }
  expectSameElsewhere(
    { ...stockReport, ...(report.routes === undefined ? {} : { routes: report.routes }) },
    report,
  );
  expect(listSold(report)).toEqual(['GET /weather']);
  expect(report.routes?.free).toEqual([{ method: 'GET', template: '/health' }]);

  const [guard] = listParts('P5', stack, report);
  const guarded = addParts({ [MAINS[stack]]: guard?.code ?? '' }, documents);
  const guardedReport = await bench.scan(runner, guarded, url);
  expect(cellOf(guardedReport, 'P5')).toBe('pass no-settle');
  expectSameElsewhere(report, guardedReport);
  expect(await bench.pay(runner, guarded, url)).toEqual(['T1 pass']);
}

/** Documents that the stock seller lacks. */
export const DOCUMENT_FAULTS = {
  llms: { finds: ['S7', 'absent'], damage: (sound) => sound, mend: addParts },
  agentCard: { finds: ['S8', 'absent'], damage: (sound) => sound, mend: addParts },
  root: { finds: ['S9', 'error'], damage: (sound) => sound, mend: addParts },
  icon: { finds: ['S12', 'no-icon'], damage: (sound) => sound, mend: addParts },
} satisfies Readonly<Record<string, Fault>>;

type OneFileSuite<S extends OneFileStack> = {
  readonly timeoutMs: number;
  /** Faults in one place, the guard: each has a program of its own. */
  readonly toGuardFaults: (stack: S) => Readonly<Record<string, Fault>>;
  /** Faults in places of their own: one program has them all. */
  readonly toFaults: (stack: S) => readonly Fault[];
  /** A limiter that counts every request, and that an earlier client has used up. */
  readonly limitFaults: Readonly<Record<S, Fault>>;
  /** Lets the document name the address that was called. */
  readonly addOwnServer: (stack: S, sound: Files, parts: readonly PatchPart[]) => Files;
};

/** The tests of the stacks of one language. */
export async function testStacks<S extends OneFileStack>(
  stacks: readonly S[],
  { timeoutMs, toGuardFaults, toFaults, limitFaults, addOwnServer }: OneFileSuite<S>,
): Promise<void> {
  const { llms, agentCard, root, icon } = DOCUMENT_FAULTS;
  const options = { timeout: timeoutMs };
  let bench: Bench;
  beforeAll(async () => {
    bench = await Bench.open();
  });
  afterAll(() => bench[Symbol.asyncDispose]());

  for (const stack of stacks) {
    const runner = await findRunner(stack);
    describe(stack, needs('unavailable' in runner ? runner.unavailable : null), () => {
      if ('unavailable' in runner) return;

      test('is found, guards HEAD and sells after the patches of P2 and P5', options, () =>
        tryDocumentsAndHead(bench, runner, stack),
      );

      test.each(Object.entries(toGuardFaults(stack)))(
        'the patch mends %s, and nothing else',
        options,
        (name, fault) => {
          const faults = name === 'two prices' ? [fault, llms] : [fault];
          return tryFaults(bench, runner, writeSound(stack, fault.request), faults);
        },
      );

      test(
        'the patches of P4, P7, S6, S8, S9, S11 and S12 mend one program, and nothing else',
        options,
        () =>
          tryFaults(bench, runner, writeSound(stack), [...toFaults(stack), agentCard, root, icon]),
      );

      test('the patch mends a limiter that counts unpaid requests, and nothing else', options, () =>
        tryFaults(bench, { ...runner, warmUp: ['/weather'] }, writeSound(stack), [
          limitFaults[stack],
        ]),
      );

      test('the patch of a local server names the address that was called', options, async () => {
        const url = await findUrl(runner);
        const parts = listParts('S1', stack, nameRequest(url, WEATHER), 'local-server');
        const mended = addOwnServer(stack, writeSound(stack)(url), parts);
        const document = await bench.read(runner, mended, `${url}/openapi.json`);
        // FastAPI leaves the member out: the document is then about the address that was called.
        if (stack === 'fastapi') expect(document).not.toHaveProperty('servers');
        else expect(document).toHaveProperty('servers', [{ url }]);
      });
    });
  }
}
