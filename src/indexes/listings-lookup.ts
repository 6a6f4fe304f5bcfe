import type { BazaarListings, Lookup } from '../model/observations.ts';
import type { Payee } from '../model/standing.ts';
import { isSameAddress } from './compare.ts';

const NO_RECIPIENT = {
  state: 'failed',
  source: 'Bazaar',
  detail: 'asked by recipient, and this origin names none',
} as const;

/** Asks the Bazaar about every recipient; a failed request leaves the list incomplete. */
export async function listingsLookup(
  payees: readonly Payee[],
  ask: (payee: Payee) => Promise<Lookup<BazaarListings>>,
): Promise<Lookup<BazaarListings>> {
  const addresses = payees.filter(
    (payee, index) =>
      payees.findIndex(({ address }) => isSameAddress(address, payee.address)) === index,
  );
  const lookups = await Promise.all(addresses.map(ask));
  const answered = lookups.filter((lookup) => lookup.state === 'seen');
  const [oldest] = answered.toSorted((one, other) => other.ageSec - one.ageSec);
  if (oldest === undefined) return lookups[0] ?? NO_RECIPIENT;
  return {
    ...oldest,
    data: {
      resources: answered.flatMap(({ data }) => data.resources),
      isComplete:
        answered.length === lookups.length && answered.every(({ data }) => data.isComplete),
    },
  };
}
