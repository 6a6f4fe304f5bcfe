import { expect, test } from 'vitest';
import { lookInTurn, type Turn } from '../../src/ecosystem/look-in-turn.ts';
import type { Look } from '../../src/model/observations.ts';

const LATER_MS = 3_600_000;
const AT_ONCE_MS = 1;

function seen(data: number): Look<number> {
  return { state: 'seen', source: 's', asOf: '2026-08-20T12:00:00.000Z', ageSec: 0, data };
}
const FAILED: Look<number> = { state: 'failed', source: 's', detail: 'down' };
const isEnough = (look: Look<number>) => look.state === 'seen' && look.data > 0;

/** Turns that answer with these looks, and which of them were asked. */
function turnsOf(looks: readonly (Look<number> | 'never')[]) {
  const asked: number[] = [];
  const turns = looks.map(
    (look, index): Turn<number> =>
      () => {
        asked.push(index);
        return look === 'never' ? new Promise(() => {}) : Promise.resolve(look);
      },
  );
  return { asked, turns };
}

test('nobody after the first that is enough is asked', async () => {
  const { turns, asked } = turnsOf([FAILED, seen(0), seen(5), seen(9)]);
  expect(await lookInTurn(turns, isEnough, LATER_MS)).toEqual([FAILED, seen(0), seen(5)]);
  expect(asked).toEqual([0, 1, 2]);
});

test('all are asked where none is enough', async () => {
  const { turns } = turnsOf([seen(0), FAILED]);
  expect(await lookInTurn(turns, isEnough, LATER_MS)).toEqual([seen(0), FAILED]);
  expect(await lookInTurn([], isEnough)).toEqual([]);
});

test('a slow one is not waited for before the next is asked, and keeps its rank', async () => {
  let answer = (_: Look<number>) => {};
  const slow: Turn<number> = () =>
    new Promise((resolve) => {
      answer = resolve;
    });
  const { turns, asked } = turnsOf([seen(9)]);
  const looks = lookInTurn([slow, ...turns], isEnough, AT_ONCE_MS);
  await expect.poll(() => asked).toEqual([0]);
  answer(seen(5));
  expect(await looks).toEqual([seen(5)]);
});

test('a slow one that does not help leaves the word to the next', async () => {
  let answer = (_: Look<number>) => {};
  const slow: Turn<number> = () =>
    new Promise((resolve) => {
      answer = resolve;
    });
  const { turns, asked } = turnsOf([seen(9), 'never']);
  const looks = lookInTurn([slow, ...turns], isEnough, AT_ONCE_MS);
  await expect.poll(() => asked).toEqual([0]);
  answer(FAILED);
  expect(await looks).toEqual([FAILED, seen(9)]);
});
