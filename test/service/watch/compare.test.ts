/** Looks by other rules than the look before are not compared. */
import { expect, test } from 'vitest';
import { type Baseline, compare } from '../../../src/service/watch/compare.ts';
import type { Fact, LookResult } from '../../../src/service/watch/facts.ts';

const grade = (letter: string, rank: number): Fact => ({
  ...{ value: { grade: letter, score: 90 - rank }, mark: letter, rank, by: 'scan' },
});
const failedCheck: Fact = { value: { id: 'P2' }, mark: 'failed', rank: 1, by: 'scan' };
const heldCheck: Fact = { value: { id: 'P2' }, mark: 'holds', rank: 0, by: 'scan' };
const RULES = { checksVersion: '2026-01-01.1', scannerVersion: '1.0.0' };
const BASELINE: Baseline = {
  ...{ facts: { grade: grade('A', 0), 'check P2': heldCheck }, resources: [], ...RULES },
};
const look = (more: Partial<LookResult> = {}): LookResult => ({
  ...{ by: 'scan', atMs: 1_000, resources: null, ...RULES },
  facts: { grade: grade('C', 2), 'check P2': failedCheck },
  ...more,
});

test.each([
  ['catalog', { checksVersion: '2026-02-02.1' }],
  ['program', { scannerVersion: '1.0.1' }],
])('the first scan by another %s sends one event with both grades', (_, rules) => {
  const { events, baseline, suspicions } = compare(BASELINE, {}, look(rules), 0);
  expect(events).toEqual([
    { type: 'rules.changed', before: { grade: 'A', score: 90 }, after: { grade: 'C', score: 88 } },
  ]);
  expect(suspicions).toEqual({});
  // It becomes what the next look is compared with.
  const better = look({ ...rules, facts: { grade: grade('A', 0), 'check P2': heldCheck } });
  const types = compare(baseline, {}, better, 0).events.map(({ type }) => type);
  expect(types).toEqual(['grade.changed', 'check.recovered']);
});

test('the same rules are compared', () => {
  expect(compare(BASELINE, {}, look(), 0).events).toEqual([]);
  expect(Object.keys(compare(BASELINE, {}, look(), 0).suspicions)).toEqual(['grade', 'check P2']);
});

test('a request between scans by another program changes nothing', () => {
  const challenge = look({ by: 'challenge', checksVersion: null, scannerVersion: '1.0.1' });
  expect(compare(BASELINE, {}, challenge, 0)).toEqual({
    ...{ baseline: BASELINE, suspicions: {}, events: [] },
  });
});
