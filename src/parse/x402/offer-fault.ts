import { type JsonValue, showAddress, showJson } from '../json/json.ts';

/**
 * `v1-names`: version 1's amount in version 2. `out-of-range`: a well-formed number that the network or
 * the scheme cannot carry. `bad-recipient`: zero, or the asset itself. `wrong-chain`: a known token of
 * another network. `missing-member`: `extra` lacks a member of the scheme other than its domain, or has it in another form.
 * `wrong-domain`: a known asset under another EIP-712 domain than its own.
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
  /** The broken rule, when kind and value do not state it: "is USDC on Base, not here". */
  readonly why?: string;
};

/** Formats a fault's value for evidence; blanks in an address stay visible. */
export function showFault({ kind, value }: OfferFault): string {
  const isDomain = kind === 'no-domain' || kind === 'wrong-domain';
  return isDomain ? showJson(value) : showAddress(value);
}

/** Formats "/accepts/0/payTo: "0x0…" is zero" for evidence. */
export function describeFault(fault: OfferFault): string {
  const { pointer, why } = fault;
  return `${pointer}: ${showFault(fault)}${why === undefined ? '' : ` ${why}`}`;
}
