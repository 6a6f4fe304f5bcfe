import type { CheckCase } from '#check';
import { ORIGIN, toLookup } from '../../test/fixtures/observations/build-observations.ts';

const cases: readonly CheckCase[] = [
  {
    name: 'the scan runs offline',
    seen: { listing: { state: 'off', why: 'offline' } },
    expect: { status: 'warn', outcome: 'offline', basis: 'not_determined' },
  },
  {
    name: 'the listing answers 500',
    seen: { listing: { state: 'failed', source: 'x402.org listing', detail: 'answered 500' } },
    expect: { status: 'warn', outcome: 'unseen', basis: 'not_determined', evidence: ['500'] },
  },
  {
    name: 'the listing has no record of the host',
    seen: { listing: toLookup({ listed: false, name: null, website: null }, 'x402.org listing') },
    expect: { status: 'warn', outcome: 'not-listed', evidence: ['"seller.example"', 'x402.org'] },
  },
  {
    name: 'the listing has a record of the host',
    seen: {},
    expect: { status: 'pass', outcome: 'listed', evidence: [`"${ORIGIN}"`] },
  },
  {
    name: 'the record of the host has no name, and the answer is 25 hours old',
    seen: {
      listing: toLookup({ listed: true, name: null, website: ORIGIN }, 'x402.org listing', 90_000),
    },
    expect: { status: 'pass', outcome: 'listed', evidence: ['25 h old'] },
  },
];

export default cases;
