/** Lists the payees, offers and challenges that a scan asks indexes, chains and clients about. Runs on a worker. */

import { type ListedChallenges, listChallenges } from '../clients/list-challenges.ts';
import type { Observations } from '../model/observations.ts';
import type { ChainOffer, Payee } from '../model/standing.ts';
import { jsonObject, jsonText } from '../parse/json/json.ts';
import type { Kit } from '../parse/kit/kit.ts';
import type { ChallengedResource } from '../parse/x402/challenge.ts';

export type DescribedChallenges = {
  /** Recipients that indexes and chains are asked about. */
  readonly payees: readonly Payee[];
  /** Offers that chain nodes are asked about. */
  readonly chainOffers: readonly ChainOffer[];
  /** Challenges that the official clients try. */
  readonly listed: ListedChallenges;
};

export function describeChallenges(
  { resources }: Pick<Observations, 'resources'>,
  kit: Kit,
): DescribedChallenges {
  const challenged = kit.challenged(resources);
  return {
    payees: findPayees(challenged, kit),
    chainOffers: findChainOffers(challenged, kit),
    listed: listChallenges(resources, kit),
  };
}

const MAX_PAYEES = 3;

function findPayees(challenged: readonly ChallengedResource[], kit: Kit): readonly Payee[] {
  const payees = new Map<string, Payee>();
  for (const { reading } of challenged) {
    for (const { network, payTo } of reading.challenge.offers) {
      if (typeof network !== 'string' || typeof payTo !== 'string') continue;
      if (kit.address(network, payTo) !== 'ok') continue;
      payees.set(`${network} ${payTo.toLowerCase()}`, { network, address: payTo });
    }
  }
  return [...payees.values()].slice(0, MAX_PAYEES);
}

const MAX_OFFERS = 6;
const MAX_TEXT_CHARS = 200;

function findChainOffers(
  challenged: readonly ChallengedResource[],
  kit: Kit,
): readonly ChainOffer[] {
  const offers = new Map<string, ChainOffer>();
  for (const { reading } of challenged) {
    for (const { network, asset, payTo, extra } of reading.challenge.offers) {
      if (typeof network !== 'string' || typeof asset !== 'string' || typeof payTo !== 'string') {
        continue;
      }
      if (kit.address(network, asset) !== 'ok' || kit.address(network, payTo) !== 'ok') continue;
      const eip712Domain = jsonObject(extra);
      const offer = {
        network: kit.caip2(network),
        asset,
        payTo,
        name: jsonText(eip712Domain['name'])?.slice(0, MAX_TEXT_CHARS) ?? null,
        version: jsonText(eip712Domain['version'])?.slice(0, MAX_TEXT_CHARS) ?? null,
        isKnown: kit.asset(network, asset) !== null,
      };
      if (offers.size < MAX_OFFERS) offers.set(JSON.stringify(offer), offer);
    }
  }
  return [...offers.values()];
}
