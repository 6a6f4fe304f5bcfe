import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import catalog from '../../../catalog/2026-08-14.2.json' with { type: 'json' };
import {
  listScoreCosts,
  type Scored,
  scoreResults,
  toGrade,
} from '../../../src/scanner/engine/score.ts';
import type { CategoryKey, Severity } from '../../../src/scanner/model/report.ts';
import type { Basis, Status } from '../../../src/scanner/model/verdict.ts';

type Finding = { readonly status: Status; readonly basis: Basis };
const PASS: Finding = { status: 'pass', basis: 'measured' };
const WARN: Finding = { status: 'warn', basis: 'measured' };
const FAIL: Finding = { status: 'fail', basis: 'measured' };
const NOT_EVALUATED: Finding = { status: 'fail', basis: 'not_evaluated' };
const NOT_DETERMINED: Finding = { status: 'warn', basis: 'not_determined' };
const NOT_APPLICABLE: Finding = { status: 'pass', basis: 'not_applicable' };

/** Every check of the catalog passes except the checks in `findings`. */
function report(findings: Readonly<Record<string, Finding>> = {}): readonly Scored[] {
  return catalog.checks.map(({ id, category, severity }) => {
    const { status, basis } = findings[id] ?? PASS;
    // The schema of the catalog limits category and severity to the words of these types.
    return { id, category: category as CategoryKey, severity: severity as Severity, status, basis };
  });
}

function findingsOfCategory(category: string, finding: Finding): Record<string, Finding> {
  const checks = catalog.checks.filter((check) => check.category === category);
  return Object.fromEntries(checks.map(({ id }) => [id, finding]));
}

const NO_STANDING = findingsOfCategory('directory', NOT_DETERMINED);

describe('the cap of the score by payableBy', () => {
  test.each([
    ['nobody', 49, 'F'],
    ['unknown', 100, 'A'],
    ['settings', 100, 'A'],
    ['default', 100, 'A'],
    [null, 100, 'A'],
  ] as const)('%s is %i', (payableBy, score, grade) => {
    expect(scoreResults(report(), { payableBy })).toMatchObject({ score, grade });
    expect(scoreResults(report({ P1: FAIL }), { payableBy }).score).toBe(0);
  });

  test('is 64 if nobody could be judged to be paid', () => {
    const payment = { payableBy: 'unknown', isUnjudged: true } as const;
    expect(scoreResults(report(), payment)).toMatchObject({ score: 64, grade: 'D' });
    expect(scoreResults(report({ P2: FAIL }), payment).score).toBe(49);
    const costs = listScoreCosts(report(), scoreResults, payment);
    expect(costs).toEqual([{ id: 'payability', points: 36 }]);
  });

  test('is listed as a cost of its own if nobody can pay', () => {
    const results = report({ P4: FAIL });
    const costs = listScoreCosts(results, scoreResults, { payableBy: 'nobody' });
    expect(costs.map(({ id }) => id)).toEqual(['P4', 'payability']);
    expect(costs.reduce((sum, { points }) => sum + points, 0)).toBe(51);
  });
});

describe('the worked examples of the published scoring', () => {
  test('everything passes', () => {
    expect(scoreResults(report())).toEqual({
      score: 100,
      grade: 'A',
      subScores: { protocol: 100, docs: 100, standing: 100 },
    });
  });

  test('everything passes, and no check of the directory is determined', () => {
    expect(scoreResults(report(NO_STANDING))).toEqual({
      score: 100,
      grade: 'A',
      subScores: { protocol: 100, docs: 100, standing: null },
    });
  });

  test.each([
    ['with standing', {}, 100],
    ['without standing', NO_STANDING, null],
  ])('P4 fails and S7 warns, %s: the score 93 is capped at 89', (_, base, standing) => {
    expect(scoreResults(report({ ...base, P4: FAIL, S7: WARN }))).toEqual({
      score: 89,
      grade: 'B',
      subScores: { protocol: 90, docs: 97, standing },
    });
  });
});

describe('the score', () => {
  test.each([
    ['an unreachable origin', { P1: FAIL }, 0, 'F'],
    ['a critical fail', { P3: FAIL }, 49, 'F'],
    ['a critical check that was not evaluated', { P2: NOT_EVALUATED }, 49, 'F'],
    ['a critical warn', { P2: WARN }, 89, 'B'],
    ['a major fail of protocol', { P8: FAIL }, 89, 'B'],
    ['a critical check not determined', { P3: NOT_DETERMINED }, 100, 'A'],
    ['a major fail of docs, which sets no cap', { S1: FAIL }, 95, 'A'],
    ['a major warn of protocol, which sets no cap', { P8: WARN }, 97, 'A'],
    ['a check that is not applicable, which counts as a pass', { S5: NOT_APPLICABLE }, 100, 'A'],
  ] as const)('of a report with %s', (_, findings, score, grade) => {
    expect(scoreResults(report(findings))).toMatchObject({ score, grade });
  });

  test('of a perfect newcomer that no index knows keeps an A', () => {
    const newcomer = { ...findingsOfCategory('directory', WARN), D1: FAIL };
    expect(scoreResults(report(newcomer))).toMatchObject({ grade: 'A' });
  });

  test('of valid payments without any document is a D', () => {
    expect(
      scoreResults(report({ ...findingsOfCategory('docs', FAIL), ...NO_STANDING })),
    ).toMatchObject({
      score: 55,
      grade: 'D',
    });
  });

  test('is 0 if no check is determined, instead of a division by zero', () => {
    const undetermined = report(
      Object.fromEntries(catalog.checks.map(({ id }) => [id, NOT_DETERMINED])),
    );
    expect(scoreResults(undetermined)).toEqual({
      score: 0,
      grade: 'F',
      subScores: { protocol: null, docs: null, standing: null },
    });
  });
});

test.each([
  [100, 'A'],
  [90, 'A'],
  [89, 'B'],
  [80, 'B'],
  [79, 'C'],
  [65, 'C'],
  [64, 'D'],
  [50, 'D'],
  [49, 'F'],
  [0, 'F'],
] as const)('a score of %i is a grade of %s', (score, grade) => {
  expect(toGrade(score)).toBe(grade);
});

describe('for any findings', () => {
  const finding = fc.constantFrom(PASS, WARN, FAIL, NOT_EVALUATED, NOT_DETERMINED, NOT_APPLICABLE);
  const findings = fc
    .array(finding, { minLength: catalog.checks.length, maxLength: catalog.checks.length })
    .map((list) =>
      Object.fromEntries(catalog.checks.map(({ id }, index) => [id, list[index] ?? PASS])),
    );
  const someId = fc.constantFrom(...catalog.checks.map(({ id }) => id));

  test('score and sub-scores are integers from 0 to 100, and the grade follows from the score', () => {
    fc.assert(
      fc.property(findings, (findingsById) => {
        const { score, grade, subScores } = scoreResults(report(findingsById));
        for (const value of [
          score,
          ...Object.values(subScores).filter((subScore) => subScore !== null),
        ]) {
          expect(Number.isInteger(value) && value >= 0 && value <= 100).toBe(true);
        }
        expect(grade).toBe(toGrade(score));
      }),
    );
  });

  test('a critical failure gives an F, and any protocol-major failure excludes an A', () => {
    const measured = fc.constantFrom(PASS, WARN, NOT_DETERMINED, NOT_APPLICABLE);
    fc.assert(
      fc.property(fc.constantFrom('P1', 'P2', 'P3'), findings, (id, findingsById) => {
        expect(scoreResults(report({ ...findingsById, [id]: FAIL })).score).toBeLessThanOrEqual(49);
      }),
    );
    fc.assert(
      fc.property(fc.constantFrom('P4', 'P5', 'P6', 'P7', 'P8'), measured, (id, docsFinding) => {
        const findingsById = { ...findingsOfCategory('docs', docsFinding), [id]: FAIL };
        expect(scoreResults(report(findingsById)).score).toBeLessThanOrEqual(89);
      }),
    );
  });

  test('a better result never lowers the score', () => {
    const steps = [
      [FAIL, WARN],
      [NOT_EVALUATED, WARN],
      [WARN, PASS],
      [FAIL, NOT_APPLICABLE],
    ] as const;
    fc.assert(
      fc.property(
        findings,
        someId,
        fc.constantFrom(...steps),
        (findingsById, id, [worse, better]) => {
          const worseScore = scoreResults(report({ ...findingsById, [id]: worse })).score;
          const betterScore = scoreResults(report({ ...findingsById, [id]: better })).score;
          expect(betterScore).toBeGreaterThanOrEqual(worseScore);
        },
      ),
    );
  });

  test('the order of results does not matter', () => {
    fc.assert(
      fc.property(findings, fc.integer({ min: 1, max: 24 }), (findingsById, index) => {
        const results = report(findingsById);
        const rotated = [...results.slice(index), ...results.slice(0, index)];
        expect(scoreResults(rotated)).toEqual(scoreResults(results));
      }),
    );
  });
});
