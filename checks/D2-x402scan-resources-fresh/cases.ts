import type { CheckCase } from '#check';
import type { IndexedResource } from '#model';
import {
  AS_OF,
  indexedOrigin,
  ORIGIN,
  toLookup,
} from '../../test/fixtures/observations/build-observations.ts';

const DAY_MS = 86_400_000;

/** One resource for each age, in days before the index was asked. Null means that the resource has no date. */
function updatedDaysAgo(...daysAgo: readonly (number | null)[]): CheckCase['seen'] {
  const resources = daysAgo.map((days, index): IndexedResource => {
    const lastUpdated =
      days === null ? null : new Date(Date.parse(AS_OF) - days * DAY_MS).toISOString();
    return {
      resource: `${ORIGIN}/${index}`,
      method: 'GET',
      lastUpdated,
      accepts: 1,
      deprecated: false,
    };
  });
  return { x402scan: toLookup(indexedOrigin({ resources })) };
}

const cases: readonly CheckCase[] = [
  {
    name: 'the scan runs offline',
    seen: { x402scan: { state: 'off', why: 'offline' } },
    expect: { status: 'warn', outcome: 'offline', basis: 'not_determined' },
  },
  {
    name: 'the index does not answer in time',
    seen: {
      x402scan: { state: 'failed', source: 'x402scan', detail: 'did not answer in 3000 ms' },
    },
    expect: { status: 'warn', outcome: 'unseen', basis: 'not_determined', evidence: ['3000 ms'] },
  },
  {
    name: 'the index knows no resource of the seller',
    seen: updatedDaysAgo(),
    expect: { status: 'warn', outcome: 'not-registered', evidence: ['0 resources'] },
  },
  {
    name: 'both resources have no date',
    seen: updatedDaysAgo(null, null),
    expect: { status: 'warn', outcome: 'undated', evidence: ['none of them with a date'] },
  },
  {
    name: 'both resources were updated over 90 days ago',
    seen: updatedDaysAgo(90.1, 200),
    expect: { status: 'fail', outcome: 'all-stale', evidence: ['90.1 days'] },
  },
  {
    name: 'the newer resource was updated exactly 90 days ago',
    seen: updatedDaysAgo(90, 200),
    expect: { status: 'warn', outcome: 'some-stale', evidence: ['90 days to 200 days'] },
  },
  {
    name: 'one of two resources was updated over 30 days ago',
    seen: updatedDaysAgo(1, 30.1),
    expect: { status: 'warn', outcome: 'some-stale' },
  },
  {
    name: 'one of two resources has no date',
    seen: updatedDaysAgo(1, null),
    expect: { status: 'warn', outcome: 'some-stale' },
  },
  {
    name: 'one resource was updated over 90 days ago, the other has no date',
    seen: updatedDaysAgo(120, null),
    expect: { status: 'warn', outcome: 'some-stale', evidence: ['1 without a date'] },
  },
  {
    name: 'the older resource was updated exactly 30 days ago',
    seen: updatedDaysAgo(0, 30),
    expect: { status: 'pass', outcome: 'fresh', evidence: ['at most 30 days'] },
  },
  {
    name: 'ages are counted to the time of an answer that is 20 days old',
    seen: { x402scan: toLookup(indexedOrigin(), 'x402scan', 20 * 86_400) },
    expect: { status: 'pass', outcome: 'fresh', evidence: ['480 h old'] },
  },
];

export default cases;
