import type { JsonValue } from '../json/json.ts';
import { findKnownAsset } from './assets.ts';
import { isTestnet } from './networks.ts';
import type { SchemeRow } from './scheme-row.ts';
import { SCHEMES } from './schemes.ts';

/** Positive whole base units in the specification's form: text without sign or leading zeroes. */
const AMOUNT = /^[1-9][0-9]{0,77}$/;

/** `price`: the buyer pays the amount. `ceiling`: the buyer pays at most the amount. */
export type AmountKind = SchemeRow['amount'];

/** A scheme has one meaning on all its networks. */
const KINDS: ReadonlyMap<JsonValue | undefined, AmountKind> = new Map(
  SCHEMES.map(({ scheme, amount }) => [scheme, amount]),
);

/** Null for an invalid amount. */
export function parseAmount(value: JsonValue | undefined): bigint | null {
  return typeof value === 'string' && AMOUNT.test(value) ? BigInt(value) : null;
}

/** Null for an unknown scheme. */
export function findAmountKind(scheme: JsonValue | undefined): AmountKind | null {
  return KINDS.get(scheme) ?? null;
}

type Price = Readonly<Record<'network' | 'asset' | 'amount', JsonValue | undefined>>;

/** An offer's amount and a dollar in its base units: every known asset is worth a dollar. Null for others. */
export function toDollarUnits({ network, asset, amount }: Price) {
  if (typeof network !== 'string' || typeof asset !== 'string') return null;
  const known = findKnownAsset(network, asset);
  const parts = parseAmount(amount);
  if (known === null || parts === null) return null;
  return { amount: parts, dollar: 10n ** BigInt(known.decimals) };
}

/** True under 0.001 USD, the least that the CDP facilitator settles (x402 issue 1171). */
export function isUnderMinimum(price: Price): boolean {
  const parts = toDollarUnits(price);
  return parts !== null && parts.amount * 1_000n < parts.dollar;
}

type Term = JsonValue | undefined;

/** The price for people, "0.05 USDC"; null for an unknown asset. */
export function toPrice(network: Term, asset: Term, stated: Term) {
  const known =
    typeof network === 'string' && typeof asset === 'string'
      ? findKnownAsset(network, asset)
      : null;
  const amount = parseAmount(stated);
  const hasPrice = known !== null && amount !== null;
  return {
    price: hasPrice ? `${toDecimal(amount, known.decimals)} ${known.symbol}` : null,
    isTestnet: typeof network === 'string' && isTestnet(network),
    /** Decimals of the asset. */
    decimals: hasPrice ? known.decimals : null,
  };
}

/** 50000n with 6 decimals is "0.05". */
function toDecimal(amount: bigint, decimals: number): string {
  const digits = amount.toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return fraction === '' ? whole : `${whole}.${fraction}`;
}
