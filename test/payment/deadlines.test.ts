import { expect, test } from 'vitest';
import type { SettleOutcome, VerifyOutcome } from '../../src/payment/settle/facilitator.ts';
import { MEMORY, openSqlite } from '../../src/store/sqlite/store.ts';
import { encode, newPayer, type SignedHeader } from './payer.ts';
import { newLatch, PRICE, startShop } from './shop.ts';
import { stubFacilitator, TRANSACTION } from './stub-facilitator.ts';

const payer = newPayer();
const pay = () => payer.sign({ value: PRICE });
const v2 = ({ header }: SignedHeader) => ({ 'payment-signature': header });

/** A signature that only a contract could have made. The gate asks the facilitator about it first. */
async function ofContract(): Promise<Record<string, string>> {
  const { payload } = await pay();
  const inner = payload['payload'] as { authorization: unknown };
  const signature = `0x${'ab'.repeat(200)}`;
  return { 'payment-signature': encode({ ...payload, payload: { ...inner, signature } }) };
}

test('if the facilitator never names the signer, the call ends with 503 at its time limit, uncharged', async () => {
  const facilitator = stubFacilitator();
  const gate = newLatch();
  facilitator.verdict = gate.opened.then((): VerifyOutcome => ({ kind: 'valid' }));
  await using shop = await startShop({ facilitator, answerWithinMs: 300 });
  for (const headers of [await ofContract(), v2(await pay())]) {
    const answer = await shop.buy('x', headers);
    expect(answer.status).toBe(503);
    expect(answer.json).toMatchObject({ error: 'payments_unavailable', charged: false });
  }
  expect(shop.computations).toHaveLength(0);
  gate.open();
});

test('a client that disconnects while the facilitator is asked for the signer is not charged', async () => {
  const facilitator = stubFacilitator();
  const gate = newLatch();
  facilitator.verdict = gate.opened.then((): VerifyOutcome => ({ kind: 'valid' }));
  await using shop = await startShop({ facilitator });
  const abort = new AbortController();
  const call = shop.buy('x', await ofContract(), { signal: abort.signal });
  await expect.poll(() => facilitator.verified.length).toBe(1);
  abort.abort();
  await expect(call).rejects.toThrow();
  await expect.poll(() => shop.runningPaidCalls()).toBe(0);
  gate.open();
  expect(facilitator.sent).toHaveLength(0);
});

test('two calls that wait for the settlement end with 503, though a look-up hangs', async () => {
  const facilitator = stubFacilitator();
  const gate = newLatch();
  const unclear: SettleOutcome = { kind: 'unclear', reason: 'timeout', transaction: null };
  const settled: SettleOutcome = { kind: 'settled', transaction: TRANSACTION };
  facilitator.outcomes = [unclear, gate.opened.then(() => settled)];
  await using shop = await startShop({ facilitator, reconcileWithinMs: 300, retryWithinMs: 300 });
  const signed = await pay();
  for (let n = 1; n <= 2; n++) {
    const answer = await shop.buy('x', v2(signed));
    expect(answer.status).toBe(503);
    expect(answer.json).toMatchObject({ error: 'settlement_unknown', charged: null });
    expect(answer.json['message']).not.toMatch(/nothing was charged/i);
  }
  gate.open();
  await expect.poll(async () => (await shop.buy('x', v2(signed))).status).toBe(200);
});

test('while the store is lost, an answer states no charge that the service cannot look up', async () => {
  await using shop = await startShop({});
  const signed = await pay();
  expect((await shop.buy('x', v2(signed))).status).toBe(200);
  await shop.store.close();
  const answer = await shop.buy('x', v2(signed));
  expect(answer.status).toBe(503);
  expect(answer.json).toMatchObject({ error: 'store_unavailable', charged: null });
  expect(answer.json['message']).not.toMatch(/nothing was charged/i);
  const unpaid = await shop.buy('x');
  expect(unpaid.json).toMatchObject({ error: 'store_unavailable', charged: false });
});

test('a call that is already late gets a bought answer, but begins no new work', async () => {
  const open = openSqlite(MEMORY);
  await using _closing = { [Symbol.asyncDispose]: () => open.close() };
  const signed = await pay();
  {
    await using shop = await startShop({ store: open });
    expect((await shop.buy('x', v2(signed))).status).toBe(200);
  }
  // In this shop, the time limit of a call has passed before the call reaches the gate.
  await using shop = await startShop({ store: open, answerWithinMs: 0 });
  const again = await shop.buy('x', v2(signed));
  expect(again.status).toBe(200);
  expect(again.headers.get('x-redelivered')).toBe('1');
  const late = await shop.buy('x', v2(await pay()));
  expect(late.status).toBe(504);
  expect(late.json).toMatchObject({
    error: 'scan_processing',
    status: 'processing',
    charged: false,
  });
  expect(late.headers.get('retry-after')).toBe('10');
  expect(shop.computations).toHaveLength(0);
});
