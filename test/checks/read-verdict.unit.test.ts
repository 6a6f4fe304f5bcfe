import { describe, expect, test } from 'vitest';
import { readVerdict } from './read-verdict.ts';

const OUTCOMES = ['seen'];
const VALID_VERDICT = {
  status: 'fail',
  basis: 'measured',
  outcome: 'seen',
  evidence: 'GET /: 500',
  fix: 'Do.',
};

describe('a verdict that keeps to the contract', () => {
  test.each([
    ['measured', VALID_VERDICT],
    [
      'not applicable',
      { ...VALID_VERDICT, status: 'pass', basis: 'not_applicable', evidence: 'Not applicable: x' },
    ],
    [
      'not determined',
      { ...VALID_VERDICT, status: 'warn', basis: 'not_determined', outcome: 'offline' },
    ],
    ['not evaluated', { ...VALID_VERDICT, basis: 'not_evaluated', outcome: 'prerequisite-failed' }],
  ])('%s is accepted unchanged', (_, verdict) => {
    expect(readVerdict(verdict, OUTCOMES)).toEqual(verdict);
  });

  test('loses members that are not part of a verdict', () => {
    expect(readVerdict({ ...VALID_VERDICT, note: 'more' }, OUTCOMES)).toEqual(VALID_VERDICT);
  });

  test.each([
    [500, 500],
    [501, 500],
  ])('evidence of %i characters is cut to %i', (length, keptLength) => {
    const { evidence } = readVerdict({ ...VALID_VERDICT, evidence: 'x'.repeat(length) }, OUTCOMES);
    expect(evidence).toHaveLength(keptLength);
    expect(evidence.endsWith('…')).toBe(length > 500);
  });
});

describe('a verdict that breaks the contract is refused with the name of the fault', () => {
  test.each([
    ['undefined', undefined, 'not an object'],
    ['a promise', Promise.resolve(VALID_VERDICT), 'must be synchronous'],
    ['an unknown basis', { ...VALID_VERDICT, basis: 'guessed' }, 'basis "guessed"'],
    ['a basis from the prototype', { ...VALID_VERDICT, basis: 'toString' }, 'basis "toString"'],
    ['an unknown status', { ...VALID_VERDICT, status: 'maybe' }, 'Status "maybe"'],
    [
      'a pass that was not evaluated',
      { ...VALID_VERDICT, status: 'pass', basis: 'not_evaluated' },
      'Status "pass"',
    ],
    [
      'a fail that was not determined',
      { ...VALID_VERDICT, basis: 'not_determined' },
      'Status "fail"',
    ],
    ['an outcome of another check', { ...VALID_VERDICT, outcome: 'no-h1' }, '"no-h1" is not in'],
    ['no evidence', { ...VALID_VERDICT, evidence: '' }, 'without evidence'],
    ['invisible evidence', { ...VALID_VERDICT, evidence: '\u200b\u202e ' }, 'without evidence'],
    [
      'not applicable without these words in the evidence',
      { ...VALID_VERDICT, status: 'pass', basis: 'not_applicable' },
      'must start with',
    ],
    ['no fix', { ...VALID_VERDICT, fix: ' ' }, 'fix must be one line'],
    ['a fix of two lines', { ...VALID_VERDICT, fix: 'Do.\nThen do.' }, 'fix must be one line'],
  ])('%s', (_, verdict, message) => {
    expect(() => readVerdict(verdict, OUTCOMES)).toThrow(message);
  });
});
