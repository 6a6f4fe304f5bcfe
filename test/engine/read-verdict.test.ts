import { describe, expect, test } from 'vitest';
import { readVerdict } from '../../src/engine/on-thread.ts';

const OUTCOMES = ['seen'];
const GOOD = {
  status: 'fail',
  basis: 'measured',
  outcome: 'seen',
  evidence: 'GET /: 500',
  fix: 'Do.',
};

describe('a verdict that keeps to the contract', () => {
  test.each([
    ['measured', GOOD],
    [
      'not applicable',
      { ...GOOD, status: 'pass', basis: 'not_applicable', evidence: 'Not applicable: x' },
    ],
    ['not determined', { ...GOOD, status: 'warn', basis: 'not_determined', outcome: 'offline' }],
    ['not evaluated', { ...GOOD, basis: 'not_evaluated', outcome: 'prerequisite-failed' }],
  ])('%s is accepted unchanged', (_, verdict) => {
    expect(readVerdict(verdict, OUTCOMES)).toEqual(verdict);
  });

  test('loses members that are not part of a verdict', () => {
    expect(readVerdict({ ...GOOD, note: 'more' }, OUTCOMES)).toEqual(GOOD);
  });

  test.each([
    [500, 500],
    [501, 500],
  ])('evidence of %i characters is cut to %i', (length, kept) => {
    const { evidence } = readVerdict({ ...GOOD, evidence: 'x'.repeat(length) }, OUTCOMES);
    expect(evidence).toHaveLength(kept);
    expect(evidence.endsWith('…')).toBe(length > 500);
  });
});

describe('a verdict that breaks the contract is refused with the name of the fault', () => {
  test.each([
    ['nothing', undefined, 'not an object'],
    ['a promise', Promise.resolve(GOOD), 'must be synchronous'],
    ['an unknown basis', { ...GOOD, basis: 'guessed' }, 'basis "guessed"'],
    ['a basis from the prototype', { ...GOOD, basis: 'toString' }, 'basis "toString"'],
    ['an unknown status', { ...GOOD, status: 'maybe' }, 'Status "maybe"'],
    [
      'a pass that was not evaluated',
      { ...GOOD, status: 'pass', basis: 'not_evaluated' },
      'Status "pass"',
    ],
    ['a fail that was not determined', { ...GOOD, basis: 'not_determined' }, 'Status "fail"'],
    ['an outcome of another check', { ...GOOD, outcome: 'no-h1' }, '"no-h1" is not in'],
    ['no evidence', { ...GOOD, evidence: '' }, 'without evidence'],
    ['invisible evidence', { ...GOOD, evidence: '\u200b\u202e ' }, 'without evidence'],
    [
      'not applicable without saying so',
      { ...GOOD, status: 'pass', basis: 'not_applicable' },
      'must start with',
    ],
    ['no fix', { ...GOOD, fix: ' ' }, 'fix must be one line'],
    ['a fix of two lines', { ...GOOD, fix: 'Do.\nThen do.' }, 'fix must be one line'],
  ])('%s', (_, verdict, message) => {
    expect(() => readVerdict(verdict, OUTCOMES)).toThrow(message);
  });
});
