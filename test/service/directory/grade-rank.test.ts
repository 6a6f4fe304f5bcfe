import { expect, test } from 'vitest';
import { findGradeRank } from '../../../src/service/directory/published-report.ts';

const COUNTS = { A: 20, B: 56, C: 40, D: 6, F: 90 };

test.each([
  ['A', 90],
  ['B', 64],
  ['C', 45],
  ['D', 42],
  ['F', 0],
] as const)('grade %s is better than %i % of all listed origins', (grade, betterThanPercent) => {
  expect(findGradeRank(COUNTS, grade)).toEqual({ betterThanPercent, origins: 212 });
});

test('the rank is rounded down, so that it never reaches 100 %', () => {
  expect(findGradeRank({ A: 1, B: 0, C: 0, D: 0, F: 299 }, 'A')).toEqual({
    betterThanPercent: 99,
    origins: 300,
  });
});

test('the only listed origin has no rank', () => {
  expect(findGradeRank({ A: 1, B: 0, C: 0, D: 0, F: 0 }, 'A')).toBeNull();
  expect(findGradeRank({ A: 0, B: 0, C: 0, D: 0, F: 0 }, 'F')).toBeNull();
});
