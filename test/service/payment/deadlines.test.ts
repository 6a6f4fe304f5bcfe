import { expect, test } from 'vitest';
import type {
  SettleOutcome,
  VerifyOutcome,
} from '../../../src/service/payment/settle/facilitator.ts';
import { MEMORY, openSqlite } from '../../../src/service/store/sqlite/store.ts';
import { newPayer, signAsContract, toHeaders } from './payer.ts';
import { listStates } from './settling.ts';
import { newLatch, startShop } from './shop.ts';
import { slowFacilitator, stubFacilitator, TRANSACTION } from './stub-facilitator.ts';

const payer = newPayer();
const { sign: pay } = payer;

/** A facilitator that verifies payments only after `answerVerify` is called. */
function slowVerifier() {
  const facilitator = stubFacilitator();
  const { opened, open: answerVerify } = newLatch();
  facilitator.verdict = opened.then((): VerifyOutcome => ({ kind: 'valid' }));
  return { facilitator, answerVerify };
}

test('while the facilitator does not say whether a payment is valid, a call ends at its time limit with 503, uncharged', async () => {
  const { facilitator, answerVerify } = slowVerifier();
  await using shop = await startShop({ facilitator, answerWithinMs: 300 });
  for (const headers of [toHeaders(signAsContract(await pay())), toHeaders(await pay())]) {
    const answer = await shop.buy('x', headers);
    expect(answer.status).toBe(503);
    expect(answer.json).toMatchObject({ error: 'payments_unavailable', charged: false });
  }
  expect(shop.computations).toHaveLength(0);
  answerVerify();
});

test('a client that disconnects while the facilitator verifies the signature is not charged', async () => {
  const { facilitator, answerVerify } = slowVerifier();
  await using shop = await startShop({ facilitator });
  const call = shop.call('x', toHeaders(signAsContract(await pay())));
  await expect.poll(() => facilitator.verified.length).toBe(1);
  await call.hangUp();
  await expect.poll(() => shop.runningPaidCalls()).toBe(0);
  answerVerify();
  expect(facilitator.sent).toHaveLength(0);
});

test('a client that disconnects while its claimed payment is verified leaves the payment to a call that waits', async () => {
  const { facilitator, answerVerify } = slowVerifier();
  await using shop = await startShop({ facilitator });
  const signed = await pay();
  const firstCall = shop.call('x', toHeaders(signed));
  await expect.poll(() => facilitator.verified.length).toBe(1);
  const secondCall = shop.buy('x', toHeaders(signed));
  await expect.poll(() => shop.runningPaidCalls()).toBe(2);
  await firstCall.hangUp();
  await expect.poll(() => facilitator.verified.length).toBe(2);
  expect(await listStates(shop, signed)).toEqual(['claimed', 'released', 'claimed']);
  answerVerify();
  const answer = await secondCall;
  expect(answer.status).toBe(200);
  expect(answer.headers.get('x-redelivered')).toBeNull();
  expect(facilitator.sent).toHaveLength(1);
  expect(await shop.unpaid(payer.address)).toEqual([]);
});

test('when the service stops while a payment is verified, the call ends with 503, and its key is free', async () => {
  const { facilitator, answerVerify } = slowVerifier();
  await using shop = await startShop({ facilitator });
  const signed = await pay();
  const calls = [
    shop.buy('x', toHeaders(signed)),
    shop.buy('x', toHeaders(signAsContract(await pay()))),
  ];
  await expect.poll(() => facilitator.verified.length).toBe(2);
  await shop.payments.stop();
  for (const answer of await Promise.all(calls)) {
    expect(answer).toMatchObject({ status: 503, json: { error: 'saturated', charged: false } });
  }
  expect(await listStates(shop, signed)).toEqual(['claimed', 'released']);
  expect(facilitator.sent).toHaveLength(0);
  answerVerify();
});

test('two calls that wait for the settlement end with 503 while the facilitator hangs', async () => {
  const facilitator = stubFacilitator();
  const facilitatorAnswers = newLatch();
  const unclear: SettleOutcome = { kind: 'unclear', reason: 'timeout', transaction: null };
  const settled: SettleOutcome = { kind: 'settled', transaction: TRANSACTION };
  facilitator.outcomes = [unclear, facilitatorAnswers.opened.then(() => settled)];
  await using shop = await startShop({
    facilitator,
    timing: { reconcileWithinMs: 300, retryWithinMs: 300 },
  });
  const signed = await pay();
  for (let n = 1; n <= 2; n++) {
    const answer = await shop.buy('x', toHeaders(signed));
    expect(answer.status).toBe(503);
    expect(answer.json).toMatchObject({ error: 'settlement_unknown', charged: null });
    expect(answer.json['message']).not.toMatch(/nothing was charged/i);
  }
  facilitatorAnswers.open();
  await expect.poll(async () => (await shop.buy('x', toHeaders(signed))).status).toBe(200);
});

test('a call whose deadline passes while its payment is settled waits, and a late second call fetches the answer later', async () => {
  const { facilitator, settle } = slowFacilitator();
  await using shop = await startShop({ facilitator, answerWithinMs: 300 });
  const signed = await pay();
  const firstCall = shop.buy('x', toHeaders(signed));
  await expect.poll(() => facilitator.sent.length).toBe(1);
  const secondAnswer = await shop.buy('x', toHeaders(signed));
  expect(secondAnswer.status).toBe(503);
  expect(secondAnswer.json).toMatchObject({ error: 'settlement_unknown', charged: null });
  settle();
  expect((await firstCall).status).toBe(200);
  const redelivered = await shop.buy('x', toHeaders(signed));
  expect(redelivered.status).toBe(200);
  expect(redelivered.headers.get('x-redelivered')).toBe('1');
  expect(facilitator.sent).toHaveLength(1);
});

test('a payment that was settled by another call meanwhile gets its answer, although the facilitator refuses it', async () => {
  const facilitator = stubFacilitator();
  const { opened, open: refuseSpentNonce } = newLatch();
  facilitator.verdict = opened.then(
    (): VerifyOutcome => ({ kind: 'invalid', reason: 'nonce_already_used' }),
  );
  await using shop = await startShop({ facilitator });
  const headers = toHeaders(signAsContract(await pay()));
  const slowCall = shop.buy('x', headers);
  await expect.poll(() => facilitator.verified.length).toBe(1);
  facilitator.verdict = { kind: 'valid' };
  expect((await shop.buy('x', headers)).status).toBe(200);
  refuseSpentNonce();
  const answer = await slowCall;
  expect(answer.status).toBe(200);
  expect(answer.headers.get('x-redelivered')).toBe('1');
  expect(facilitator.sent).toHaveLength(1);
});

test('while the store is lost, an answer states no charge that the service cannot look up', async () => {
  await using shop = await startShop({});
  const signed = await pay();
  expect((await shop.buy('x', toHeaders(signed))).status).toBe(200);
  await shop.store.close();
  const answer = await shop.buy('x', toHeaders(signed));
  expect(answer.status).toBe(503);
  expect(answer.json).toMatchObject({ error: 'store_unavailable', charged: null });
  expect(answer.json['message']).not.toMatch(/nothing was charged/i);
  const unpaidAnswer = await shop.buy('x');
  expect(unpaidAnswer.json).toMatchObject({ error: 'store_unavailable', charged: false });
});

test('a call that is already late gets a bought answer, but begins no new work', async () => {
  const store = openSqlite(MEMORY);
  await using _closing = { [Symbol.asyncDispose]: () => store.close() };
  const signed = await pay();
  {
    await using shop = await startShop({ store });
    expect((await shop.buy('x', toHeaders(signed))).status).toBe(200);
  }
  // In this shop, the time limit of a call has passed before the call reaches the payment gate.
  await using shop = await startShop({ store, answerWithinMs: 0 });
  const redelivered = await shop.buy('x', toHeaders(signed));
  expect(redelivered.status).toBe(200);
  expect(redelivered.headers.get('x-redelivered')).toBe('1');
  const newCall = await shop.buy('x', toHeaders(await pay()));
  expect(newCall.status).toBe(504);
  expect(newCall.json).toMatchObject({
    error: 'scan_processing',
    status: 'processing',
    charged: false,
  });
  expect(newCall.headers.get('retry-after')).toBe('10');
  expect(shop.computations).toHaveLength(0);
});
