/** The amount of an offer: its form, and what it stands for. */
import type { JsonValue } from '../json/json.ts';
import { SCHEMES, type SchemeRow } from './schemes.ts';

/** A positive whole number of base units, as the specification writes it: text, no sign, no zeroes. */
const AMOUNT = /^[1-9][0-9]{0,77}$/;

/** What a buyer pays: exactly the amount, or at most the amount. */
export type AmountKind = SchemeRow['amount'];

/** A scheme means the same on every network that has it. */
const KINDS: ReadonlyMap<JsonValue | undefined, AmountKind> = new Map(
  SCHEMES.map(({ scheme, amount }) => [scheme, amount]),
);

/** Null where the value is no amount. */
export function amountOf(value: JsonValue | undefined): bigint | null {
  return typeof value === 'string' && AMOUNT.test(value) ? BigInt(value) : null;
}

/** Null for a scheme that we do not know. */
export function amountKind(scheme: JsonValue | undefined): AmountKind | null {
  return KINDS.get(scheme) ?? null;
}
