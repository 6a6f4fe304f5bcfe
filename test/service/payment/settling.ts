/** Short times and ledger reads for tests of doubtful settlements. */
import { toPaymentKey } from '../../../src/service/payment/terms.ts';
import { type PaymentTiming, toPaymentTiming } from '../../../src/service/payment/timing.ts';
import type { LedgerState } from '../../../src/service/store/payment-tables.ts';
import { type SignedHeader, TERMS } from './payer.ts';
import type { Shop } from './shop.ts';

/** Fast enough for tests, in the proportions of the real ones. */
export const QUICK_TIMING: PaymentTiming = {
  ...toPaymentTiming(),
  reconcileWithinMs: 300,
  retryWithinMs: 100,
  lookIntervalMs: 20,
  resendAfterMs: [40, 80, 120, 160],
  firstBackoffMs: 50,
  lastBackoffMs: 100,
  sweepIntervalMs: 50,
};

/** The steps of a payment that buys an answer at once. */
export const SALE: readonly LedgerState[] = [
  'claimed',
  'computed',
  'settling',
  'settled',
  'published',
];

/** Lists all steps of a payment in the ledger of the shop. */
export function listLedgerRows(shop: Shop, { from, nonce }: SignedHeader) {
  return shop.store.ledger.findAllSteps(toPaymentKey(TERMS, { from, nonce }));
}

/** Finds the time at which the answer was written to its caller in full; null before. */
export async function findWrittenAtMs(shop: Shop, { from, nonce }: SignedHeader) {
  const entry = await shop.store.ledger.findEntry(toPaymentKey(TERMS, { from, nonce }));
  return entry?.writtenAtMs ?? null;
}

export async function listStates(shop: Shop, signed: SignedHeader) {
  return (await listLedgerRows(shop, signed)).map(({ state }) => state);
}
