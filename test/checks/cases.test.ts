/** Runs every case of every check with the real kit. */
import { describe, expect, it } from 'vitest';
import { discoverChecks } from '../../src/engine/catalog/discover-checks.ts';
import type { CheckCase, CheckDefinition } from '../../src/engine/define-check.ts';
import { MAX_EVIDENCE_CHARS, readVerdict } from '../../src/engine/on-thread.ts';
import type { Verdict } from '../../src/model/verdict.ts';
import { deepFreeze } from '../../src/parse/json/json.ts';
import { createKit } from '../../src/parse/kit/kit.ts';
import { perfectSeller } from '../fixtures/observations/build-observations.ts';

/** Evidence names a fact only if it has a path, a number or a quoted value. */
const FACT = /[/\d"]/;

type Folder = {
  /** File URL, ending in a slash. */
  readonly folder: string;
  readonly name: string;
  readonly checks: readonly CheckDefinition[];
  readonly cases: readonly CheckCase[];
};

// Lint holds the structure of a folder: its files, the README, each outcome in both.
const discovered = await discoverChecks();
const folders = await Promise.all(
  [...Map.groupBy(discovered, ({ folder }) => folder)].map(
    async ([folder, versions]): Promise<Folder> => ({
      folder,
      name: `${versions[0]?.id} ${versions[0]?.title}`,
      checks: await Promise.all(versions.map(({ url }) => importDefault<CheckDefinition>(url))),
      cases: await importDefault<readonly CheckCase[]>(new URL('cases.ts', folder).href),
    }),
  ),
);

it('finds checks to test', () => {
  expect(folders.length).toBeGreaterThan(0);
});

describe.each(folders)('$name', ({ checks, cases }) => {
  it('has no two cases with one name or one content', () => {
    expect(duplicates(cases.map((one) => one.name))).toEqual([]);
    const contents = cases.map((one) => JSON.stringify([one.versions ?? 'all', one.seen]));
    expect(duplicates(contents)).toEqual([]);
  });

  for (const check of checks) {
    const mine = cases.filter((one) => one.versions?.includes(check.version) ?? true);

    it.each(mine)(`v${check.version}: $name`, (one) => {
      const seen = observed(check, one);
      const before = JSON.stringify(seen);
      const raw = check.evaluate(deepFreeze(seen), createKit());
      expect(JSON.stringify(seen)).toBe(before);
      expect(raw.evidence.length).toBeLessThanOrEqual(MAX_EVIDENCE_CHARS);
      const verdict = readVerdict(raw, check.outcomes);

      const { status, outcome, basis = 'measured', evidence = [] } = one.expect;
      expect(pick(verdict), verdict.evidence).toEqual({ status, outcome, basis });
      for (const part of evidence) expect(verdict.evidence).toContain(part);
      expectWellWritten(verdict);
    });
  }
});

/** The caller states `T`; `defineCheck` and the type of cases guarantee it. */
async function importDefault<T>(url: string): Promise<T> {
  const module = (await import(/* @vite-ignore */ url)) as { readonly default: T };
  return module.default;
}

/** Gives a check only the observations that it declares, as a scan does. */
function observed(check: CheckDefinition, one: CheckCase): Parameters<typeof check.evaluate>[0] {
  const all = { ...perfectSeller(), ...one.seen };
  const needed = check.needs.map((name) => [name, all[name]]);
  // fromEntries forgets which members it was given; `needs` lists them.
  return JSON.parse(JSON.stringify(Object.fromEntries(needed))) as typeof all;
}

function pick({ status, outcome, basis }: Verdict) {
  return { status, outcome, basis };
}

function expectWellWritten({ evidence, fix, basis }: Verdict): void {
  expect(evidence).toMatch(FACT);
  expect(evidence).not.toMatch(/undefined|\[object|NaN/);
  expect(evidence.startsWith('Not applicable: ')).toBe(basis === 'not_applicable');
  expect(fix).toMatch(/^[A-Z][^\n\r]{10,}[.]$/);
  // A fix must not repeat text of an origin, such as the name and recipient of the test seller.
  expect(fix).not.toMatch(/seller\.example|0x[0-9a-f]{40}/i);
}

function duplicates(values: readonly string[]): readonly string[] {
  return values.filter((value, index) => values.indexOf(value) !== index);
}
