import type { ResourcePayability } from '../model/payability.ts';
import type { Asked } from './asked.ts';
import { toPrice } from './read-terms.ts';
import type { Preflight } from './result.ts';
import { verdictOn } from './verdict.ts';

/**
 * Answers without a request, from a stored report. Null when it lacks this method and path. Its terms
 * name no recipient.
 */
export function storedPreflight(
  { method, path, origin, maxPrice }: Asked,
  payability: readonly ResourcePayability[] | null,
): Preflight | null {
  const known = payability?.find((one) => one.method === method && one.path === path);
  if (known === undefined) return null;
  const offers = known.offers.map(({ pointer, scheme, network, asset, amount }) => ({
    pointer,
    scheme,
    network,
    asset,
    amount,
    payTo: null,
    maxTimeoutSeconds: null,
    ...toPrice(network ?? undefined, asset ?? undefined, amount ?? undefined),
  }));
  const terms = { x402Version: null, resourceUrl: null, offers, digest: null };
  return verdictOn({ terms, payability: known, schema: null }, { origin, maxPrice });
}
