/** Two writers have sent a payment for one `settling` key. Only the writer of the last step may free the key. */
import { describe, expect, test } from 'vitest';
import type { SettleOutcome } from '../../src/payment/settle/facilitator.ts';
import { MEMORY, openSqlite } from '../../src/store/sqlite/store.ts';
import { newPayer, type SignedHeader } from './payer.ts';
import { QUICK, rowsOf } from './settling.ts';
import { PRICE, type Shop, startShop } from './shop.ts';
import { stubFacilitator, TRANSACTION } from './stub-facilitator.ts';

const payer = newPayer();
const v2 = ({ header }: SignedHeader) => ({ 'payment-signature': header });
const statesOf = async (shop: Shop, signed: SignedHeader) =>
  (await rowsOf(shop, payer.address, signed)).map(({ state }) => state);

/** One process sends and stalls. The other takes the key over and sends the payment again. */
async function twoSenders() {
  const store = openSqlite(MEMORY);
  const [late, taking] = [stubFacilitator(), stubFacilitator()];
  const answerOfLate = Promise.withResolvers<SettleOutcome>();
  const answerOfTaking = Promise.withResolvers<SettleOutcome>();
  late.outcomes = [answerOfLate.promise];
  taking.outcomes = [answerOfTaking.promise];
  const timing = { ...QUICK, reconcileWithinMs: 2_000, retryWithinMs: 2_000 };
  const asleep = await startShop({ ...timing, store, facilitator: late, sweepIntervalMs: 1e9 });
  const awake = await startShop({ ...timing, store, facilitator: taking, sweepIntervalMs: 1e9 });
  const signed = await payer.sign({ value: PRICE });
  const first = asleep.buy('x', v2(signed));
  await expect.poll(() => late.sent.length).toBe(1);
  const retry = awake.buy('x', v2(signed));
  await expect.poll(() => taking.sent.length).toBe(1);
  return {
    signed,
    first,
    retry,
    asleep,
    answerOfLate,
    answerOfTaking,
    async [Symbol.asyncDispose]() {
      await asleep[Symbol.asyncDispose]();
      await awake[Symbol.asyncDispose]();
      await store.close();
    },
  };
}

describe('a writer that wakes up after another took its key over', () => {
  test.each<SettleOutcome>([
    { kind: 'refused', reason: 'insufficient_funds' },
    { kind: 'not_sent', reason: 'connection refused' },
  ])('does not free the key by its $kind, because the other has sent', async (outcome) => {
    await using both = await twoSenders();
    both.answerOfLate.resolve(outcome);
    const first = await both.first;
    expect(first.status).toBe(503);
    expect(first.json['error']).toBe('settlement_unknown');
    both.answerOfTaking.resolve({ kind: 'settled', transaction: TRANSACTION });
    expect((await both.retry).status).toBe(200);
    const again = await both.asleep.buy('x', v2(both.signed));
    expect(again.status).toBe(200);
    expect(again.headers.get('x-redelivered')).toBe('1');
    expect(await statesOf(both.asleep, both.signed)).toEqual([
      'claimed',
      'computed',
      'settling',
      'unknown',
      'settled',
      'published',
    ]);
  });

  test('stores the transaction that it learned in the ledger', async () => {
    await using both = await twoSenders();
    both.answerOfLate.resolve({ kind: 'settled', transaction: TRANSACTION });
    expect((await both.first).status).toBe(200);
    await expect.poll(() => statesOf(both.asleep, both.signed)).toContain('settled');
    both.answerOfTaking.resolve({ kind: 'nonce_used', reason: 'used', transaction: null });
    const retry = await both.retry;
    expect(retry.status).toBe(200);
    expect(retry.paid?.transaction).toBe(TRANSACTION);
  });
});
