/** Transfer methods of offers, and the order of payment and work. */
import { type JsonValue, jsonObject } from '../json/json.ts';
import { classifyAddressShape } from './address-form.ts';
import { findOfferAsset } from './assets.ts';
import type { Offer } from './challenge.ts';
import { isSameAddress } from './namespaces.ts';
import type { SchemeRow } from './scheme-row.ts';
import { EIP3009, findSchemeRow } from './schemes.ts';

export type MethodTerms = Pick<Offer, 'scheme' | 'network' | 'asset' | 'payTo' | 'extra'>;

/** Stands for an offer that is signed for another contract than its token. `assetTransferMethod` never has this value. */
const OTHER_CONTRACT = 'by another contract';

/**
 * True for an offer of `exact` that is signed for `extra.verifyingContract` in place of the token, as Circle Gateway
 * asks: the name of the domain is not the token's own, and the contract is neither the token, zero nor the recipient.
 * Official clients sign such an offer for the token, so nobody settles what they sign.
 */
export function hasOtherContract({ scheme, network, asset, payTo, extra }: MethodTerms): boolean {
  const row = findSchemeRow(scheme, network);
  const { verifyingContract, name, assetTransferMethod } = jsonObject(extra);
  if (row?.scheme !== 'exact' || row.namespace !== 'eip155') return false;
  if ((assetTransferMethod ?? EIP3009) !== EIP3009) return false;
  if (typeof verifyingContract !== 'string' || typeof name !== 'string' || name === '')
    return false;
  const form = classifyAddressShape(String(network), verifyingContract, 'account');
  const isOwn = [asset, payTo].some(
    (address) => typeof address === 'string' && isSameAddress(address, verifyingContract),
  );
  return form === 'ok' && !isOwn && name !== findOfferAsset({ network, asset })?.domain?.name;
}

/** Returns the transfer method that the offer names, or else the default; null if the member is not a text. */
export function findTransferMethod(row: SchemeRow, terms: MethodTerms): string | null {
  if (hasOtherContract(terms)) return OTHER_CONTRACT;
  const { assetTransferMethod } = jsonObject(terms.extra);
  const method = assetTransferMethod ?? row.methods?.[0] ?? '';
  return typeof method === 'string' ? method : null;
}

/** Returns true if a client here has the scheme of the offer, and pays by its transfer method. */
export function isPaidMethod(terms: MethodTerms): boolean {
  const row = findSchemeRow(terms.scheme, terms.network);
  if (row === null) return false;
  if (row.paidMethods === undefined) return true;
  const method = findTransferMethod(row, terms);
  return method !== null && row.paidMethods.includes(method);
}

/** Returns true for a transfer method that the specification of the scheme does not name. */
export function isUnknownMethod(terms: MethodTerms): boolean {
  const row = findSchemeRow(terms.scheme, terms.network);
  if (row?.methods === undefined) return false;
  const method = findTransferMethod(row, terms);
  return method === null || !row.methods.includes(method);
}

/** Returns true for an offer whose payment the seller settles before the work (scheme_exact.md, "upfront"). */
export function isSettledUpfront(extra: JsonValue | undefined): boolean {
  return jsonObject(extra)['paymentFlow'] === 'upfront';
}
