import type { CheckCase } from '../../src/engine/define-check.ts';
import { ORIGIN, seen } from '../../test/fixtures/observations/build-observations.ts';

const cases: readonly CheckCase[] = [
  {
    name: 'offline',
    seen: { listing: { state: 'off', why: 'offline' } },
    expect: { status: 'warn', outcome: 'offline', basis: 'not_determined' },
  },
  {
    name: 'the listing does not answer',
    seen: { listing: { state: 'failed', source: 'x402.org listing', detail: 'answered 500' } },
    expect: { status: 'warn', outcome: 'unseen', basis: 'not_determined', evidence: ['500'] },
  },
  {
    name: 'not listed',
    seen: { listing: seen({ listed: false, name: null, website: null }, 'x402.org listing') },
    expect: { status: 'warn', outcome: 'not-listed', evidence: ['"seller.example"', 'x402.org'] },
  },
  {
    name: 'listed',
    seen: {},
    expect: { status: 'pass', outcome: 'listed', evidence: [`"${ORIGIN}"`] },
  },
  {
    name: 'listed, by a record of old without a name',
    seen: {
      listing: seen({ listed: true, name: null, website: ORIGIN }, 'x402.org listing', 90_000),
    },
    expect: { status: 'pass', outcome: 'listed', evidence: ['25 h old'] },
  },
];

export default cases;
