/** Its own case of a lost owner: the process is killed at each step, and its client comes back to the next process. */
import { afterAll, beforeAll, describe, test } from 'vitest';
import { diagonal, playCell } from './matrix.ts';
import { playRandomKills } from './random-kills.ts';
import { Rig } from './rig.ts';

/** A short run. `npm run test:crash` runs every pair of failpoint and retry, and hundreds of kills. */
describe('the service keeps its payment promises if it is killed in the middle of a paid call', () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await Rig.open();
  });
  afterAll(() => rig?.[Symbol.asyncDispose]());

  test.each(diagonal())('at $failpoint, and the buyer retries with $retry', (cell) =>
    playCell(rig, cell),
  );

  test('at random points', () => playRandomKills(rig, { kills: 4, seed: 20260814 }), 120_000);
});
