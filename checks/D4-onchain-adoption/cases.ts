import type { CheckCase } from '../../src/engine/define-check.ts';
import type { SettlementFacts } from '../../src/model/observations.ts';
import { PAY_TO, seen } from '../../test/fixtures/observations/build-observations.ts';

function counted(
  settlements: number,
  payers: number,
  more: Partial<SettlementFacts> = {},
): CheckCase['seen'] {
  return {
    settlements: seen({
      address: PAY_TO,
      windowDays: 30,
      settlements,
      payers,
      lastAt: settlements > 0 ? '2026-08-13T12:00:00.000Z' : null,
      ...more,
    }),
  };
}

const cases: readonly CheckCase[] = [
  {
    name: 'offline',
    seen: { settlements: { state: 'off', why: 'offline' } },
    expect: { status: 'warn', outcome: 'offline', basis: 'not_determined' },
  },
  {
    name: 'nobody answers',
    seen: {
      settlements: { state: 'failed', source: 'chain logs', detail: 'the RPC answered 502' },
    },
    expect: { status: 'warn', outcome: 'unseen', basis: 'not_determined', evidence: ['502'] },
  },
  {
    name: 'ten settlements of three payers',
    seen: counted(10, 3),
    expect: {
      status: 'pass',
      outcome: 'adopted',
      evidence: ['10 settlements of 3 payers in 30 days', `the address "${PAY_TO}"`],
    },
  },
  {
    name: 'enough in a window that is short',
    seen: counted(10, 3, { windowDays: 4.6 }),
    expect: { status: 'pass', outcome: 'adopted', evidence: ['4.6 days'] },
  },
  {
    name: 'nine settlements of three payers',
    seen: counted(9, 3),
    expect: { status: 'warn', outcome: 'some', evidence: ['9 settlements'] },
  },
  {
    name: 'forty settlements of two payers',
    seen: counted(40, 2),
    expect: { status: 'warn', outcome: 'some', evidence: ['2 payers'] },
  },
  {
    name: 'one settlement',
    seen: counted(1, 1, { address: null }),
    expect: { status: 'warn', outcome: 'some', evidence: ['this origin'] },
  },
  {
    name: 'none in a window that does not reach 30 days',
    seen: counted(0, 0, { windowDays: 29.9 }),
    expect: { status: 'warn', outcome: 'short-window', evidence: ['29.9 days'] },
  },
  {
    name: 'none, and the source does not state its window',
    seen: counted(0, 0, { windowDays: 0 }),
    expect: {
      status: 'warn',
      outcome: 'short-window',
      evidence: ['a period that it does not state'],
    },
  },
  {
    name: 'none in a full window',
    seen: counted(0, 0),
    expect: { status: 'fail', outcome: 'none', evidence: ['0 settlements of 0 payers in 30 days'] },
  },
];

export default cases;
