import { KNOWN_ASSETS } from './known-assets.ts';
import { findClaimedNamespace, toCaip2 } from './networks.ts';

export type KnownAsset = {
  readonly network: string;
  readonly asset: string;
  readonly symbol: string;
  readonly decimals: number;
  /** Null on networks without EIP-712 (Solana). */
  readonly domain: { readonly name: string; readonly version: string } | null;
};

const KNOWN: ReadonlyMap<string, KnownAsset> = new Map(
  KNOWN_ASSETS.map(([network, asset, symbol, decimals, domain]) => [
    toKey(network, asset),
    {
      network,
      asset,
      symbol,
      decimals,
      domain: domain === null ? null : { name: domain[0], version: domain[1] },
    },
  ]),
);

/**
 * Null when the asset is unknown on that network; v1's names of networks are accepted. The official
 * clients and servers price with the same table.
 */
export function findKnownAsset(network: string, asset: string): KnownAsset | null {
  return KNOWN.get(toKey(toCaip2(network), asset)) ?? null;
}

const BY_ASSET: ReadonlyMap<string, readonly KnownAsset[]> = Map.groupBy(
  KNOWN.values(),
  ({ network, asset }) => toKey(findClaimedNamespace(network) ?? '', asset),
);

/**
 * Finds the network on which the offer's address is a known token, so that this one has another token
 * there, or none. Null when the asset is known here, or nowhere in the namespace. On EVM chains only
 * Circle's USDC is reported: other tokens share one address on many chains, some of them unknown to this
 * table.
 */
export function assetOfOtherNetwork(network: string, asset: string): KnownAsset | null {
  const here = toCaip2(network);
  const namespace = findClaimedNamespace(here);
  if (namespace === null || findKnownAsset(here, asset) !== null) return null;
  const known = BY_ASSET.get(toKey(namespace, asset)) ?? [];
  const [first] = known;
  if (first === undefined) return null;
  const isOnOneChain = known.length === 1 && first.symbol === 'USDC';
  return namespace === 'eip155' && !isOnOneChain ? null : first;
}

/** EVM addresses are compared in lower case; base58 is case-sensitive. */
function toKey(network: string, asset: string): string {
  return `${network} ${/^eip155(?::|$)/.test(network) ? asset.toLowerCase() : asset}`;
}
