/**
 * Its own case of a lost owner: the owner was late, not lost, so two processes have sent the same payment. Only the
 * process that wrote the last ledger step may free its key.
 */
import { describe, expect, test } from 'vitest';
import type { SettleOutcome } from '../../../src/service/payment/settle/facilitator.ts';
import { MEMORY, openSqlite } from '../../../src/service/store/sqlite/store.ts';
import { newPayer, toHeaders } from './payer.ts';
import { listStates, QUICK_TIMING } from './settling.ts';
import { startShop } from './shop.ts';
import { stubFacilitator, TRANSACTION } from './stub-facilitator.ts';

const payer = newPayer();

/** One process sends the payment and stalls. The other takes the key over and sends the payment again. */
async function startTwoSenders() {
  const store = openSqlite(MEMORY);
  const [stalledFacilitator, takingFacilitator] = [stubFacilitator(), stubFacilitator()];
  const stalledOutcome = Promise.withResolvers<SettleOutcome>();
  const takingOutcome = Promise.withResolvers<SettleOutcome>();
  stalledFacilitator.outcomes = [stalledOutcome.promise];
  takingFacilitator.outcomes = [takingOutcome.promise];
  const waits = { reconcileWithinMs: 2_000, retryWithinMs: 2_000, sweepIntervalMs: 1e9 };
  const timing = { ...QUICK_TIMING, ...waits };
  const stalledShop = await startShop({ timing, store, facilitator: stalledFacilitator });
  const takingShop = await startShop({ timing, store, facilitator: takingFacilitator });
  const signed = await payer.sign();
  const firstCall = stalledShop.buy('x', toHeaders(signed));
  await expect.poll(() => stalledFacilitator.sent.length).toBe(1);
  const retry = takingShop.buy('x', toHeaders(signed));
  await expect.poll(() => takingFacilitator.sent.length).toBe(1);
  return {
    signed,
    firstCall,
    retry,
    stalledShop,
    stalledOutcome,
    takingOutcome,
    async [Symbol.asyncDispose]() {
      await stalledShop[Symbol.asyncDispose]();
      await takingShop[Symbol.asyncDispose]();
      await store.close();
    },
  };
}

describe('a process whose key another process took over', () => {
  test.each<SettleOutcome>([
    { kind: 'refused', reason: 'insufficient_funds' },
    { kind: 'not_sent', reason: 'connection refused' },
  ])(
    'does not free the key if its own send is $kind, because the other process has sent too',
    async (outcome) => {
      await using senders = await startTwoSenders();
      senders.stalledOutcome.resolve(outcome);
      const answer = await senders.firstCall;
      expect(answer.status).toBe(503);
      expect(answer.json['error']).toBe('settlement_unknown');
      senders.takingOutcome.resolve({ kind: 'settled', transaction: TRANSACTION });
      expect((await senders.retry).status).toBe(200);
      const redelivered = await senders.stalledShop.buy('x', toHeaders(senders.signed));
      expect(redelivered.status).toBe(200);
      expect(redelivered.headers.get('x-redelivered')).toBe('1');
      expect(await listStates(senders.stalledShop, senders.signed)).toEqual([
        'claimed',
        'computed',
        'settling',
        'unknown',
        'settled',
        'published',
      ]);
    },
  );

  test('stores in the ledger the transaction that its facilitator returned', async () => {
    await using senders = await startTwoSenders();
    senders.stalledOutcome.resolve({ kind: 'settled', transaction: TRANSACTION });
    expect((await senders.firstCall).status).toBe(200);
    await expect.poll(() => listStates(senders.stalledShop, senders.signed)).toContain('settled');
    senders.takingOutcome.resolve({ kind: 'nonce_used', reason: 'used', transaction: null });
    const retry = await senders.retry;
    expect(retry.status).toBe(200);
    expect(retry.paid?.transaction).toBe(TRANSACTION);
  });
});
