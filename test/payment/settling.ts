/** Short times and ledger reads for tests of doubtful settlements. */
import type { Address } from 'viem';
import { toPaymentKey } from '../../src/payment/terms.ts';
import { type SignedHeader, TERMS } from './payer.ts';
import type { Shop, ShopOptions } from './shop.ts';

/** Fast enough for tests, in the proportions of the real ones. */
export const QUICK_TIMING: ShopOptions = {
  reconcileWithinMs: 300,
  retryWithinMs: 100,
  reconcileTiming: {
    lookIntervalMs: 20,
    resendAfterMs: [40, 80, 120, 160],
    firstBackoffMs: 50,
    lastBackoffMs: 100,
  },
  sweepIntervalMs: 50,
};

export async function listLedgerRows(shop: Shop, from: Address, { nonce }: SignedHeader) {
  const authorization = {
    from,
    nonce,
    to: TERMS.payTo,
    value: 0n,
    validAfter: 0n,
    validBefore: 0n,
  };
  return shop.store.ledger.findAllSteps(toPaymentKey(TERMS, authorization));
}
