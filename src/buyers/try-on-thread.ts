import { createBuyers } from './buyers.ts';
import { leaveNoTrace } from './leave-no-trace.ts';
import { type SeenChallenge, type Trial, tryChallenge } from './try-challenge.ts';

const buyers = createBuyers();

/** Runs on the clients' thread. `seen` arrives frozen, and clients may mutate their input. */
export async function tryOnThread(seen: SeenChallenge): Promise<Trial> {
  return await leaveNoTrace(() => tryChallenge(structuredClone(seen), buyers));
}
