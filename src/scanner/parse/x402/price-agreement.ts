import { type StatedPrice, type StatedUnits, toBaseUnits } from '../text/stated-price.ts';
import { parseAmount } from './amount.ts';
import { findAssetOfOtherNetwork, findOfferAsset, type KnownAsset } from './assets.ts';
import type { Offer } from './challenge.ts';
import { isSameAddress } from './namespaces.ts';
import { suggestNetwork } from './networks.ts';

/**
 * Compares the amount of an offer with a price that a document states. If readers differ about the unit, the price
 * agrees if the amount fits one of the two readings. Returns null if the two cannot be compared.
 */
export function agreesWithPrice({ dollars, units }: StatedPrice, offer: Offer): boolean | null {
  const live = parseAmount(offer.amount);
  if (live === null) return null;
  const byDollars = compareDollars(dollars, offer, live);
  const byUnits = units === null ? null : compareUnits(units, offer, live);
  if (units?.mayBeDollars === true) {
    if (byUnits === true || byDollars === true) return true;
    // The amount may still be in dollars, if the decimals of the token are unknown.
    return byDollars === null ? null : false;
  }
  if (units === null || byDollars !== null) return byDollars;
  // Dollars cannot be compared with a token of unknown decimals. Then only equal base units prove something.
  return dollars === null || byUnits === true ? byUnits : null;
}

/**
 * Finds the token whose decimals the amount of an offer has; null if it is unknown. If the network is misspelt, or does
 * not have the token, P3 reports that fault. The price can be compared all the same.
 */
export function findPricedAsset(offer: Pick<Offer, 'network' | 'asset'>): KnownAsset | null {
  const { asset } = offer;
  const network = suggestNetwork(offer.network, 2) ?? offer.network;
  if (typeof network !== 'string' || typeof asset !== 'string') return null;
  return (
    findOfferAsset(offer) ??
    findOfferAsset({ network, asset }) ??
    findAssetOfOtherNetwork(network, asset)
  );
}

function compareDollars(dollars: string | null, offer: Offer, live: bigint): boolean | null {
  const asset = findPricedAsset(offer);
  if (dollars === null || asset === null) return null;
  const units = toBaseUnits(dollars, asset.decimals);
  return units === null ? null : units === live;
}

/** Returns null for an offer in another token. */
function compareUnits({ amount, asset }: StatedUnits, offer: Offer, live: bigint): boolean | null {
  if (asset !== null && !isAssetOf(asset, offer)) return null;
  return BigInt(amount) === live;
}

/** The document names the token by its address, by its symbol, or by a CAIP-19 id that ends with its address. */
function isAssetOf(asset: string, offer: Offer): boolean {
  const address = typeof offer.asset === 'string' ? offer.asset : '';
  const last = asset.slice(Math.max(asset.lastIndexOf(':'), asset.lastIndexOf('/')) + 1);
  const symbol = findOfferAsset(offer)?.symbol.toLowerCase();
  return isSameAddress(last, address) || asset.toLowerCase() === symbol;
}
