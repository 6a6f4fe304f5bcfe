import { type JsonValue, showAddress, showJson } from '../json/json.ts';

/**
 * `bad-entry`: the entry of accepts is not an object. `v1-names`: an offer of version 2 has `maxAmountRequired` of version 1. `bad-field`: a member has a wrong form.
 * `out-of-range`: a number is too large for the network or the scheme. `bad-recipient`: payTo is zero or the asset.
 * `wrong-chain`: the asset is a known token of another network. `no-domain`: `extra` lacks `name` or `version` of the
 * EIP-712 domain. `missing-member`: `extra` lacks another member of the scheme, or the member has a wrong form.
 * `wrong-domain`: the EIP-712 domain is not the domain of the known asset.
 */
export type OfferFault = {
  readonly kind:
    | 'bad-entry'
    | 'v1-names'
    | 'bad-field'
    | 'out-of-range'
    | 'bad-recipient'
    | 'wrong-chain'
    | 'no-domain'
    | 'missing-member'
    | 'wrong-domain';
  readonly pointer: string;
  readonly value: JsonValue | undefined;
  /** The broken rule, if kind and value do not show it: "is too long: the most is 60". */
  readonly why?: string;
};

const MAX_ENTRY_CHARS = 40;

/** Formats the value of a fault for evidence. Blanks in an address become escapes. */
export function showFault({ kind, value }: OfferFault): string {
  if (kind === 'bad-entry') return showEntry(value);
  const isDomain = kind === 'no-domain' || kind === 'wrong-domain';
  return isDomain ? showJson(value) : showAddress(value);
}

/** Formats a fault for evidence: `/accepts/0/payTo: "0x0…" is zero`. */
export function describeFault(fault: OfferFault): string {
  const { kind, pointer, why } = fault;
  if (kind === 'bad-entry') return `${pointer} is ${showFault(fault)}, not an object`;
  return `${pointer}: ${showFault(fault)}${why === undefined ? '' : ` ${why}`}`;
}

function showEntry(value: JsonValue | undefined): string {
  if (typeof value === 'string') return `the text ${showJson(value, MAX_ENTRY_CHARS)}`;
  if (Array.isArray(value)) return 'a list';
  return value === null ? 'empty (null)' : `the value ${showJson(value, MAX_ENTRY_CHARS)}`;
}
