/** Reads prices as decimal text and bigint, because floating point would round money. */
import type { JsonValue } from '../json/json.ts';

const MAX_CHARS = 100;
const DECIMAL = /^[0-9]+(?:\.[0-9]+)?$/;
const DECIMAL_OR_FRACTION = /^[0-9]*(?:\.[0-9]+)?$/;
const CURRENCY_BEFORE = /^(?:\$|USDC?\b)\s*/i;
const CURRENCY_AFTER = /\s*(?:\$|USDC?)$/i;

/** Converts a decimal to base units ("0.05", 6 → 50000n); null for other text, and for a fraction of a base unit. */
export function baseUnits(decimal: string, decimals: number): bigint | null {
  if (decimal.length > MAX_CHARS || !DECIMAL.test(decimal)) return null;
  const [whole = '', fraction = ''] = decimal.split('.');
  const digits = fraction.slice(0, decimals);
  if (/[1-9]/.test(fraction.slice(decimals))) return null;
  return BigInt(whole + digits.padEnd(decimals, '0'));
}

/**
 * Parses a dollar amount to a plain decimal: "$0.010", "0.01 USDC" and 0.01 give "0.01"; null for other values
 * (other currencies, ranges, negative numbers).
 */
export function dollars(value: JsonValue | undefined): string | null {
  const amount = parseWrittenAmount(value);
  if (amount === null) return null;
  const [whole = '', fraction = ''] = amount.split('.');
  const trimmedWhole = whole.replace(/^0+/, '') || '0';
  const trimmedFraction = fraction.replace(/0+$/, '');
  return trimmedFraction === '' ? trimmedWhole : `${trimmedWhole}.${trimmedFraction}`;
}

/** Like `dollars`, but keeps the zeroes of the document: "$0.050000" → "0.050000". */
export function parseWrittenAmount(value: JsonValue | undefined): string | null {
  if (typeof value === 'number') return toPlainNumber(value);
  if (typeof value !== 'string' || value.length > MAX_CHARS) return null;
  const amount = value.trim().replace(CURRENCY_BEFORE, '').replace(CURRENCY_AFTER, '');
  if (amount === '' || !DECIMAL_OR_FRACTION.test(amount)) return null;
  return amount.startsWith('.') ? `0${amount}` : amount;
}

/** Writes a number without an exponent. JavaScript writes small numbers with an exponent (1e-7). */
function toPlainNumber(value: number): string | null {
  if (!Number.isFinite(value) || value < 0 || value >= 1e21) return null;
  const text = String(value);
  return text.includes('e') ? value.toFixed(20) : text;
}
