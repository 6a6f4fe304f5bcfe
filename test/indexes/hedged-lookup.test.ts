import { expect, test } from 'vitest';
import { lookUpHedged, type SourceLookup } from '../../src/indexes/settlements.ts';
import type { Lookup } from '../../src/model/observations.ts';

const LATER_MS = 3_600_000;
const AT_ONCE_MS = 1;

function seen(data: number): Lookup<number> {
  return { state: 'seen', source: 's', asOf: '2026-08-20T12:00:00.000Z', ageSec: 0, data };
}
const FAILED: Lookup<number> = { state: 'failed', source: 's', detail: 'down' };
const isEnough = (lookup: Lookup<number>) => lookup.state === 'seen' && lookup.data > 0;

/** Turns that answer with these lookups, and which of them were asked. */
function turnsOf(lookups: readonly (Lookup<number> | 'never')[]) {
  const asked: number[] = [];
  const turns = lookups.map(
    (lookup, index): SourceLookup<number> =>
      () => {
        asked.push(index);
        return lookup === 'never' ? new Promise(() => {}) : Promise.resolve(lookup);
      },
  );
  return { asked, turns };
}

test('no source after the first sufficient one is asked', async () => {
  const { turns, asked } = turnsOf([FAILED, seen(0), seen(5), seen(9)]);
  expect(await lookUpHedged(turns, isEnough, LATER_MS)).toEqual([FAILED, seen(0), seen(5)]);
  expect(asked).toEqual([0, 1, 2]);
});

test('all sources are asked if none is sufficient', async () => {
  const { turns } = turnsOf([seen(0), FAILED]);
  expect(await lookUpHedged(turns, isEnough, LATER_MS)).toEqual([seen(0), FAILED]);
  expect(await lookUpHedged([], isEnough)).toEqual([]);
});

test('the next source is asked without waiting for a slow one, which keeps its rank', async () => {
  let answer = (_: Lookup<number>) => {};
  const slow: SourceLookup<number> = () =>
    new Promise((resolve) => {
      answer = resolve;
    });
  const { turns, asked } = turnsOf([seen(9)]);
  const lookups = lookUpHedged([slow, ...turns], isEnough, AT_ONCE_MS);
  await expect.poll(() => asked).toEqual([0]);
  answer(seen(5));
  expect(await lookups).toEqual([seen(5)]);
});

test('a slow source without a sufficient answer gives way to the next', async () => {
  let answer = (_: Lookup<number>) => {};
  const slow: SourceLookup<number> = () =>
    new Promise((resolve) => {
      answer = resolve;
    });
  const { turns, asked } = turnsOf([seen(9), 'never']);
  const lookups = lookUpHedged([slow, ...turns], isEnough, AT_ONCE_MS);
  await expect.poll(() => asked).toEqual([0]);
  answer(FAILED);
  expect(await lookups).toEqual([FAILED, seen(9)]);
});
