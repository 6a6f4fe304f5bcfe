import { describe, expect, test } from 'vitest';
import { refuseUnknownPattern, selectResults } from '../../src/cli/thresholds.ts';
import { result } from './printable.ts';

const RESULTS = ['P1', 'P2', 'S1', 'S10', 'S2', 'D1'].map((id) => result(id));
const select = (...only: string[]) => selectResults(RESULTS, only).map(({ id }) => id);

describe('--only', () => {
  test('prints all results if it is not given', () => {
    expect(selectResults(RESULTS, null)).toEqual(RESULTS);
  });

  test('accepts ids and prefixes, and prints each check once in the order of the catalog', () => {
    expect(select('S1')).toEqual(['S1']);
    expect(select('S1*')).toEqual(['S1', 'S10']);
    expect(select('D*', 'P1', 'P*')).toEqual(['P1', 'P2', 'D1']);
  });

  test.each([['X*'], ['P9'], ['P1', 'S11'], ['P10*']])('refuses %j', (...only) => {
    const unknownPattern = only.at(-1);
    expect(() => refuseUnknownPattern(only, RESULTS)).toThrow(
      `--only ${unknownPattern}: no such check; there are P1, P2, S1, S10, S2, D1`,
    );
  });

  test('is accepted if each id is a check, or if it is not given', () => {
    refuseUnknownPattern(['P1', 'S*'], RESULTS);
    refuseUnknownPattern(null, RESULTS);
  });
});
