/** Recipients that the origin's challenges name, and offers to ask a node about; pure, runs on a worker. */

import type { ResourceSet } from '../../model/observations.ts';
import type { ChainOffer, Payee } from '../../model/standing.ts';
import { jsonObject, jsonText } from '../../parse/json/json.ts';
import { createKit } from '../../parse/kit/kit.ts';

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

const MAX_OFFERS = 6;
const MAX_TEXT_CHARS = 200;

export function findChainOffers(resources: ResourceSet): readonly ChainOffer[] {
  const kit = createKit();
  const offers = new Map<string, ChainOffer>();
  for (const { reading } of kit.challenged(resources)) {
    for (const { network, asset, payTo, extra } of reading.challenge.offers) {
      if (typeof network !== 'string' || typeof asset !== 'string' || typeof payTo !== 'string') {
        continue;
      }
      if (kit.address(network, asset) !== 'ok' || kit.address(network, payTo) !== 'ok') continue;
      const named = jsonObject(extra);
      const offer = {
        network: kit.caip2(network),
        asset,
        payTo,
        name: jsonText(named['name'])?.slice(0, MAX_TEXT_CHARS) ?? null,
        version: jsonText(named['version'])?.slice(0, MAX_TEXT_CHARS) ?? null,
        isKnown: kit.asset(network, asset) !== null,
      };
      if (offers.size < MAX_OFFERS) offers.set(JSON.stringify(offer), offer);
    }
  }
  return [...offers.values()];
}
