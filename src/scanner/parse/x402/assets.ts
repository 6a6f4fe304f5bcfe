import type { JsonValue } from '../json/json.ts';
import type { Offer } from './challenge.ts';
import { KNOWN_ASSETS } from './known-assets.ts';
import { findClaimedNamespace, toCaip2 } from './networks.ts';

export type KnownAsset = {
  readonly network: string;
  readonly asset: string;
  readonly symbol: string;
  readonly decimals: number;
  /** The EIP-712 domain of the token; null on networks without EIP-712, such as Solana. */
  readonly domain: { readonly name: string; readonly version: string } | null;
};

const ASSETS_BY_KEY: ReadonlyMap<string, KnownAsset> = new Map(
  KNOWN_ASSETS.map(([network, asset, symbol, decimals, names]) => {
    const domain = names === null ? null : { name: names[0], version: names[1] };
    return [toKey(network, asset), { network, asset, symbol, decimals, domain }];
  }),
);

/**
 * Returns null if the asset is unknown on that network. `network` may be a v1 name. Official clients and servers use
 * the same table of assets.
 */
export function findKnownAsset(network: string, asset: string): KnownAsset | null {
  return ASSETS_BY_KEY.get(toKey(toCaip2(network), asset)) ?? null;
}

/** Lists the known assets of a network in the order of the table; without an argument, all of them. */
export function listKnownAssets(network?: JsonValue): readonly KnownAsset[] {
  const all = [...ASSETS_BY_KEY.values()];
  return network === undefined ? all : all.filter((asset) => asset.network === toCaip2(network));
}

/** Returns null if network or asset is not a text, or if the asset is unknown on the network. */
export function findOfferAsset({ network, asset }: Pick<Offer, 'network' | 'asset'>) {
  const areTexts = typeof network === 'string' && typeof asset === 'string';
  return areTexts ? findKnownAsset(network, asset) : null;
}

const ASSETS_BY_NAMESPACE: ReadonlyMap<string, readonly KnownAsset[]> = Map.groupBy(
  ASSETS_BY_KEY.values(),
  // A network of the table always has a namespace.
  ({ network, asset }) => toKey(findClaimedNamespace(network) ?? '', asset),
);

/**
 * Finds a known token that has this address on another network of the namespace. The offer then names the wrong
 * network or the wrong token. Returns null if the asset is known on the network itself, or on no network. On EVM
 * chains it finds only USDC, because other tokens have one address on many chains that the table does not list.
 */
export function findAssetOfOtherNetwork(network: string, asset: string): KnownAsset | null {
  const caip2 = toCaip2(network);
  const namespace = findClaimedNamespace(caip2);
  if (namespace === null || findKnownAsset(caip2, asset) !== null) return null;
  const assets = ASSETS_BY_NAMESPACE.get(toKey(namespace, asset)) ?? [];
  const [first] = assets;
  if (first === undefined) return null;
  const isUsdcOfOneChain = assets.length === 1 && first.symbol === 'USDC';
  return namespace === 'eip155' && !isUsdcOfOneChain ? null : first;
}

/** The key of an EVM asset is in lower case. Other addresses are case-sensitive. */
function toKey(network: string, asset: string): string {
  return `${network} ${/^eip155(?::|$)/.test(network) ? asset.toLowerCase() : asset}`;
}
