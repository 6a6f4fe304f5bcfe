/** Runs every case of every check with the real kit. */
import { describe, expect, test } from 'vitest';
import { discoverChecks } from '../../src/scanner/engine/catalog/discover-checks.ts';
import type { CheckCase, CheckDefinition } from '../../src/scanner/engine/define-check.ts';
import { MAX_EVIDENCE_CHARS } from '../../src/scanner/engine/on-thread.ts';
import type { Verdict } from '../../src/scanner/model/verdict.ts';
import { deepFreeze } from '../../src/scanner/parse/json/json.ts';
import { createKit } from '../../src/scanner/parse/kit/kit.ts';
import { perfectSeller } from '../fixtures/observations/build-observations.ts';
import { readVerdict } from './read-verdict.ts';

/** Evidence names a fact only if it has a path, a number or a quoted value. */
const HAS_FACT = /[/\d"]/;

type Folder = {
  /** File URL, ending in a slash. */
  readonly folder: string;
  readonly name: string;
  readonly checks: readonly CheckDefinition[];
  readonly cases: readonly CheckCase[];
};

// Lint checks that each folder has its files, and that its cases and README name each outcome.
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

test('finds checks to test', () => {
  expect(folders.length).toBeGreaterThan(0);
});

describe.each(folders)('$name', ({ checks, cases }) => {
  test('has no two cases with the same name or the same observations', () => {
    expect(duplicates(cases.map((checkCase) => checkCase.name))).toEqual([]);
    const contents = cases.map((checkCase) =>
      JSON.stringify([checkCase.versions ?? 'all', checkCase.seen]),
    );
    expect(duplicates(contents)).toEqual([]);
  });

  for (const check of checks) {
    const ownCases = cases.filter(
      (checkCase) => checkCase.versions?.includes(check.version) ?? true,
    );

    test.each(ownCases)(`v${check.version}: $name`, (checkCase) => {
      const observations = pickNeeded(check, checkCase);
      const before = JSON.stringify(observations);
      const rawVerdict = check.evaluate(deepFreeze(observations), createKit());
      expect(JSON.stringify(observations)).toBe(before);
      expect(rawVerdict.evidence.length).toBeLessThanOrEqual(MAX_EVIDENCE_CHARS);
      const verdict = readVerdict(rawVerdict, check.outcomes);

      const { status, outcome, basis = 'measured', evidence = [] } = checkCase.expect;
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

/** Returns only the observations that the check declares in `needs`, as a scan does. */
function pickNeeded(
  check: CheckDefinition,
  checkCase: CheckCase,
): Parameters<typeof check.evaluate>[0] {
  const all = { ...perfectSeller(), ...checkCase.seen };
  const needed = check.needs.map((name) => [name, all[name]]);
  // The type of `fromEntries` loses the member names; `needs` guarantees them.
  return JSON.parse(JSON.stringify(Object.fromEntries(needed))) as typeof all;
}

function pick({ status, outcome, basis }: Verdict) {
  return { status, outcome, basis };
}

function expectWellWritten({ evidence, fix, basis }: Verdict): void {
  expect(evidence).toMatch(HAS_FACT);
  expect(evidence).not.toMatch(/undefined|\[object|NaN/);
  expect(evidence.startsWith('Not applicable: ')).toBe(basis === 'not_applicable');
  expect(fix).toMatch(/^[A-Z][^\n\r]{10,}[.]$/);
  // A fix must not repeat text of an origin, such as the name and recipient of the test seller.
  expect(fix).not.toMatch(/seller\.example|0x[0-9a-f]{40}/i);
}

function duplicates(values: readonly string[]): readonly string[] {
  return values.filter((value, index) => values.indexOf(value) !== index);
}
