/** Fetches at once, in turn by block of addresses. */
import { expect, test } from 'vitest';
import { createFetchTurns, type FetchTurn } from '../../src/directory/fetch-turns.ts';
import { ManualClock } from './manual-clock.ts';

const HOUR_MS = 3_600_000;

/** One fetch at a time, so that the order is what is seen. */
function startTurns(atOnce = 1) {
  const clock = new ManualClock();
  const turns = createFetchTurns(clock.now, atOnce);
  const order: string[] = [];
  const running: FetchTurn[] = [];
  return {
    clock,
    order,
    enter(name: string, ...blocks: string[]): Set<string> {
      const mine = new Set(blocks);
      void turns.enter(mine).then((turn) => {
        order.push(name);
        running.push(turn);
      });
      return mine;
    },
    async endNext(handshakeMs = 0): Promise<void> {
      await Promise.resolve();
      running.shift()?.end(handshakeMs);
      await Promise.resolve();
    },
  };
}

test('a block that asks for many waits behind one that asks for one', async () => {
  const { enter, endNext, order } = startTurns();
  for (const n of [1, 2, 3, 4]) enter(`flood ${n}`, 'flood');
  enter('owner', 'home');
  for (let n = 0; n < 5; n += 1) await endNext();
  expect(order).toEqual(['flood 1', 'owner', 'flood 2', 'flood 3', 'flood 4']);
});

test('a block that spent a second on handshakes within the hour goes behind all others', async () => {
  const { enter, endNext, order, clock } = startTurns();
  enter('costly 1', 'hostile');
  await endNext(999);
  enter('a', 'home');
  enter('b', 'home');
  enter('costly 2', 'hostile');
  await endNext();
  await endNext(1);
  for (const name of ['c', 'd']) enter(name, 'home');
  enter('costly 3', 'hostile');
  for (let n = 0; n < 4; n += 1) await endNext();
  expect(order).toEqual(['costly 1', 'a', 'costly 2', 'b', 'c', 'd', 'costly 3']);

  clock.advance(HOUR_MS);
  enter('e', 'home');
  enter('f', 'home');
  enter('forgiven', 'hostile');
  for (let n = 0; n < 3; n += 1) await endNext();
  expect(order.slice(-3)).toEqual(['e', 'forgiven', 'f']);
});

test('work that several blocks wait for has the best place that one of them gives', async () => {
  const { enter, endNext, order } = startTurns();
  enter('first', 'hostile');
  await endNext(5_000);
  enter('running', 'home');
  enter('others', 'home');
  const joined = enter('shared', 'hostile');
  joined.add('office');
  for (let n = 0; n < 3; n += 1) await endNext();
  expect(order).toEqual(['first', 'running', 'shared', 'others']);
});
