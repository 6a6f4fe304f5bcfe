/** Assets we know: decimals and EIP-712 domain, by CAIP-2 network. */
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

/** EVM addresses are one in any case; base58 is not. */
function keyOf(network: string, asset: string): string {
  return `${network} ${claimedNamespace(network) === 'eip155' ? asset.toLowerCase() : asset}`;
}
