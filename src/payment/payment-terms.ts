import type { Address } from 'viem';

/** CAIP-2 name of an EVM chain. */
export type EvmNetwork = `eip155:${number}`;

/** What the service charges in, and where it goes; the same on every route. */
export interface PaymentTerms {
  readonly network: EvmNetwork;
  /** Contract of the token, which must know EIP-3009. */
  readonly asset: Address;
  /** EIP-712 domain of the token, as its contract states it. */
  readonly assetName: string;
  readonly assetVersion: string;
  readonly payTo: Address;
}

/** The seven members of an entry of `accepts`, and no other: official clients refuse more. */
export interface Requirements {
  readonly scheme: 'exact';
  readonly network: EvmNetwork;
  readonly asset: Address;
  /** Base units, as a decimal string. */
  readonly amount: string;
  readonly payTo: Address;
  readonly maxTimeoutSeconds: number;
  readonly extra: { readonly name: string; readonly version: string };
}

export function chainIdOf(network: EvmNetwork): number {
  return Number(network.slice('eip155:'.length));
}
