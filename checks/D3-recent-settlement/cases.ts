import type { CheckCase } from '#check';
import type { SettlementFacts } from '#model';
import { PAY_TO, toLookup } from '../../test/fixtures/observations/build-observations.ts';

function withSettlements(
  changes: Partial<SettlementFacts>,
  source = 'x402scan',
  ageSec = 60,
): CheckCase['seen'] {
  return {
    settlements: toLookup(
      { address: PAY_TO, windowDays: 30, settlements: 1, payers: 1, lastAt: null, ...changes },
      source,
      ageSec,
    ),
  };
}

const cases: readonly CheckCase[] = [
  {
    name: 'the sources of settlements are switched off',
    seen: { settlements: { state: 'off', why: 'switched-off' } },
    expect: {
      status: 'warn',
      outcome: 'offline',
      basis: 'not_determined',
      evidence: ['switched-off'],
    },
  },
  {
    name: 'the Bazaar answers 500',
    seen: { settlements: { state: 'failed', source: 'Bazaar', detail: 'Bazaar answered 500' } },
    expect: { status: 'warn', outcome: 'unseen', basis: 'not_determined', evidence: ['500'] },
  },
  {
    name: 'the chain logs show no settlement in 30 days',
    seen: withSettlements({ settlements: 0, payers: 0 }, 'chain logs'),
    expect: {
      status: 'warn',
      outcome: 'not-observed',
      evidence: ['no settlement', 'chain logs', PAY_TO],
    },
  },
  {
    name: 'a source saw no settlement, and does not state its period',
    seen: withSettlements({ settlements: 0, payers: 0, windowDays: 0 }),
    expect: {
      status: 'warn',
      outcome: 'not-observed',
      evidence: ['a period that it does not state'],
    },
  },
  {
    name: 'the last settlement is 30 days and one second old',
    seen: withSettlements({ lastAt: '2026-07-15T11:59:59.000Z' }),
    expect: { status: 'warn', outcome: 'not-observed', evidence: ['2026-07-15'] },
  },
  {
    name: 'the last settlement is exactly 30 days old',
    seen: withSettlements({ lastAt: '2026-07-15T12:00:00.000Z' }),
    expect: { status: 'pass', outcome: 'recent', evidence: ['2026-07-15T12:00:00.000Z'] },
  },
  {
    name: 'the source knows settlements by origin, without an address',
    seen: withSettlements({ address: null, lastAt: '2026-08-14T11:00:00.000Z' }),
    expect: { status: 'pass', outcome: 'recent', evidence: ['this origin'] },
  },
  {
    name: 'the age is counted to the time of an answer that is 29 days old',
    seen: withSettlements({ lastAt: '2026-08-13T12:00:00.000Z' }, 'Bazaar', 29 * 86_400),
    expect: { status: 'pass', outcome: 'recent', evidence: ['Bazaar', '696 h old'] },
  },
  {
    name: 'the settlement is dated after the answer of the source, whose clock differs',
    seen: withSettlements({ lastAt: '2026-08-14T12:00:30.000Z' }),
    expect: { status: 'pass', outcome: 'recent' },
  },
];

export default cases;
