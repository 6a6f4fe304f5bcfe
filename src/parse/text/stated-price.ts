/** Reads the prices of documents that state an amount without saying plainly if it is in dollars or in base units. */
import { type JsonObject, type JsonValue, jsonText } from '../json/json.ts';
import { dollars, parseWrittenAmount } from './decimal.ts';

/** A price in base units, beside or in place of a price in dollars. */
export type StatedUnits = {
  /** A whole number without leading zeroes. */
  readonly amount: string;
  /** The token, by its address or symbol; null if the price names none. */
  readonly asset: string | null;
  /** True if readers differ: some read the amount as dollars, and some as base units. */
  readonly mayBeDollars: boolean;
};

export type StatedPrice = {
  /** Decimal dollars; null if the price is in base units of a token whose decimals it does not state. */
  readonly dollars: string | null;
  /** Null if the price can only be in dollars. */
  readonly units: StatedUnits | null;
};

/** Members whose names say that they are in base units. */
const UNIT_MEMBERS = ['price_atomic', 'priceAtomic', 'amount_atomic', 'amountAtomic'];
const WHOLE = /^[0-9]{1,78}$/;
/** No token has more. */
const MAX_DECIMALS = 36;

/**
 * Reads `{amount, decimals}` and `{amount, asset}`, which are in base units, and a bare `amount`, which may be in
 * dollars or in base units. `currency` "USD" means dollars. Returns null for another currency and without an amount.
 */
export function readStatedPrice(price: JsonObject): StatedPrice | null {
  const { amount: stated, currency = null, decimals } = price;
  if (currency !== null && !/^USDC?$/i.test(jsonText(currency) ?? '')) return null;
  const amount = dollars(stated);
  if (amount === null) return readAtomicPrice(price);
  const asset = jsonText(price['asset']);
  if (!isWhole(stated)) return { dollars: amount, units: null };
  if (isDecimals(decimals)) {
    return {
      dollars: shiftDown(amount, decimals),
      units: { amount, asset, mayBeDollars: false },
    };
  }
  if (asset !== null) return { dollars: null, units: { amount, asset, mayBeDollars: false } };
  if (jsonText(currency)?.toUpperCase() === 'USD') return { dollars: amount, units: null };
  return { dollars: amount, units: { amount, asset, mayBeDollars: true } };
}

/** Reads a member that is named for base units ("priceAtomic"); null without one. */
export function readAtomicPrice(price: JsonObject): StatedPrice | null {
  const value = UNIT_MEMBERS.map((name) => price[name]).find(isWhole);
  const amount = value === undefined ? null : dollars(value);
  if (amount === null) return null;
  const asset = jsonText(price['asset']);
  return { dollars: null, units: { amount, asset, mayBeDollars: false } };
}

function isWhole(value: JsonValue | undefined): boolean {
  const text = typeof value === 'number' ? parseWrittenAmount(value) : jsonText(value);
  return text !== null && WHOLE.test(text);
}

function isDecimals(value: JsonValue | undefined): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= MAX_DECIMALS;
}

/** Divides by a power of ten: ("10000", 6) is "0.01". */
function shiftDown(whole: string, decimals: number): string {
  const digits = whole.padStart(decimals + 1, '0');
  const point = digits.length - decimals;
  return dollars(`${digits.slice(0, point)}.${digits.slice(point)}0`) ?? whole;
}
