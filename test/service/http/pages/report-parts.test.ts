/** A report page shows the findings by their costs, each with the findings that follow from it. */
import { describe, expect, test } from 'vitest';
import { listScoreCosts, scoreResults } from '../../../../src/scanner/engine/score.ts';
import type { CheckResult } from '../../../../src/scanner/model/report.ts';
import { toReportFindings } from '../../../../src/service/http/pages/report-sections.ts';
import { readCatalog } from '../../../fixtures/service/test-catalog.ts';

type Change = Partial<Pick<CheckResult, 'status' | 'basis' | 'evidence'>>;

function toResults(changes: Readonly<Record<string, Change>>): readonly CheckResult[] {
  return readCatalog('2026-08-14.2').checks.map(({ id, title, category, severity }) => ({
    ...{ id, title, category, severity },
    ...{ status: 'pass', basis: 'measured', outcome: 'fine', evidence: 'seen', fix: 'keep' },
    ...changes[id],
  }));
}

describe('the costs of findings', () => {
  test.each<[string, Readonly<Record<string, Change>>]>([
    ['nothing', {}],
    ['one minor finding', { S7: { status: 'warn' } }],
    ['a cap', { P4: { status: 'fail' }, S7: { status: 'warn' } }],
    ['two caps', { P3: { status: 'fail' }, P4: { status: 'fail' }, S1: { status: 'fail' } }],
    ['an unreachable origin', { P1: { status: 'fail' }, P2: { status: 'fail' } }],
    ['undetermined checks', { D1: { status: 'warn', basis: 'not_determined' } }],
    ['every check', Object.fromEntries(toResults({}).map(({ id }) => [id, { status: 'fail' }]))],
  ])('add up to the points missing from 100: %s', (_case, changes) => {
    const allResults = toResults(changes);
    const costs = listScoreCosts(allResults, scoreResults);
    const sum = costs.reduce((total, { points }) => total + points, 0);
    expect(100 - sum).toBe(scoreResults(allResults).score);
    expect(costs.every(({ points }) => points >= 0)).toBe(true);
  });

  test('include a cap for the finding that causes the cap, and are about equal for equal findings', () => {
    const majorFailures = toResults({
      ...{ P5: { status: 'fail' }, S5: { status: 'fail' }, S6: { status: 'fail' } },
      ...{ S7: { status: 'fail' }, D4: { status: 'fail' } },
    });
    const byId = new Map(
      listScoreCosts(majorFailures, scoreResults).map(({ id, points }) => [id, points]),
    );
    // The score is below the cap anyway, so each major finding costs about its own points.
    expect(scoreResults(majorFailures).score).toBeLessThan(89);
    expect(Math.abs((byId.get('S5') ?? 0) - (byId.get('S6') ?? 0))).toBeLessThanOrEqual(1);
    for (const id of ['P5', 'S5', 'S6']) expect(byId.get(id), id).toBeGreaterThanOrEqual(4);
    for (const id of ['P5', 'S5', 'S6']) expect(byId.get(id), id).toBeLessThanOrEqual(6);

    const cappedResults = toResults({ P4: { status: 'fail' }, S7: { status: 'warn' } });
    const costs = listScoreCosts(cappedResults, scoreResults);
    expect(costs).toEqual([
      { id: 'P4', points: 9 },
      { id: 'S7', points: 2 },
    ]);
  });

  test('list the most severe finding first, and no undetermined check', () => {
    const allResults = toResults({
      S7: { status: 'fail' },
      P6: { status: 'warn' },
      P3: { status: 'warn' },
      D1: { status: 'warn', basis: 'not_determined' },
    });
    expect(listScoreCosts(allResults, scoreResults).map(({ id }) => id)).toEqual([
      'P3',
      'P6',
      'S7',
    ]);
  });
});

test('a finding lists the checks that were not evaluated because of it, and undetermined checks are listed separately', () => {
  const catalog = readCatalog('2026-08-14.2');
  const notEvaluated = (id: string) => ({
    ...{ status: 'fail' as const, basis: 'not_evaluated' as const },
    evidence: `Not evaluated, see ${id}: nothing declares a paid path`,
  });
  const allResults = toResults({
    P2: { status: 'fail' },
    P3: notEvaluated('P2'),
    S4: notEvaluated('P2'),
    S2: notEvaluated('S1'),
    D3: { status: 'warn', basis: 'not_determined' },
  });
  const {
    first: topFindings,
    categories,
    undetermined,
    unevaluated,
  } = toReportFindings(
    { results: allResults, payableBy: null, payability: [] },
    catalog,
    new Map([['P3', { right: 'Right.', wrong: 'Wrong.', unjudged: 'It is not known.' }]]),
  );
  const otherFindings = categories.flatMap(({ problems }) => problems);
  const findingsWithConsequences = [...topFindings, ...otherFindings].map(
    ({ id, consequences }) => [id, consequences.map((row) => `${row.id} ${row.sentence}`.trim())],
  );
  // S1 passed, so S2, which names S1 as its cause, is listed as a finding.
  expect(findingsWithConsequences).toEqual([
    ['P2', ['P3 It is not known.', 'S4']],
    ['S2', []],
  ]);
  expect(undetermined.map(({ id }) => id)).toEqual(['D3']);
  expect(unevaluated).toEqual({
    count: 3,
    text: '2 not evaluated because of P2, 1 not evaluated because of S1',
  });
});

test('the three most expensive findings come first with their consequences, and only once', () => {
  const notEvaluated = { status: 'fail' as const, basis: 'not_evaluated' as const };
  const allResults = toResults({
    S1: { status: 'fail' },
    S2: { ...notEvaluated, evidence: 'Not evaluated, see S1: none' },
    S4: { ...notEvaluated, evidence: 'Not evaluated, see S1: none' },
    S7: { status: 'fail' },
    S6: { status: 'fail' },
    P6: { status: 'warn' },
    S8: { status: 'warn' },
  });
  const catalog = readCatalog('2026-08-14.2');
  const findings = toReportFindings(
    { results: allResults, payableBy: null, payability: [] },
    catalog,
    new Map(),
  );
  expect(findings.first.map(({ id }) => id)).toEqual(['S1', 'S6', 'P6']);
  const [worst] = findings.first;
  const cost = (id: string) => findings.costs.find((finding) => finding.id === id)?.points ?? 0;
  expect(worst?.cost).toBe(cost('S1') + cost('S2') + cost('S4'));
  const listed = findings.categories.flatMap(({ problems }) => problems.map(({ id }) => id));
  expect(listed).toEqual(['S7', 'S8']);
  expect(findings.categories.map(({ firstIds }) => firstIds)).toEqual([['P6'], ['S1', 'S6'], []]);
});
