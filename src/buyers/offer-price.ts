import type { OfferPayability } from '../model/payability.ts';
import { knownAsset } from '../parse/x402/assets.ts';
import { networkName } from '../parse/x402/networks.ts';

export type OfferPrice = {
  readonly dollars: number;
  /** "USDC on Base". */
  readonly name: string;
};

/** Null when the asset is unknown or the amount is invalid. */
export function toOfferPrice({ network, asset, amount }: OfferPayability): OfferPrice | null {
  const known = network !== null && asset !== null ? knownAsset(network, asset) : null;
  if (known === null || network === null || amount === null || !/^[0-9]{1,40}$/.test(amount)) {
    return null;
  }
  const dollars = Number(amount) / 10 ** known.decimals;
  return { dollars, name: `${known.symbol} on ${networkName(network)}` };
}

/** Formats at least two decimal places, and all that the price has: "0.01", "0.0025". */
export function money(dollars: number): string {
  const exact = dollars.toFixed(6).replace(/0+$/, '');
  const [whole = '0', parts = ''] = exact.split('.');
  return `${whole}.${parts.padEnd(2, '0')}`;
}
