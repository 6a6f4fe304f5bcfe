/** The facilitator of mode `mock`, for first runs, demos and tests. It moves no money. */
import { hash } from 'node:crypto';
import type { StoredPayment } from '../ledger/ledger.ts';
import { type PaymentTerms, toPaymentKey } from '../terms.ts';
import type { Facilitator, VerifyOutcome } from './facilitator.ts';

/**
 * The gate checks the signatures of plain accounts. Signatures of contract wallets are refused, because only a chain
 * can check them. A second settlement of a payment names the same transaction, so recovery works as with a chain.
 * @param now returns database time, ms
 */
export function createMockFacilitator(terms: PaymentTerms, now: () => number): Facilitator {
  function checkPayment({ authorization, requirements }: StoredPayment): VerifyOutcome {
    const nowSec = BigInt(Math.floor(now() / 1000));
    if (authorization.value !== BigInt(requirements.amount)) {
      return { kind: 'invalid', reason: 'invalid_exact_evm_authorization_value' };
    }
    if (authorization.validBefore <= nowSec) {
      return { kind: 'invalid', reason: 'invalid_exact_evm_payload_authorization_valid_before' };
    }
    return { kind: 'valid' };
  }

  return {
    kind: 'mock',
    location: 'mock: signatures are checked, nothing is settled',
    findSupported: async () => [{ x402Version: 2, scheme: 'exact', network: terms.network }],
    async verify({ payment, isSignatureChecked }) {
      return isSignatureChecked
        ? checkPayment(payment)
        : { kind: 'invalid', reason: 'invalid_exact_evm_signature' };
    },
    async settle({ payment }) {
      const verdict = checkPayment(payment);
      if (verdict.kind !== 'valid') return { kind: 'refused', reason: verdict.reason };
      const key = toPaymentKey(terms, payment.authorization);
      return { kind: 'settled', transaction: `0x${hash('sha256', `mock settlement of ${key}`)}` };
    },
  };
}
