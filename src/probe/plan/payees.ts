/** Recipients that the origin's challenges name; pure, runs on a worker. */

import type { ResourceSet } from '../../model/observations.ts';
import type { Payee } from '../../model/standing.ts';
import { createKit } from '../../parse/kit/create-kit.ts';

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
