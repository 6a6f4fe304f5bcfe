import { describe, expect, test } from 'vitest';
import { listMissedThresholds } from '../../src/cli/thresholds.ts';
import type { Grade } from '../../src/scanner/model/report.ts';
import { FAILED, PASSED, printable, UNDETERMINED, UNEVALUATED, WARNED } from './printable.ts';

function listMissed(
  thresholds: Partial<Parameters<typeof listMissedThresholds>[2]>,
  printed = [PASSED],
  grade: Grade = 'B',
) {
  const report = { ...printable().report, grade };
  const noThresholds = { minGrade: null, minPayable: null, failOn: null };
  return listMissedThresholds(report, printed, { ...noThresholds, ...thresholds });
}

describe('thresholds', () => {
  test('that are not given are never missed', () => {
    expect(listMissed({}, [FAILED, WARNED], 'F')).toEqual([]);
  });

  test.each([
    ['A', ['grade B is below A']],
    ['B', []],
    ['C', []],
    ['D', []],
  ] as const)('with --min-grade %s print %j for grade B', (minGrade, lines) => {
    expect(listMissed({ minGrade })).toEqual(lines);
  });

  test.each([
    ['default', 'default', true],
    ['default', 'settings', true],
    ['settings', 'settings', true],
    ['settings', 'default', false],
    ['unknown', 'settings', false],
    ['nobody', 'settings', false],
    [null, 'settings', false],
  ] as const)(
    'with payableBy %s and --min-payable %s are met: %s',
    (payableBy, minPayable, isEnough) => {
      const report = { ...printable().report, payableBy };
      const lines = listMissedThresholds(report, [PASSED], {
        minGrade: null,
        minPayable,
        failOn: null,
      });
      const line = `payable by ${payableBy ?? 'nobody'} is below ${minPayable}`;
      expect(lines).toEqual(isEnough ? [] : [line]);
    },
  );

  test('of each grade are missed by an F', () => {
    expect(listMissed({ minGrade: 'D' }, [PASSED], 'F')).toEqual(['grade F is below D']);
  });

  test('with --fail-on fail are missed by failures and unevaluated checks, not by warnings', () => {
    const printed = [PASSED, WARNED, UNDETERMINED];
    expect(listMissed({ failOn: 'fail' }, printed)).toEqual([]);
    expect(listMissed({ failOn: 'fail' }, [...printed, FAILED, UNEVALUATED])).toEqual([
      '--fail-on fail: P1, P2',
    ]);
  });

  test('with --fail-on warn are also missed by warnings, but not by undetermined checks', () => {
    expect(listMissed({ failOn: 'warn' }, [PASSED, UNDETERMINED])).toEqual([]);
    expect(listMissed({ failOn: 'warn' }, [UNDETERMINED, WARNED, FAILED])).toEqual([
      '--fail-on warn: S7, P1',
    ]);
  });

  test('that are missed print one line each', () => {
    expect(listMissed({ minGrade: 'A', failOn: 'fail' }, [FAILED])).toHaveLength(2);
  });
});
