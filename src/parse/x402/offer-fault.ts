import { type JsonValue, showAddress, showJson } from '../json/json.ts';

/**
 * `v1-names`: an offer of version 2 has `maxAmountRequired` of version 1. `bad-field`: a member has a wrong form.
 * `out-of-range`: a number is too large for the network or the scheme. `bad-recipient`: payTo is zero or the asset.
 * `wrong-chain`: the asset is a known token of another network. `no-domain`: `extra` lacks `name` or `version` of the
 * EIP-712 domain. `missing-member`: `extra` lacks another member of the scheme, or the member has a wrong form.
 * `wrong-domain`: the EIP-712 domain is not the domain of the known asset.
 */
export type OfferFault = {
  readonly kind:
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

/** Formats the value of a fault for evidence. Blanks in an address become escapes. */
export function showFault({ kind, value }: OfferFault): string {
  const isDomain = kind === 'no-domain' || kind === 'wrong-domain';
  return isDomain ? showJson(value) : showAddress(value);
}

/** Formats a fault for evidence: `/accepts/0/payTo: "0x0…" is zero`. */
export function describeFault(fault: OfferFault): string {
  const { pointer, why } = fault;
  return `${pointer}: ${showFault(fault)}${why === undefined ? '' : ` ${why}`}`;
}
