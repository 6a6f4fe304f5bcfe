import { describe, expect, test } from 'vitest';
import { newPayer, type SignOptions, TERMS, toHeaders } from './payer.ts';
import { findWrittenAtMs } from './settling.ts';
import { createItemAnswer, type ShopOptions, startGatedShop, startShop } from './shop.ts';
import { slowFacilitator, TRANSACTION } from './stub-facilitator.ts';

const payer = newPayer();
const { sign } = payer;

/** Starts a shop that has sent the payment for `x`. Its payer has hung up, and `settle` ends the settlement. */
async function startShopWithLostCall(options: ShopOptions = {}, signOptions: SignOptions = {}) {
  const { facilitator, settle } = slowFacilitator();
  const shop = await startShop({ ...options, facilitator });
  const signed = await sign(signOptions);
  const call = shop.call('x', toHeaders(signed));
  await expect.poll(() => facilitator.sent.length).toBe(1);
  await call.hangUp();
  // The server must notice the hang-up first: bytes that the kernel takes count as written.
  await expect.poll(() => shop.runningPaidCalls()).toBe(0);
  return Object.assign(shop, { facilitator, settle, signed });
}

/** Starts such a shop, and ends the settlement, so that the shop owes the answer. */
async function startShopThatOwes(...options: Parameters<typeof startShopWithLostCall>) {
  const shop = await startShopWithLostCall(...options);
  shop.settle();
  await expect.poll(() => shop.published.length).toBe(1);
  return shop;
}

describe('a paid answer that never arrived', () => {
  test('is delivered to a fresh signature, which is not charged', async () => {
    await using shop = await startShopWithLostCall();
    // The first payment is not settled yet, so this call waits for the first call.
    const fresh = await sign();
    const retry = shop.buy('x', toHeaders(fresh));
    await expect.poll(() => shop.runningPaidCalls()).toBe(1);
    shop.settle();
    const answer = await retry;
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-redelivered')).toBe('1');
    expect(answer.paid?.transaction).toBe(TRANSACTION);
    expect(shop.facilitator.sent).toHaveLength(1);
    expect(shop.computations).toHaveLength(1);
  });

  test('is still owed after a call without an identifier fetched it, because the caller may be a stranger', async () => {
    await using shop = await startShopThatOwes();
    expect((await shop.buy('x', toHeaders(await sign()))).headers.get('x-redelivered')).toBe('1');
    const nextAnswer = await shop.buy('x', toHeaders(await sign()));
    expect(nextAnswer.status).toBe(200);
    expect(nextAnswer.headers.get('x-redelivered')).toBe('1');
    expect(shop.facilitator.sent).toHaveLength(1);
  });

  test('is no longer owed after a call with the identifier of the buyer fetched it', async () => {
    const identifier = 'order_0123456789abcdef';
    await using shop = await startShopThatOwes({}, { identifier });
    const retryAnswer = await shop.buy('x', toHeaders(await sign({ identifier })));
    expect(retryAnswer.headers.get('x-redelivered')).toBe('1');
    await expect.poll(() => findWrittenAtMs(shop, shop.signed)).not.toBeNull();
    const nextAnswer = await shop.buy('x', toHeaders(await sign()));
    expect(nextAnswer.headers.get('x-redelivered')).toBeNull();
    expect(shop.facilitator.sent).toHaveLength(2);
  });

  test('is no longer owed after ten minutes', async () => {
    let nowMs = Date.now();
    await using shop = await startShopThatOwes({ clock: () => nowMs });
    nowMs += 10 * 60_000 + 1;
    const answer = await shop.buy('x', toHeaders(await sign({ nowMs })));
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-redelivered')).toBeNull();
    expect(shop.facilitator.sent).toHaveLength(2);
  });

  test('is owed only to its payer, and only for the same request', async () => {
    await using shop = await startShopThatOwes();
    const stranger = await newPayer().sign();
    expect((await shop.buy('x', toHeaders(stranger))).headers.get('x-redelivered')).toBeNull();
    expect((await shop.buy('y', toHeaders(await sign()))).headers.get('x-redelivered')).toBeNull();
    expect(shop.facilitator.sent).toHaveLength(3);
  });

  test('is not delivered to a forged signature', async () => {
    await using shop = await startShopThatOwes();
    const forged = await sign({ signAs: newPayer().privateKey });
    shop.facilitator.verdict = { kind: 'invalid', reason: 'invalid_exact_evm_signature' };
    expect((await shop.buy('x', toHeaders(forged))).status).toBe(402);
  });
});

describe('a payment identifier', () => {
  const id = 'order_0123456789abcdef';

  test('with a fresh signature gets the stored answer, and is not charged again', async () => {
    await using shop = await startShop();
    const firstAnswer = await shop.buy('x', toHeaders(await sign({ identifier: id })));
    const secondAnswer = await shop.buy('x', toHeaders(await sign({ identifier: id })));
    expect([firstAnswer.status, secondAnswer.status]).toEqual([200, 200]);
    expect(secondAnswer.body).toBe(firstAnswer.body);
    expect(secondAnswer.headers.get('x-redelivered')).toBe('1');
    expect(secondAnswer.paid).toEqual(firstAnswer.paid);
    expect(shop.settlements).toHaveLength(1);
  });

  test('does not open the stored answer to a signature for other terms, because other sellers have such signatures', async () => {
    await using shop = await startShop();
    expect((await shop.buy('x', toHeaders(await sign({ identifier: id })))).status).toBe(200);
    const expired = { validBefore: BigInt(Math.floor(Date.now() / 1000) - 1) };
    const otherTerms = [
      [{ value: 7n }, 'wrong_amount'],
      [{ to: TERMS.asset }, 'wrong_recipient'],
      [expired, 'authorization_expired'],
    ] as const;
    for (const [options, code] of otherTerms) {
      const answer = await shop.buy('x', toHeaders(await sign({ identifier: id, ...options })));
      expect(answer.status).toBe(402);
      expect(answer.json['error']).toMatch(new RegExp(`^${code}: `));
      // The answer does not tell whether the identifier is known.
      const probe = await shop.buy('y', toHeaders(await sign({ identifier: id, ...options })));
      expect(probe.status).toBe(402);
    }
    expect(shop.settlements).toHaveLength(1);
  });

  test('opens the stored answer to a signature that expires too soon to be settled', async () => {
    await using shop = await startShop();
    expect((await shop.buy('x', toHeaders(await sign({ identifier: id })))).status).toBe(200);
    const validBefore = BigInt(Math.floor(Date.now() / 1000) + 60);
    const redelivered = await shop.buy('x', toHeaders(await sign({ identifier: id, validBefore })));
    expect(redelivered.headers.get('x-redelivered')).toBe('1');
    expect(shop.settlements).toHaveLength(1);
  });

  test('for another request is a conflict', async () => {
    await using shop = await startShop();
    expect((await shop.buy('x', toHeaders(await sign({ identifier: id })))).status).toBe(200);
    const answer = await shop.buy('y', toHeaders(await sign({ identifier: id })));
    expect(answer.status).toBe(409);
    expect(answer.json).toMatchObject({ error: 'payment_conflict', field: 'payment-identifier' });
    expect(shop.settlements).toHaveLength(1);
  });

  test('of one payer does not open the stored answer to another payer', async () => {
    await using shop = await startShop();
    expect((await shop.buy('x', toHeaders(await sign({ identifier: id })))).status).toBe(200);
    const otherPayment = await newPayer().sign({ identifier: id });
    const answer = await shop.buy('y', toHeaders(otherPayment));
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-redelivered')).toBeNull();
    expect(shop.settlements).toHaveLength(2);
  });

  test('of a failed call can be used with the next signature', async () => {
    let isBroken = true;
    await using shop = await startShop({
      compute: async (item) => {
        if (isBroken) throw new Error('broken');
        return createItemAnswer(item);
      },
    });
    expect((await shop.buy('x', toHeaders(await sign({ identifier: id })))).status).toBe(500);
    isBroken = false;
    expect((await shop.buy('x', toHeaders(await sign({ identifier: id })))).status).toBe(200);
    expect(
      (await shop.buy('x', toHeaders(await sign({ identifier: id })))).headers.get('x-redelivered'),
    ).toBe('1');
    expect(shop.settlements).toHaveLength(1);
  });

  test('with five signatures at once gives one computation and one charge', async () => {
    await using shop = await startGatedShop();
    const headers = await Promise.all(Array.from({ length: 5 }, () => sign({ identifier: id })));
    const calls = headers.map((signed) => shop.buy('x', toHeaders(signed)));
    await expect.poll(() => shop.runningPaidCalls()).toBe(5);
    await expect.poll(() => shop.computations.length).toBe(1);
    shop.finishWork();
    const answers = await Promise.all(calls);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(new Set(answers.map(({ paid }) => paid?.transaction)).size).toBe(1);
    expect(shop.computations).toHaveLength(1);
    expect(shop.settlements).toHaveLength(1);
  });

  test.each([
    ['too short', 'a'.repeat(15)],
    ['too long', 'a'.repeat(129)],
    ['with a character that is not allowed', 'order 0123456789abc'],
    ['that is not text', 1234567890123456],
  ])('%s is a bad request', async (_name, identifier) => {
    await using shop = await startShop();
    const answer = await shop.buy('x', toHeaders(await sign({ identifier })));
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({ error: 'invalid_payment_identifier', charged: false });
    expect(shop.computations).toHaveLength(0);
  });

  test.each([16, 128])('of %i characters is good', async (length) => {
    await using shop = await startShop();
    const signed = await sign({ identifier: 'a'.repeat(length) });
    expect((await shop.buy('x', toHeaders(signed))).status).toBe(200);
  });

  test('extension that the payer sends back without an identifier changes nothing', async () => {
    await using shop = await startShop();
    const signed = await sign({ identifier: null });
    expect((await shop.buy('x', toHeaders(signed))).status).toBe(200);
    expect((await shop.buy('y', toHeaders(await sign({ identifier: null })))).status).toBe(200);
    expect(shop.settlements).toHaveLength(2);
  });
});
