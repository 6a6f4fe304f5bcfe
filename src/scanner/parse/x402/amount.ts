import type { JsonValue } from '../json/json.ts';
import { findOfferAsset } from './assets.ts';
import { BASE_UNITS } from './namespaces.ts';
import { isTestnet } from './networks.ts';
import type { SchemeRow } from './scheme-row.ts';
import { hasOtherContract, type MethodTerms, SCHEMES } from './schemes.ts';

/** `price`: the buyer pays the amount. `ceiling`: the buyer pays at most the amount. */
type AmountKind = SchemeRow['amount'];

/** Returns base units; null for an invalid amount. */
export function parseAmount(value: JsonValue | undefined): bigint | null {
  return typeof value === 'string' && BASE_UNITS.test(value) ? BigInt(value) : null;
}

/** Returns null for an unknown scheme. All networks of a scheme have one kind. */
export function findAmountKind(scheme: JsonValue | undefined): AmountKind | null {
  return SCHEMES.find((row) => row.scheme === scheme)?.amount ?? null;
}

type PriceTerms = Readonly<Record<'network' | 'asset' | 'amount', JsonValue | undefined>>;

/** Returns the amount and one dollar in base units of the asset; null for an unknown asset or an invalid amount. */
export function toDollarUnits({ network, asset, amount }: PriceTerms) {
  const knownAsset = findOfferAsset({ network, asset });
  const units = parseAmount(amount);
  if (knownAsset === null || units === null) return null;
  // One token of each known asset is worth a dollar.
  const { decimals, symbol } = knownAsset;
  return { amount: units, dollar: 10n ** BigInt(decimals), decimals, symbol };
}

/**
 * Returns true for less than 0.001 USD. The CDP facilitator does not settle smaller amounts (x402 issue 1171). An offer
 * for another contract than its token has another minimum (Circle Gateway: 0.000001 USD), and returns false.
 */
export function isUnderMinimum(terms: PriceTerms & MethodTerms): boolean {
  const units = hasOtherContract(terms) ? null : toDollarUnits(terms);
  return units !== null && units.amount * 1_000n < units.dollar;
}

/** "$10,000.00", "$0.0001"; null as in `toDollarUnits`. Every decimal is shown: a mistake of decimals must be visible. */
export function formatInDollars(terms: PriceTerms): string | null {
  const units = toDollarUnits(terms);
  if (units === null) return null;
  const [whole = '0', fraction = ''] = toDecimal(units.amount, units.decimals).split('.');
  return `$${groupThousands(whole)}.${fraction.padEnd(2, '0')}`;
}

/** "10000" is "10,000". */
export function groupThousands(digits: string): string {
  return digits.replace(/\B(?=(?:\d{3})+$)/g, ',');
}

/** Formats the price for people, "0.05 USDC". `price` and `decimals` are null for an unknown asset. */
export function toPrice(terms: PriceTerms) {
  const units = toDollarUnits(terms);
  return {
    price: units === null ? null : `${toDecimal(units.amount, units.decimals)} ${units.symbol}`,
    isTestnet: isTestnet(terms.network),
    decimals: units?.decimals ?? null,
  };
}

/** 50000n with 6 decimals is "0.05". */
export function toDecimal(amount: bigint, decimals: number): string {
  const digits = amount.toString().padStart(decimals + 1, '0');
  const pointIndex = digits.length - decimals;
  const whole = digits.slice(0, pointIndex);
  const fraction = digits.slice(pointIndex).replace(/0+$/, '');
  return fraction === '' ? whole : `${whole}.${fraction}`;
}
