import { expect, test } from 'vitest';
import { lookUpHedged, type SourceLookup } from '../../src/indexes/settlements.ts';
import type { Lookup } from '../../src/model/observations.ts';

const LONG_WAIT_MS = 3_600_000;
const SHORT_WAIT_MS = 1;

function seen(data: number): Lookup<number> {
  return { state: 'seen', source: 's', asOf: '2026-08-20T12:00:00.000Z', ageSec: 0, data };
}
const FAILED_LOOKUP: Lookup<number> = { state: 'failed', source: 's', detail: 'down' };
const isEnough = (lookup: Lookup<number>) => lookup.state === 'seen' && lookup.data > 0;

/** One source for each lookup. `asked` holds the indexes of the sources that were asked, in order. */
function createSources(lookups: readonly (Lookup<number> | 'never')[]) {
  const asked: number[] = [];
  const sources = lookups.map(
    (lookup, index): SourceLookup<number> =>
      () => {
        asked.push(index);
        return lookup === 'never' ? new Promise(() => {}) : Promise.resolve(lookup);
      },
  );
  return { asked, sources };
}

test('no source after the first sufficient one is asked', async () => {
  const { sources, asked } = createSources([FAILED_LOOKUP, seen(0), seen(5), seen(9)]);
  expect(await lookUpHedged(sources, isEnough, LONG_WAIT_MS)).toEqual([
    FAILED_LOOKUP,
    seen(0),
    seen(5),
  ]);
  expect(asked).toEqual([0, 1, 2]);
});

test('all sources are asked if none is sufficient', async () => {
  const { sources } = createSources([seen(0), FAILED_LOOKUP]);
  expect(await lookUpHedged(sources, isEnough, LONG_WAIT_MS)).toEqual([seen(0), FAILED_LOOKUP]);
  expect(await lookUpHedged([], isEnough)).toEqual([]);
});

test('the next source is asked while a slow one is still silent, and the slow one keeps its rank', async () => {
  let answer = (_: Lookup<number>) => {};
  const slow: SourceLookup<number> = () =>
    new Promise((resolve) => {
      answer = resolve;
    });
  const { sources, asked } = createSources([seen(9)]);
  const lookups = lookUpHedged([slow, ...sources], isEnough, SHORT_WAIT_MS);
  await expect.poll(() => asked).toEqual([0]);
  answer(seen(5));
  expect(await lookups).toEqual([seen(5)]);
});

test('the next source counts if a slow one fails', async () => {
  let answer = (_: Lookup<number>) => {};
  const slow: SourceLookup<number> = () =>
    new Promise((resolve) => {
      answer = resolve;
    });
  const { sources, asked } = createSources([seen(9), 'never']);
  const lookups = lookUpHedged([slow, ...sources], isEnough, SHORT_WAIT_MS);
  await expect.poll(() => asked).toEqual([0]);
  answer(FAILED_LOOKUP);
  expect(await lookups).toEqual([FAILED_LOOKUP, seen(9)]);
});
