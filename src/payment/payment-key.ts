import { keccak256, stringToHex } from 'viem';
import type { PaymentTerms } from './payment-terms.ts';
import type { Authorization, SignedPayment } from './signed-payment.ts';

/**
 * The ledger's key: who spends which nonce of which token, never bytes of a header, so that no
 * other spelling of a payment is another payment.
 */
export function paymentKey(terms: PaymentTerms, { from, nonce }: Authorization): string {
  return [terms.network, terms.asset, from, nonce].join(':').toLowerCase();
}

export function payerOf(payment: SignedPayment): string {
  return payment.authorization.from.toLowerCase();
}

/** Looks like a transaction hash, and is the same whenever the same payment is settled again. */
export function mockTransaction(key: string): `0x${string}` {
  return keccak256(stringToHex(`mock settlement of ${key}`));
}
