import type { CheckCase } from '#check';
import type { SettlementFacts } from '#model';
import { PAY_TO, toLookup } from '../../test/fixtures/observations/build-observations.ts';

function withCounts(
  settlements: number,
  payers: number,
  changes: Partial<SettlementFacts> = {},
): CheckCase['seen'] {
  return {
    settlements: toLookup({
      address: PAY_TO,
      windowDays: 30,
      settlements,
      payers,
      lastAt: settlements > 0 ? '2026-08-13T12:00:00.000Z' : null,
      ...changes,
    }),
  };
}

const cases: readonly CheckCase[] = [
  {
    name: 'the scan runs offline',
    seen: { settlements: { state: 'off', why: 'offline' } },
    expect: { status: 'warn', outcome: 'offline', basis: 'not_determined' },
  },
  {
    name: 'the RPC of the chain logs answers 502',
    seen: {
      settlements: { state: 'failed', source: 'chain logs', detail: 'the RPC answered 502' },
    },
    expect: { status: 'warn', outcome: 'unseen', basis: 'not_determined', evidence: ['502'] },
  },
  {
    name: 'three payers made ten settlements',
    seen: withCounts(10, 3),
    expect: {
      status: 'pass',
      outcome: 'adopted',
      evidence: ['10 settlements of 3 payers in 30 days', `the address "${PAY_TO}"`],
    },
  },
  {
    name: 'three payers made ten settlements in a window of 4.6 days',
    seen: withCounts(10, 3, { windowDays: 4.6 }),
    expect: { status: 'pass', outcome: 'adopted', evidence: ['4.6 days'] },
  },
  {
    name: 'three payers made nine settlements',
    seen: withCounts(9, 3),
    expect: { status: 'warn', outcome: 'some', evidence: ['9 settlements'] },
  },
  {
    name: 'two payers made forty settlements',
    seen: withCounts(40, 2),
    expect: { status: 'warn', outcome: 'some', evidence: ['2 payers'] },
  },
  {
    name: 'one payer made one settlement',
    seen: withCounts(1, 1, { address: null }),
    expect: { status: 'warn', outcome: 'some', evidence: ['this origin'] },
  },
  {
    name: 'nobody paid in a window of 29.9 days',
    seen: withCounts(0, 0, { windowDays: 29.9 }),
    expect: { status: 'warn', outcome: 'short-window', evidence: ['29.9 days'] },
  },
  {
    name: 'nobody paid, and the source does not state its period',
    seen: withCounts(0, 0, { windowDays: 0 }),
    expect: {
      status: 'warn',
      outcome: 'short-window',
      evidence: ['a period that it does not state'],
    },
  },
  {
    name: 'nobody paid in 30 days',
    seen: withCounts(0, 0),
    expect: { status: 'fail', outcome: 'none', evidence: ['0 settlements of 0 payers in 30 days'] },
  },
];

export default cases;
