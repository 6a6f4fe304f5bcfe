/** Assets we know: decimals and EIP-712 domain, by CAIP-2 network. */
import { DEFAULT_ASSETS } from '@x402/evm';
import { caip2, namespaceOf } from './networks.ts';

export type KnownAsset = {
  readonly network: string;
  readonly asset: string;
  readonly symbol: string;
  readonly decimals: number;
  /** Null where the network has no EIP-712 (Solana). */
  readonly domain: { readonly name: string; readonly version: string } | null;
};

/** Circle's USDC on Solana; the table of the EVM package ends at its own chains. */
const SOLANA_USDC: readonly KnownAsset[] = [
  {
    network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
    asset: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
    symbol: 'USDC',
    decimals: 6,
    domain: null,
  },
  {
    network: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
    asset: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
    symbol: 'USDC',
    decimals: 6,
    domain: null,
  },
];

const KNOWN: ReadonlyMap<string, KnownAsset> = new Map(
  [...evmAssets(), ...SOLANA_USDC].map((asset) => [keyOf(asset.network, asset.asset), asset]),
);

/** Null where we do not know the asset on that network; v1's names of networks are understood. */
export function knownAsset(network: string, asset: string): KnownAsset | null {
  return KNOWN.get(keyOf(caip2(network), asset)) ?? null;
}

/**
 * The table that the official clients and servers price with; its public export is the one place
 * where an upgrade of the package changes what is known here.
 */
function evmAssets(): readonly KnownAsset[] {
  return Object.entries(DEFAULT_ASSETS).flatMap(([network, assets]) =>
    assets.map(({ asset, symbol, decimals, name, version }) => ({
      network,
      asset,
      symbol,
      decimals,
      domain: { name, version },
    })),
  );
}

/** EVM addresses are one in any case; base58 is not. */
function keyOf(network: string, asset: string): string {
  return `${network} ${namespaceOf(network) === 'eip155' ? asset.toLowerCase() : asset}`;
}
