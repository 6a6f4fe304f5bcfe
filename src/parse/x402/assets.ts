import { KNOWN_ASSETS } from './known-assets.ts';
import { caip2, claimedNamespace } from './networks.ts';

export type KnownAsset = {
  readonly network: string;
  readonly asset: string;
  readonly symbol: string;
  readonly decimals: number;
  /** Null where the network has no EIP-712 (Solana). */
  readonly domain: { readonly name: string; readonly version: string } | null;
};

const KNOWN: ReadonlyMap<string, KnownAsset> = new Map(
  KNOWN_ASSETS.map(([network, asset, symbol, decimals, domain]) => [
    keyOf(network, asset),
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
 * Null where we do not know the asset on that network; v1's names of networks are understood. The
 * table is the one that the official clients and servers price with, and pay by default.
 */
export function knownAsset(network: string, asset: string): KnownAsset | null {
  return KNOWN.get(keyOf(caip2(network), asset)) ?? null;
}

const BY_ASSET: ReadonlyMap<string, readonly KnownAsset[]> = Map.groupBy(
  KNOWN.values(),
  ({ network, asset }) => keyOf(claimedNamespace(network) ?? '', asset),
);

/**
 * The token of another network whose address an offer names: on this one it is another token, or
 * none. Null where the asset is known here, or nowhere in the namespace. On EVM chains Circle's USDC
 * alone is told: others are deployed at one address on many chains, some of which no table here has.
 */
export function assetOfOtherNetwork(network: string, asset: string): KnownAsset | null {
  const here = caip2(network);
  const namespace = claimedNamespace(here);
  if (namespace === null || knownAsset(here, asset) !== null) return null;
  const known = BY_ASSET.get(keyOf(namespace, asset)) ?? [];
  const [first] = known;
  if (first === undefined) return null;
  const isOnOneChain = known.length === 1 && first.symbol === 'USDC';
  return namespace === 'eip155' && !isOnOneChain ? null : first;
}

/** EVM addresses are one in any case; base58 is not. */
function keyOf(network: string, asset: string): string {
  return `${network} ${/^eip155(?::|$)/.test(network) ? asset.toLowerCase() : asset}`;
}
