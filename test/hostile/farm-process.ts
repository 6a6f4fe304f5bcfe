/** The farm in a process of its own: what its servers compute and hold is not the scanner's. */
import { FARM, startFarm } from './farm.ts';

export type FarmFacts = {
  readonly ca: string;
  readonly urls: readonly (readonly [name: string, url: string])[];
  readonly good: readonly string[];
};

const farm = await startFarm(FARM);
process.on('message', () => process.send?.({ reachedInside: farm.reachedInside() }));
process.on('disconnect', () => process.exit());
const facts: FarmFacts = { ca: farm.ca, urls: [...farm.urls], good: farm.good };
process.send?.(facts);
