import type { JsonValue } from '../json/json.ts';
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
export function amountKind(scheme: JsonValue | undefined): AmountKind | null {
  return KINDS.get(scheme) ?? null;
}
