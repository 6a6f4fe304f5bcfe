import { expect, test } from 'vitest';
import { lookUpHedged, type StartLookup } from '../../../src/scanner/indexes/settlements.ts';
import type { Lookup } from '../../../src/scanner/model/observations.ts';

const LONG_WAIT_MS = 3_600_000;
const SHORT_WAIT_MS = 1;

function createSeenLookup(data: number): Lookup<number> {
  return { state: 'seen', source: 's', asOf: '2026-08-20T12:00:00.000Z', ageSec: 0, data };
}
const FAILED_LOOKUP: Lookup<number> = { state: 'failed', source: 's', detail: 'down' };
const isEnough = (lookup: Lookup<number>) => lookup.state === 'seen' && lookup.data > 0;

/** Creates one source for each lookup. `askedIndexes` holds the indexes of the sources that were asked, in order. */
function createSources(lookups: readonly (Lookup<number> | 'never')[]) {
  const askedIndexes: number[] = [];
  const sources = lookups.map(
    (lookup, index): StartLookup<number> =>
      () => {
        askedIndexes.push(index);
        return lookup === 'never' ? new Promise(() => {}) : Promise.resolve(lookup);
      },
  );
  return { askedIndexes, sources };
}

test('no source is asked after a source whose answer is enough', async () => {
  const { sources, askedIndexes } = createSources([
    FAILED_LOOKUP,
    createSeenLookup(0),
    createSeenLookup(5),
    createSeenLookup(9),
  ]);
  expect(await lookUpHedged(sources, isEnough, LONG_WAIT_MS)).toEqual([
    FAILED_LOOKUP,
    createSeenLookup(0),
    createSeenLookup(5),
  ]);
  expect(askedIndexes).toEqual([0, 1, 2]);
});

test('all sources are asked if no answer is enough', async () => {
  const { sources } = createSources([createSeenLookup(0), FAILED_LOOKUP]);
  expect(await lookUpHedged(sources, isEnough, LONG_WAIT_MS)).toEqual([
    createSeenLookup(0),
    FAILED_LOOKUP,
  ]);
  expect(await lookUpHedged([], isEnough)).toEqual([]);
});

test.each<readonly [string, Lookup<number>, readonly Lookup<number>[]]>([
  [
    'a late answer of the slow source still comes first',
    createSeenLookup(5),
    [createSeenLookup(5)],
  ],
  [
    'its answer counts if the slow source fails',
    FAILED_LOOKUP,
    [FAILED_LOOKUP, createSeenLookup(9)],
  ],
])('the next source is asked while a slow source is silent, and %s', async (_, late, expected) => {
  const { promise, resolve } = Promise.withResolvers<Lookup<number>>();
  const { sources, askedIndexes } = createSources([createSeenLookup(9), 'never']);
  const lookups = lookUpHedged([() => promise, ...sources], isEnough, SHORT_WAIT_MS);
  await expect.poll(() => askedIndexes).toEqual([0]);
  resolve(late);
  expect(await lookups).toEqual(expected);
});
