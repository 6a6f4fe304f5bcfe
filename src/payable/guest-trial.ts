/**
 * A trial as a guest of the thread that judges: closes the network and loads the packages, as the
 * clients' own thread does.
 */
import './no-network.ts';
import './no-pollution.ts';
import './lean-viem.ts';
import type { SeenChallenge, Trial } from './try-challenge.ts';

// Imported late: the network must be closed before any package keeps a reference to it.
const { createBuyers } = await import('./buyers.ts');
const { tryChallenge } = await import('./try-challenge.ts');
const buyers = createBuyers();
await buyers('full', false);

/** `seen` arrives frozen, and clients may write into what they read. */
export async function tryAsGuest(seen: SeenChallenge): Promise<Trial> {
  return await tryChallenge(structuredClone(seen), buyers);
}
