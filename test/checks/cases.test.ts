/** Every case of every check, through the real kit: what checks say is a table, and this is its test. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { CheckCase, CheckDefinition } from '../../src/engine/define-check.ts';
import { MAX_EVIDENCE_CHARS, readVerdict } from '../../src/engine/read-verdict.ts';
import { ENGINE_OUTCOMES, type Verdict } from '../../src/model/verdict.ts';
import { createKit } from '../../src/parse/kit/create-kit.ts';
import { perfectSeller } from '../fixtures/observations/build-observations.ts';

const CHECKS = resolve(dirname(fileURLToPath(import.meta.url)), '../../checks');
const HEADINGS = ['Why', 'Rule', 'Fix', 'Source', 'History'];
/** A path, a number, a quoted value: evidence that holds none of them names no fact. */
const FACT = /[/\d"]/;

type Folder = {
  readonly name: string;
  readonly checks: readonly CheckDefinition[];
  readonly cases: readonly CheckCase[];
  readonly readme: string;
  /** Why the folder could not be read; empty where it could. */
  readonly fault: string;
};

const folders = await Promise.all(
  checkFolders().map((name) =>
    load(name).catch(
      (error: unknown): Folder => ({
        name,
        checks: [],
        cases: [],
        readme: '',
        fault: String(error),
      }),
    ),
  ),
);

it('finds checks to test', () => {
  expect(folders.length).toBeGreaterThan(0);
});

describe.each(folders)('$name', ({ name, checks, cases, readme, fault }) => {
  const id = name.slice(0, name.indexOf('-'));

  it('is a whole check: versions, cases, README', () => {
    expect(fault).toBe('');
    expect(checks.length).toBeGreaterThan(0);
  });

  it.each(checks)(
    'v$version carries the id of its folder and closed, distinct outcomes',
    (check) => {
      expect(check.id).toBe(id);
      expect(new Set(check.outcomes).size).toBe(check.outcomes.length);
      expect(check.outcomes.filter((outcome) => isEngineOutcome(outcome))).toEqual([]);
    },
  );

  it('has no two cases of one name or of one content', () => {
    expect(duplicates(cases.map((one) => one.name))).toEqual([]);
    const contents = cases.map((one) => JSON.stringify([one.versions ?? 'all', one.seen]));
    expect(duplicates(contents)).toEqual([]);
  });

  for (const check of checks) {
    const mine = cases.filter((one) => one.versions?.includes(check.version) ?? true);

    it.each(mine)(`v${check.version}: $name`, (one) => {
      const seen = observed(check, one);
      const before = JSON.stringify(seen);
      const raw = check.evaluate(freeze(seen), createKit());
      expect(JSON.stringify(seen)).toBe(before);
      expect(raw.evidence.length).toBeLessThanOrEqual(MAX_EVIDENCE_CHARS);
      const verdict = readVerdict(raw, check.outcomes);

      const { status, outcome, basis = 'measured', evidence = [] } = one.expect;
      expect(pick(verdict), verdict.evidence).toEqual({ status, outcome, basis });
      for (const part of evidence) expect(verdict.evidence).toContain(part);
      expectWellWritten(verdict);
    });

    it(`v${check.version}: a case reaches each outcome`, () => {
      const reached = new Set(mine.map((one) => one.expect.outcome));
      expect(check.outcomes.filter((outcome) => !reached.has(outcome))).toEqual([]);
    });

    it(`v${check.version}: the README has its outcomes in their order`, () => {
      const rule = ruleOf(readme, check.version);
      const places = check.outcomes.map((outcome) => rule.indexOf(`\`${outcome}\``));
      const missing = check.outcomes.filter((_, index) => places[index] === -1);
      expect(missing).toEqual([]);
      expect(places).toEqual(places.toSorted((a, b) => a - b));
    });
  }

  it('has a README of the usual sections', () => {
    const headings = [...readme.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
    expect(headings).toEqual(HEADINGS);
    for (const heading of HEADINGS) expect(section(readme, heading).trim()).not.toBe('');
  });
});

function checkFolders(): readonly string[] {
  return readdirSync(CHECKS, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && /^[PSD]\d+-/.test(entry.name))
    .map((entry) => entry.name)
    .sort();
}

async function load(name: string): Promise<Folder> {
  const folder = join(CHECKS, name);
  const versions = readdirSync(folder).filter((file) => /^v\d+\.ts$/.test(file));
  const { default: cases } = (await importFile(join(folder, 'cases.ts'))) as {
    default: readonly CheckCase[];
  };
  const checks = await Promise.all(
    versions.map(async (file) => {
      const { default: check } = (await importFile(join(folder, file))) as {
        default: CheckDefinition;
      };
      expect(`v${check.version}.ts`).toBe(file);
      return check;
    }),
  );
  const readme = readFileSync(join(folder, 'README.md'), 'utf8');
  return { name, checks, cases, readme, fault: '' };
}

/** Modules are found by their place; the casts above are what `defineCheck` and the type of cases say. */
function importFile(path: string): Promise<unknown> {
  return import(/* @vite-ignore */ pathToFileURL(path).href);
}

/** Only what the check declares to need reaches it, as in a scan. */
function observed(check: CheckDefinition, one: CheckCase): Parameters<typeof check.evaluate>[0] {
  const all = { ...perfectSeller(), ...one.seen };
  const needed = check.needs.map((name) => [name, all[name]]);
  // fromEntries forgets which members it was given; `needs` lists them.
  return JSON.parse(JSON.stringify(Object.fromEntries(needed))) as typeof all;
}

function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  for (const inner of Object.values(value)) freeze(inner);
  return Object.freeze(value);
}

function pick({ status, outcome, basis }: Verdict) {
  return { status, outcome, basis };
}

function expectWellWritten({ evidence, fix, basis }: Verdict): void {
  expect(evidence).toMatch(FACT);
  expect(evidence).not.toMatch(/undefined|\[object|NaN/);
  expect(evidence.startsWith('Not applicable: ')).toBe(basis === 'not_applicable');
  expect(fix).toMatch(/^[A-Z][^\n\r]{10,}[.]$/);
  // The name and the recipient of the test seller: text of an origin has no place in a fix.
  expect(fix).not.toMatch(/seller\.example|0x[0-9a-f]{40}/i);
}

function isEngineOutcome(outcome: string): boolean {
  return ENGINE_OUTCOMES.some((known) => known === outcome);
}

function duplicates(values: readonly string[]): readonly string[] {
  return values.filter((value, index) => values.indexOf(value) !== index);
}

/** Versions that differ have a part of their own each, "### Version 2: …". */
function ruleOf(readme: string, version: number): string {
  const rule = section(readme, 'Rule');
  const [, own] = rule.split(`\n### Version ${version}`);
  return own?.split('\n### ')[0] ?? rule;
}

function section(readme: string, heading: string): string {
  const [, after = ''] = readme.split(`\n## ${heading}\n`);
  return after.split('\n## ')[0] ?? '';
}
