/** Assets we know: decimals and EIP-712 domain, by CAIP-2 network. */

export type KnownAsset = {
  readonly network: string;
  readonly asset: string;
  readonly symbol: string;
  readonly decimals: number;
  /** Null where the network has no EIP-712 (Solana). */
  readonly domain: { readonly name: string; readonly version: string } | null;
};
