/** Plays sales during which an instance is stopped and woken. The same seed plays the same sales. */
import { diceOf } from '../fixtures/dice.ts';
import { checkSale, checkTotal } from './sale-promises.ts';
import type { StopRig } from './stop-rig.ts';
import { drawSale, type PlayedSale, playSale } from './stopped-sale.ts';

export type StoppedRuns = {
  readonly runs: number;
  readonly seed: number;
  onPlayed?(played: PlayedSale, run: number): void;
};

/** Returns the number of settled payments. Throws at the first broken promise. */
export async function playStoppedRuns(
  rig: StopRig,
  { runs, seed, onPlayed }: StoppedRuns,
): Promise<number> {
  const dice = diceOf(seed);
  let settled = 0;
  for (let run = 0; run < runs; run += 1) {
    const sale = drawSale(dice, run);
    try {
      const played = await playSale(rig, sale, run);
      settled += await checkSale(rig, played);
      onPlayed?.(played, run);
    } catch (error) {
      const drawn = JSON.stringify(sale);
      throw new Error(`run ${run} of seed ${seed} is broken: ${drawn}`, { cause: error });
    }
  }
  await checkTotal(rig, settled);
  return settled;
}
