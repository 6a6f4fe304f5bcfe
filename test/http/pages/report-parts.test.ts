/** The parts of a report page as data: costs that add up, sentences, plots. */
import { describe, expect, test } from 'vitest';
import { scoreResults } from '../../../src/engine/score.ts';
import { scoreCosts } from '../../../src/engine/score-costs.ts';
import { reportFindings } from '../../../src/http/pages/report-findings.ts';
import { gradeHistogram, historyPlot } from '../../../src/http/pages/report-plots.ts';
import type { CheckResult } from '../../../src/model/report.ts';
import { readCatalog } from '../../fixtures/service/test-catalog.ts';

type Change = Partial<Pick<CheckResult, 'status' | 'basis' | 'evidence'>>;

function results(changes: Readonly<Record<string, Change>>): readonly CheckResult[] {
  return readCatalog('2026-08-14.2').checks.map(({ id, title, category, severity }) => ({
    ...{ id, title, category, severity },
    ...{ status: 'pass', basis: 'measured', outcome: 'fine', evidence: 'seen', fix: 'keep' },
    ...changes[id],
  }));
}

describe('what findings cost', () => {
  test.each<[string, Readonly<Record<string, Change>>]>([
    ['nothing', {}],
    ['one minor', { S7: { status: 'warn' } }],
    ['a cap', { P4: { status: 'fail' }, S7: { status: 'warn' } }],
    ['two caps', { P3: { status: 'fail' }, P4: { status: 'fail' }, S1: { status: 'fail' } }],
    ['an origin that nobody reaches', { P1: { status: 'fail' }, P2: { status: 'fail' } }],
    ['what was not determined', { D1: { status: 'warn', basis: 'not_determined' } }],
    ['all of it', Object.fromEntries(results({}).map(({ id }) => [id, { status: 'fail' }]))],
  ])('adds up to what is missing from 100: %s', (_what, changes) => {
    const all = results(changes);
    const costs = scoreCosts(all, scoreResults);
    const sum = costs.reduce((total, { points }) => total + points, 0);
    expect(100 - sum).toBe(scoreResults(all).score);
    expect(costs.every(({ points }) => points >= 0)).toBe(true);
  });

  test('charges a cap to what caps, and equal findings alike', () => {
    const broken = results({
      ...{ P5: { status: 'fail' }, S5: { status: 'fail' }, S6: { status: 'fail' } },
      ...{ S7: { status: 'fail' }, D4: { status: 'fail' } },
    });
    const byId = new Map(scoreCosts(broken, scoreResults).map(({ id, points }) => [id, points]));
    // So many findings leave the cap without effect: each major costs about what its points weigh.
    expect(scoreResults(broken).score).toBeLessThan(89);
    expect(Math.abs((byId.get('S5') ?? 0) - (byId.get('S6') ?? 0))).toBeLessThanOrEqual(1);
    for (const id of ['P5', 'S5', 'S6']) expect(byId.get(id), id).toBeGreaterThanOrEqual(4);
    for (const id of ['P5', 'S5', 'S6']) expect(byId.get(id), id).toBeLessThanOrEqual(6);

    const capped = results({ P4: { status: 'fail' }, S7: { status: 'warn' } });
    const costs = scoreCosts(capped, scoreResults);
    expect(costs).toEqual([
      { id: 'P4', points: 9 },
      { id: 'S7', points: 2 },
    ]);
  });

  test('names the gravest first, and nothing that was not determined', () => {
    const all = results({
      S7: { status: 'fail' },
      P6: { status: 'warn' },
      P3: { status: 'warn' },
      D1: { status: 'warn', basis: 'not_determined' },
    });
    expect(scoreCosts(all, scoreResults).map(({ id }) => id)).toEqual(['P3', 'P6', 'S7']);
  });
});

test('what only follows from a finding stands beneath it, what was not determined apart', () => {
  const catalog = readCatalog('2026-08-14.2');
  const follows = (id: string) => ({
    ...{ status: 'fail' as const, basis: 'not_evaluated' as const },
    evidence: `Not evaluated, see ${id}: nothing declares a paid path`,
  });
  const all = results({
    P2: { status: 'fail' },
    P3: follows('P2'),
    S4: follows('P2'),
    S2: follows('S1'),
    D3: { status: 'warn', basis: 'not_determined' },
  });
  const { categories, undetermined } = reportFindings(
    { results: all, payableBy: null, score: scoreResults(all).score },
    catalog,
    new Map([['P3', { right: 'Right.', wrong: 'Wrong.', unjudged: 'It is not known.' }]]),
  );
  const shown = categories.flatMap(({ problems }) =>
    problems.map(({ id, follows }) => [id, follows.map((one) => `${one.id} ${one.sentence}`)]),
  );
  // S1 passed: what names it as its cause stands for itself.
  expect(shown).toEqual([
    ['P2', ['P3 It is not known.', 'S4 paid-ops-security-402']],
    ['S2', []],
  ]);
  expect(undetermined.map(({ id }) => id)).toEqual(['D3']);
});

test('a history is marked where another catalog judged', () => {
  const row = (day: number, score: number, checksVersion: string) => ({
    ...{ scanId: `${day}`, grade: 'B' as const, score, checksVersion },
    scannedAtMs: Date.UTC(2026, 7, day),
  });
  const plot = historyPlot([
    row(1, 80, '2026-07-25.1'),
    row(2, 85, '2026-07-25.1'),
    row(3, 100, '2026-08-14.2'),
  ]);
  expect(plot.points.map(({ x }) => x)).toEqual([0, 300, 600]);
  expect(plot.marks).toEqual([{ x: 450, label: 'checks 2026-08-14.2' }]);
  expect(plot.points[2]?.y).toBeLessThan(plot.points[0]?.y ?? 0);
});

test('a histogram marks the place of this origin', () => {
  const { total, bars } = gradeHistogram({ A: 3, B: 1, C: 0, D: 0, F: 4 }, 'B');
  expect(total).toBe(8);
  expect(bars.filter(({ isOwn }) => isOwn).map(({ grade }) => grade)).toEqual(['B']);
  expect(bars.map(({ percent }) => percent)).toEqual([38, 13, 0, 0, 50]);
  expect(bars.map(({ width }) => width)).toEqual([75, 25, 0, 0, 100]);
});
