/** Each report from the field is judged, and explained, as its `why` says. A case is a file of cases/ (README.md). */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/scanner/model/json.ts';
import { runCli } from '../cli/run-cli.ts';
import {
  type EngineUnderTest,
  NEWER_VERSION,
  startEngine,
} from '../scanner/scan/engine-under-test.ts';
import { type Expectation, type FieldCase, readFieldCases } from './field-case.ts';
import { type FieldSeller, fillIn, startFieldSeller } from './field-seller.ts';

/** The report, exit and output of a run; a scan in this process has no exit and no output. */
type Run = {
  readonly report?: JsonValue;
  readonly exit?: number;
  readonly stdout?: string;
  readonly stderr?: string;
};

let engine: EngineUnderTest;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine[Symbol.asyncDispose]());

const cases = await readFieldCases();

describe('reports from the field', () => {
  test.each(cases)('$id says where it comes from, and what a user should be told', (fieldCase) => {
    const { source, reported, why, expect: expectations } = fieldCase;
    expect([source, reported, why].map((text) => text.trim() === '')).toEqual([
      false,
      false,
      false,
    ]);
    expect(expectations).not.toEqual([]);
  });

  test.each(cases)('$id', async (fieldCase) => {
    await using seller = await startFieldSeller(fieldCase.seller);
    const run = await runCase(fieldCase, seller);
    const unmet = fieldCase.expect.filter(
      (expectation) => !isMet(expectation, pick(run, seller, expectation.at), seller.url),
    );
    const found = unmet.map(({ at }) => [at, pick(run, seller, at)]);
    expect({ unmet, found }, fieldCase.why).toEqual({ unmet: [], found: [] });
  });
});

async function runCase(fieldCase: FieldCase, seller: FieldSeller): Promise<Run> {
  const { recording, run } = fieldCase;
  if (recording !== null) {
    return { report: toJson((await engine.replay(recording, NEWER_VERSION)).report) };
  }
  if (run !== null) return runCommand(fieldCase, run, seller);
  return { report: toJson((await engine.scan(seller.url)).report), exit: 0 };
}

/** Runs the command line beside the case's files, in a process of its own. */
async function runCommand(
  { files }: FieldCase,
  args: readonly string[],
  seller: FieldSeller,
): Promise<Run> {
  const folder = await mkdtemp(join(tmpdir(), 'field-'));
  try {
    for (const [name, value] of Object.entries(files)) {
      const content = fillIn(value, seller.url);
      const text = typeof content === 'string' ? content : JSON.stringify(content, null, 2);
      await writeFile(join(folder, name), text);
    }
    const named = args.map((arg) => (arg in files ? join(folder, arg) : fillIn(arg, seller.url)));
    const { code, stdout, stderr } = await runCli(named);
    const isJson = stdout.startsWith('{');
    return { exit: code, stdout, stderr, ...(isJson ? { report: JSON.parse(stdout) } : {}) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function pick(run: Run, { seen }: FieldSeller, at: string): JsonValue | undefined {
  if (at === 'seen') return seen.join('\n');
  if (at === 'exit' || at === 'stdout' || at === 'stderr') return run[at];
  return at.split('.').reduce<JsonValue | undefined>((value, part, index) => {
    const isCheck = index === 0 && /^[PSD]\d+$/.test(part);
    return isCheck ? findResult(member(value, 'results'), part) : member(value, part);
  }, run.report);
}

function findResult(results: JsonValue | undefined, id: string): JsonValue | undefined {
  return Array.isArray(results) ? results.find((result) => member(result, 'id') === id) : undefined;
}

function member(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return isObject(value) ? value[name] : undefined;
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isMet(expectation: Expectation, found: JsonValue | undefined, origin: string): boolean {
  const { is, in: several, matches, not } = expectation;
  const text = typeof found === 'string' ? found : (JSON.stringify(found) ?? 'undefined');
  const isSame = (value: JsonValue) => JSON.stringify(fillIn(value, origin)) === text;
  if (is !== undefined) return typeof is === 'string' ? fillIn(is, origin) === found : isSame(is);
  if (several !== undefined) return several.some((one) => one === found || isSame(one));
  if (matches !== undefined) return new RegExp(matches, 'is').test(text);
  if (not !== undefined) return !new RegExp(not, 'is').test(text);
  throw new Error(`${expectation.at}: an expectation has is, in, matches or not`);
}

function toJson(value: unknown): JsonValue {
  const json: JsonValue = JSON.parse(JSON.stringify(value));
  return json;
}
