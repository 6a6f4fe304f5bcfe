/** Runs programs of sellers, as they are written and as the patches of `explain` change them. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import type { TrialId } from '../../../../src/cli/pay-test/result.ts';
import { runPayTest } from '../../../../src/cli/pay-test/run-pay-test.ts';
import { resolveTarget } from '../../../../src/cli/pay-test/seller-client.ts';
import { SellerProcess } from '../../../../src/cli/pay-test/seller-process.ts';
import type { ScanReport } from '../../../../src/scanner/model/report.ts';
import type { PatchPart, Stack } from '../../../../src/scanner/patches/patch.ts';
import { type PatchReport, readPatchValues } from '../../../../src/scanner/patches/patch-values.ts';
import { writePatches } from '../../../../src/scanner/patches/write-patches.ts';
import { startFacilitatorServer } from '../../../fixtures/sellers/facilitator-server.ts';
import type { Seller } from '../../../fixtures/sellers/seller.ts';
import { freePort } from '../../../fixtures/service/free-port.ts';
import { type EngineUnderTest, startEngine } from '../../scan/engine-under-test.ts';

/** The code of a program, by path. */
export type Files = Readonly<Record<string, string>>;
export type Request = { readonly method: string; readonly path: string };
/** Folder and port of a program. */
export type Place = { readonly folder: string; readonly port: number };

/** Commands and files that run the programs of a stack. */
export type Runner = {
  readonly stack: Stack;
  /** The folder in which folders of programs are made. */
  readonly parent?: string;
  /** 127.0.0.1 if absent. */
  readonly host?: string;
  /** The name of a file on the disk; its own if absent. Code under the name of a ".ts" file loses its types. */
  readonly toFileName?: (path: string) => string;
  /** Returns the shell command that serves the program. */
  readonly toCommand: (place: Place) => string | Promise<string>;
  /** Paths that answer slowly the first time. */
  readonly warmUp?: readonly string[];
};

export const WEATHER = { method: 'GET', path: '/weather' };
export const SUMMARIES = { method: 'POST', path: '/summaries' };
const SOLD = { network: 'eip155:8453', payTo: '0x209693Bc6afc0C5328bA36FaF03C514EF312287C' };

/** Vitest sets it to "/". */
const WITHHELD = ['BASE_URL'];

/** Values that the seller fills in, because the scan could not know them. */
const FILLED: readonly (readonly [placeholder: string, value: string])[] = [
  ['<price>', '0.01'],
  ['<network:id>', SOLD.network],
  ['<payTo>', SOLD.payTo],
  ['<free route>', 'health'],
  ['<name of the service>', 'Weather'],
  ['&lt;name of the service&gt;', 'Weather'],
  ['<email>', 'ops@example.com'],
  ['<parameter>', 'city'],
  ['<example>', 'Bern'],
  ['<member>', 'sky'],
  ['<what is sold>', 'clear'],
];
const fillIn = (code: string) =>
  FILLED.reduce((text, [placeholder, value]) => text.replaceAll(placeholder, value), code);

const toParts = (patch: { readonly parts: readonly PatchPart[] } | object): readonly PatchPart[] =>
  'parts' in patch ? patch.parts.map((part) => ({ ...part, code: fillIn(part.code) })) : [];

/** The code that `explain` prints for an outcome, or for each topic of the check. */
export function listParts(id: string, stack: Stack, report: PatchReport, outcome?: string) {
  const values = readPatchValues(report);
  const patches = writePatches(id, stack, values, outcome ?? null)?.patches ?? [];
  return patches.flatMap(({ patch }) => toParts(patch));
}

/** A report in which only the path stands that the seller named. */
export const nameRequest = (url: string, named: Request): PatchReport => {
  return { origin: url, results: [], named };
};

/** Replaces a text that must be there. */
export function replace(text: string | undefined, from: string | RegExp, to: string): string {
  const replaced = (text ?? '').replace(from, () => to);
  if (replaced === text) throw new Error(`${from} is not in the program:\n${text}`);
  return replaced;
}

export const editFile = (files: Files, file: string, from: string | RegExp, to: string): Files => {
  return { ...files, [file]: replace(files[file], from, to) };
};

/** Starts what all programs need. */
export class Bench implements AsyncDisposable {
  readonly #engine: EngineUnderTest;
  readonly #facilitator: Seller;
  readonly #folders: string[] = [];

  private constructor(engine: EngineUnderTest, facilitator: Seller) {
    this.#engine = engine;
    this.#facilitator = facilitator;
  }

  static async open(): Promise<Bench> {
    return new Bench(...(await Promise.all([startEngine(), startFacilitatorServer()])));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#engine, this.#facilitator].map((part) => part[Symbol.asyncDispose]()));
    for (const folder of this.#folders) await rm(folder, { recursive: true, force: true });
  }

  /** Writes the program, and returns the shell command that serves it. */
  async #write({ parent, toFileName, toCommand }: Runner, files: Files, port: number) {
    const folder = await mkdtemp(join(parent ?? tmpdir(), 'program-'));
    this.#folders.push(folder);
    for (const [path, code] of Object.entries(files)) {
      const file = join(folder, toFileName?.(path) ?? path);
      await mkdir(dirname(file), { recursive: true });
      const isStripped = path.endsWith('.ts') && !file.endsWith('.ts');
      await writeFile(file, isStripped ? stripTypeScriptTypes(code) : code);
    }
    return toCommand({ folder, port });
  }

  /** Calls `use` while the program listens. */
  async #serve<T>(runner: Runner, files: Files, url: string, use: () => Promise<T>): Promise<T> {
    const seller = new SellerProcess({
      command: await this.#write(runner, files, Number(new URL(url).port)),
      variables: ['FACILITATOR_URL'],
      facilitatorUrl: this.#facilitator.url,
      withheldVariables: WITHHELD,
    });
    try {
      await seller.start(await resolveTarget(url), 60_000);
      for (const path of runner.warmUp ?? []) await (await fetch(url + path)).arrayBuffer();
      return await use();
    } finally {
      await seller.close();
    }
  }

  async scan(runner: Runner, files: Files, url: string): Promise<ScanReport> {
    return this.#serve(runner, files, url, async () => (await this.#engine.scan(url)).report);
  }

  async read(runner: Runner, files: Files, url: string): Promise<unknown> {
    return this.#serve(runner, files, new URL(url).origin, async () => (await fetch(url)).json());
  }

  /** An official client buys: "T1 pass", or the evidence of what failed. */
  async pay(
    runner: Runner,
    files: Files,
    url: string,
    { request = WEATHER, only = ['T1'] }: { request?: Request; only?: readonly TrialId[] } = {},
  ): Promise<readonly string[]> {
    const { trials } = await runPayTest({
      target: url,
      start: await this.#write(runner, files, Number(new URL(url).port)),
      routes: [{ ...request, body: request.method === 'POST' ? '{"city":"Bern"}' : null }],
      failingRoute: null,
      facilitatorHost: '127.0.0.1',
      facilitatorPort: 0,
      variables: ['FACILITATOR_URL'],
      withheldVariables: WITHHELD,
      networks: [],
      only,
      findRoutes: async () => [],
      say: () => undefined,
    });
    return trials.map(
      ({ id, status, evidence }) => `${id} ${status === 'pass' ? status : evidence}`,
    );
  }
}

export const findUrl = async ({ host = '127.0.0.1' }: Runner) =>
  `http://${host}:${await freePort()}`;
export const findScript = (name: string) => fileURLToPath(new URL(name, import.meta.url));

export const cellOf = ({ results }: ScanReport, id: string) => {
  const result = results.find((one) => one.id === id);
  return `${result?.status} ${result?.outcome}`;
};
const nameSold = ({ routes }: ScanReport) =>
  routes?.paid.map(({ method, template }) => `${method} ${template}`);

const RANKS = { pass: 2, warn: 1, fail: 0 } as const;
function listWorse(before: ScanReport, after: ScanReport): readonly string[] {
  return after.results
    .filter(({ id, status, basis }) => {
      const old = before.results.find((result) => result.id === id);
      const isJudged = old?.basis === 'measured' && old.outcome !== 'rate-limited';
      return basis === 'measured' && isJudged && RANKS[status] < RANKS[old.status];
    })
    .map(({ id, outcome, evidence }) => `${id} ${outcome}: ${evidence}`);
}

/** Nothing became worse, and no operation changed between paid and free. */
export function expectSameElsewhere(before: ScanReport, after: ScanReport): void {
  expect(listWorse(before, after)).toEqual([]);
  expect(nameSold(after)).toEqual(nameSold(before));
  expect(after.routes?.free).toEqual(before.routes?.free);
}
export const listSold = nameSold;

export type Fault = {
  /** The check that finds it, and the outcome of that check. */
  readonly finds: readonly [id: string, outcome: string];
  readonly damage: (sound: Files, url: string) => Files;
  /** Changes the program as the comments of the parts say. */
  readonly mend: (faulty: Files, parts: readonly PatchPart[], url: string) => Files;
  /** The sold operation; GET /weather by default. */
  readonly request?: Request;
};

/** A fault of S6: the manifest names its entry by a path only. */
export const misnameEntry =
  (file: string): Fault['damage'] =>
  (sound) => {
    const entry = '"resources": [{ "path": "/weather", "method": "GET" }]';
    return editFile(sound, file, /"resources": \[.*\]/, entry);
  };

/** The program passes P2 and these checks, and sells one route. */
export async function expectFound(
  bench: Bench,
  runner: Runner,
  write: (url: string) => Files,
  ids: readonly string[],
): Promise<void> {
  const url = await findUrl(runner);
  const report = await bench.scan(runner, write(url), url);
  for (const id of ['P2', ...ids]) {
    expect([id, cellOf(report, id)]).toEqual([id, expect.stringMatching(/^pass /)]);
  }
  expect(nameSold(report)).toEqual(['GET /weather']);
}

/** The faults are found, their patches mend them and nothing else, and the seller still sells. */
export async function tryFaults(
  bench: Bench,
  runner: Runner,
  sound: (url: string) => Files,
  faults: readonly Fault[],
) {
  const url = await findUrl(runner);
  const faulty = faults.reduce((files, { damage }) => damage(files, url), sound(url));
  const before = await bench.scan(runner, faulty, url);
  const list = (report: ScanReport) => faults.map(({ finds: [id] }) => [id, cellOf(report, id)]);
  const found = faults.map(({ finds: [id, outcome] }) => {
    return [id, expect.stringMatching(`^(?:fail|warn) ${outcome}$`)];
  });
  expect(list(before)).toEqual(found);
  const mended = faults.reduce((files, { finds: [id, outcome], mend }) => {
    return mend(files, listParts(id, runner.stack, before, outcome), url);
  }, faulty);
  const after = await bench.scan(runner, mended, url);
  expect(list(after)).toEqual(
    faults.map(({ finds: [id] }) => [id, expect.stringMatching(/^pass /)]),
  );
  expectSameElsewhere(before, after);
  const request = faults.find((fault) => fault.request !== undefined)?.request ?? WEATHER;
  const only = ['T1', 'T13'] as const;
  const paid = await bench.pay(runner, mended, url, { request, only });
  expect(paid).toEqual(['T1 pass', 'T13 pass']);
}
