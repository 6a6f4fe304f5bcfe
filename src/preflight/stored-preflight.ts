import type { OtherWay } from '../model/payability.ts';
import type { ScanReport } from '../model/report.ts';
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
  { payability, otherWays = [] }: Pick<ScanReport, 'payability' | 'otherWays'>,
): Preflight | null {
  const isAsked = (one: Pick<OtherWay, 'method' | 'path'>) =>
    one.method === method && one.path === path;
  const known = payability?.find(isAsked);
  const ways = otherWays.filter(isAsked);
  if (known === undefined || (known.offers.length === 0 && ways.length > 0)) {
    if (ways.length === 0) return null;
    const judged = { terms: null, otherWays: ways, payability: null, schema: null };
    return verdictOn(judged, { origin, maxPrice });
  }
  const offers = known.offers.map(({ pointer, scheme, network, asset, amount }) => ({
    pointer,
    scheme,
    network,
    asset,
    amount,
    payTo: null,
    maxTimeoutSeconds: null,
    isUpfront: false,
    ...toPrice(network ?? undefined, asset ?? undefined, amount ?? undefined),
  }));
  const terms = { x402Version: null, resourceUrl: null, offers, digest: null };
  return verdictOn(
    { terms, otherWays: ways, payability: known, schema: null },
    { origin, maxPrice },
  );
}
