import { afterAll, beforeAll, describe, test } from 'vitest';
import { diagonal, playCell } from './matrix.ts';
import { playRandomKills } from './random-kills.ts';
import { Rig } from './rig.ts';

/** The short run; `npm run test:crash` has every pair and hundreds of kills. */
describe('killed in the middle of a paid call, the service keeps its promises', () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await Rig.open();
  });
  afterAll(() => rig?.[Symbol.asyncDispose]());

  test.each(diagonal())('at $failpoint; $retry', (cell) => playCell(rig, cell));

  test('at random points', () => playRandomKills(rig, { kills: 4, seed: 20260814 }), 120_000);
});
