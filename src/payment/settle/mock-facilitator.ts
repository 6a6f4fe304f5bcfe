/** Records settlements without a chain: first runs, demos, tests. */
import { hash } from 'node:crypto';
import type { StoredPayment } from '../ledger/ledger.ts';
import type { PaymentTerms } from '../terms.ts';
import { toPaymentKey } from '../terms.ts';
import type { Facilitator, VerifyOutcome } from './facilitator.ts';

const BAD_SIGNATURE = 'invalid_exact_evm_signature';

/** Looks like a transaction hash, and is the same whenever the same payment is settled again. */
export function toMockTransaction(key: string): `0x${string}` {
  return `0x${hash('sha256', `mock settlement of ${key}`)}`;
}

export type MockSettlement = {
  readonly key: string;
  readonly payer: string;
  /** Base units. */
  readonly value: bigint;
  readonly transaction: `0x${string}`;
};

export type MockOptions = {
  readonly terms: PaymentTerms;
  /** Database time, ms. */
  readonly now: () => number;
  /** Called once for each settlement that is asked for, before it is answered. */
  readonly onSettle?: ((settlement: MockSettlement) => void) | undefined;
};

/**
 * Settles nothing: no chain, no money. The gate checks the signatures of plain accounts; those of contract wallets need a chain, and are refused.
 * Settling the same payment again names the same transaction, so that recovery works as with a chain.
 */
export function createMockFacilitator({ terms, now, onSettle }: MockOptions): Facilitator {
  function verify({ authorization, requirements }: StoredPayment): VerifyOutcome {
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
    supported: async () => [{ x402Version: 2, scheme: 'exact', network: terms.network }],
    async verify({ payment, isSigned }) {
      return isSigned ? verify(payment) : { kind: 'invalid', reason: BAD_SIGNATURE };
    },
    // Only a payment that was verified is settled.
    async settle({ payment }) {
      const verdict = verify(payment);
      if (verdict.kind !== 'valid') return { kind: 'refused', reason: verdict.reason };
      const { from, value } = payment.authorization;
      const key = toPaymentKey(terms, payment.authorization);
      const transaction = toMockTransaction(key);
      onSettle?.({ key, payer: from.toLowerCase(), value, transaction });
      return { kind: 'settled', transaction };
    },
  };
}
