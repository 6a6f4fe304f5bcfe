import type { OfferOnChain } from '../model/observations.ts';
import type { AdviceId } from '../model/report.ts';
import type { Kit } from '../parse/kit/kit.ts';

type Found = readonly [id: AdviceId, text: string];

export function chainAdvice(offers: readonly OfferOnChain[], kit: Kit): readonly Found[] {
  return offers.flatMap(({ network, asset, payTo, ...seen }): readonly Found[] => {
    const place = `${kit.quote(asset)} on ${kit.quote(network)}`;
    if (!seen.hasCode) return [['asset-without-code', `${place} has no code`]];
    const found: Found[] = [];
    if (seen.domain?.agrees === false) {
      const { named } = seen.domain;
      const right =
        named === null ? '' : `; it names ${kit.quote(named.name)}, ${kit.quote(named.version)}`;
      const text = `DOMAIN_SEPARATOR() of ${place} is not that of extra.name and extra.version`;
      found.push(['domain-differs', text + right]);
    }
    if (seen.transferReverts === true) {
      found.push(['transfer-reverts', `transfers of ${place} to ${kit.quote(payTo)} revert`]);
    }
    if (seen.noTokenAccount === true) {
      found.push(['no-token-account', `${kit.quote(payTo)} has no account of ${place}`]);
    }
    return found;
  });
}
