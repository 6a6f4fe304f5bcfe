/** Recipients that the origin's challenges name; pure, runs on a worker. */
import { createKit } from '../../engine/create-kit.ts';
import type { ResourceSet } from '../observations.ts';
import type { Payee } from '../standing.ts';

const MAX_PAYEES = 3;

export function findPayees(resources: ResourceSet): readonly Payee[] {
  const kit = createKit();
  const payees = new Map<string, Payee>();
  for (const { reading } of kit.challenged(resources)) {
    for (const { network, payTo } of reading.challenge.offers) {
      if (typeof network !== 'string' || typeof payTo !== 'string') continue;
      const form = kit.address(network, payTo);
      if (form === 'ok')
        payees.set(`${network} ${payTo.toLowerCase()}`, { network, address: payTo });
    }
  }
  return [...payees.values()].slice(0, MAX_PAYEES);
}
