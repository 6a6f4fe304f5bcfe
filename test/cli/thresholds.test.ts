import { describe, expect, test } from 'vitest';
import { missedThresholds } from '../../src/cli/thresholds.ts';
import type { Grade } from '../../src/model/report.ts';
import { FAILED, OPEN, PASSED, printable, UNEVALUATED, WARNED } from './printable.ts';

function missed(
  thresholds: Partial<Parameters<typeof missedThresholds>[2]>,
  printed = [PASSED],
  grade: Grade = 'B',
) {
  const report = { ...printable().report, grade };
  const none = { minGrade: null, minPayable: null, failOn: null };
  return missedThresholds(report, printed, { ...none, ...thresholds });
}

describe('thresholds', () => {
  test('that are not given miss nothing', () => {
    expect(missed({}, [FAILED, WARNED], 'F')).toEqual([]);
  });

  test.each([
    ['A', ['grade B is below A']],
    ['B', []],
    ['C', []],
    ['D', []],
  ] as const)('a B against --min-grade %s', (minGrade, lines) => {
    expect(missed({ minGrade })).toEqual(lines);
  });

  test.each([
    ['default', 'default', true],
    ['default', 'settings', true],
    ['settings', 'settings', true],
    ['settings', 'default', false],
    ['unknown', 'settings', false],
    ['nobody', 'settings', false],
    [null, 'settings', false],
  ] as const)('payable by %s against --min-payable %s', (payableBy, minPayable, isEnough) => {
    const report = { ...printable().report, payableBy };
    const lines = missedThresholds(report, [PASSED], { minGrade: null, minPayable, failOn: null });
    const line = `payable by ${payableBy ?? 'nobody'} is below ${minPayable}`;
    expect(lines).toEqual(isEnough ? [] : [line]);
  });

  test('an F is below every grade', () => {
    expect(missed({ minGrade: 'D' }, [PASSED], 'F')).toEqual(['grade F is below D']);
  });

  test('--fail-on fail looks at failures and what was not evaluated, never at warnings', () => {
    const printed = [PASSED, WARNED, OPEN];
    expect(missed({ failOn: 'fail' }, printed)).toEqual([]);
    expect(missed({ failOn: 'fail' }, [...printed, FAILED, UNEVALUATED])).toEqual([
      '--fail-on fail: P1, P2',
    ]);
  });

  test('--fail-on warn looks at warnings too, but not at what nobody could determine', () => {
    expect(missed({ failOn: 'warn' }, [PASSED, OPEN])).toEqual([]);
    expect(missed({ failOn: 'warn' }, [OPEN, WARNED, FAILED])).toEqual(['--fail-on warn: S7, P1']);
  });

  test('each say their own line', () => {
    expect(missed({ minGrade: 'A', failOn: 'fail' }, [FAILED])).toHaveLength(2);
  });
});
