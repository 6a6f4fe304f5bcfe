import { describe, expect, test } from 'vitest';
import { toPaymentKey } from '../../src/payment/terms.ts';
import { newPayer, type SignedHeader, TERMS } from './payer.ts';
import { answerOf, newLatch, PRICE, type Shop, startShop } from './shop.ts';
import { stubFacilitator, TRANSACTION } from './stub-facilitator.ts';

const payer = newPayer();
const pay = (options = {}) => payer.sign({ value: PRICE, ...options });
const v2 = ({ header }: SignedHeader) => ({ 'payment-signature': header });

/** Pays, is charged, and hangs up before the answer comes. */
async function payAndLose(
  shop: Shop,
  item: string,
  settle: ReturnType<typeof slowSettlement>,
  options = {},
) {
  const signed = await pay(options);
  const abort = new AbortController();
  const call = shop.buy(item, v2(signed), { signal: abort.signal });
  await expect.poll(() => settle.facilitator.sent.length).toBe(1);
  abort.abort();
  await expect(call).rejects.toThrow();
  // The server must notice the hang-up first: bytes that the kernel takes count as written.
  await expect.poll(() => shop.paidCalls()).toBe(0);
  return signed;
}

function slowSettlement() {
  const facilitator = stubFacilitator();
  const gate = newLatch();
  facilitator.outcomes = [gate.opened.then(() => ({ kind: 'settled', transaction: TRANSACTION }))];
  return { facilitator, settle: gate.open };
}

describe('a paid answer that never arrived', () => {
  test('is delivered to a fresh signature, which is not charged', async () => {
    const slow = slowSettlement();
    await using shop = await startShop({ facilitator: slow.facilitator });
    await payAndLose(shop, 'x', slow);
    // Sent while the first call is still being settled, so this call waits for it.
    const fresh = await pay();
    const retry = shop.buy('x', v2(fresh));
    await expect.poll(() => shop.paidCalls()).toBe(1);
    slow.settle();
    const answer = await retry;
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-redelivered')).toBe('1');
    expect(answer.paid?.transaction).toBe(TRANSACTION);
    expect(slow.facilitator.sent).toHaveLength(1);
    expect(shop.computations).toHaveLength(1);
  });

  test('is still owed after strangers fetched it: only a call of its buyer counts as delivered', async () => {
    const slow = slowSettlement();
    await using shop = await startShop({ facilitator: slow.facilitator });
    await payAndLose(shop, 'x', slow);
    slow.settle();
    await expect.poll(() => shop.published.length).toBe(1);
    expect((await shop.buy('x', v2(await pay()))).headers.get('x-redelivered')).toBe('1');
    const next = await shop.buy('x', v2(await pay()));
    expect(next.status).toBe(200);
    expect(next.headers.get('x-redelivered')).toBe('1');
    expect(slow.facilitator.sent).toHaveLength(1);
  });

  test('is owed once to a call that names the buyer', async () => {
    const slow = slowSettlement();
    await using shop = await startShop({ facilitator: slow.facilitator });
    const identifier = 'order_0123456789abcdef';
    const { nonce } = await payAndLose(shop, 'x', slow, { identifier });
    slow.settle();
    await expect.poll(() => shop.published.length).toBe(1);
    const again = await shop.buy('x', v2(await pay({ identifier })));
    expect(again.headers.get('x-redelivered')).toBe('1');
    const authorization = { from: payer.address, nonce };
    await expect
      .poll(async () => {
        const entry = await shop.store.ledger.findEntry(toPaymentKey(TERMS, authorization));
        return entry?.writtenAtMs ?? null;
      })
      .not.toBeNull();
    const next = await shop.buy('x', v2(await pay()));
    expect(next.headers.get('x-redelivered')).toBeNull();
    expect(slow.facilitator.sent).toHaveLength(2);
  });

  test('is owed for ten minutes', async () => {
    let nowMs = Date.now();
    const slow = slowSettlement();
    await using shop = await startShop({ facilitator: slow.facilitator, clock: () => nowMs });
    await payAndLose(shop, 'x', slow);
    slow.settle();
    await expect.poll(() => shop.published.length).toBe(1);
    nowMs += 10 * 60_000 + 1;
    const answer = await shop.buy('x', v2(await pay({ nowMs })));
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-redelivered')).toBeNull();
    expect(slow.facilitator.sent).toHaveLength(2);
  });

  test('is owed only to its payer, and only for the same request', async () => {
    const slow = slowSettlement();
    await using shop = await startShop({ facilitator: slow.facilitator });
    await payAndLose(shop, 'x', slow);
    slow.settle();
    await expect.poll(() => shop.published.length).toBe(1);
    const stranger = await newPayer().sign({ value: PRICE });
    expect((await shop.buy('x', v2(stranger))).headers.get('x-redelivered')).toBeNull();
    expect((await shop.buy('y', v2(await pay()))).headers.get('x-redelivered')).toBeNull();
    expect(slow.facilitator.sent).toHaveLength(3);
  });

  test('needs a fresh signature on today’s terms', async () => {
    const slow = slowSettlement();
    await using shop = await startShop({ facilitator: slow.facilitator });
    await payAndLose(shop, 'x', slow);
    slow.settle();
    await expect.poll(() => shop.published.length).toBe(1);
    const junk = await pay({ signAs: newPayer().privateKey });
    slow.facilitator.verdict = { kind: 'invalid', reason: 'invalid_exact_evm_signature' };
    expect((await shop.buy('x', v2(junk))).status).toBe(402);
  });
});

describe('a payment identifier', () => {
  const id = 'order_0123456789abcdef';

  test('with a fresh signature gets the stored answer, and is not charged again', async () => {
    await using shop = await startShop();
    const first = await shop.buy('x', v2(await pay({ identifier: id })));
    const second = await shop.buy('x', v2(await pay({ identifier: id })));
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(second.body).toBe(first.body);
    expect(second.headers.get('x-redelivered')).toBe('1');
    expect(second.paid).toEqual(first.paid);
    expect(shop.settlements).toHaveLength(1);
  });

  test('does not open to a signature for other terms, because other sellers have such signatures', async () => {
    await using shop = await startShop();
    expect((await shop.buy('x', v2(await pay({ identifier: id })))).status).toBe(200);
    const expired = { validBefore: BigInt(Math.floor(Date.now() / 1000) - 1) };
    const others = [
      [{ value: 7n }, 'wrong_amount'],
      [{ to: TERMS.asset }, 'wrong_recipient'],
      [expired, 'authorization_expired'],
    ] as const;
    for (const [options, code] of others) {
      const answer = await shop.buy('x', v2(await pay({ identifier: id, ...options })));
      expect(answer.status).toBe(402);
      expect(answer.json['error']).toMatch(new RegExp(`^${code}: `));
      // The answer does not tell whether the identifier is known.
      const probe = await shop.buy('y', v2(await pay({ identifier: id, ...options })));
      expect(probe.status).toBe(402);
    }
    expect(shop.settlements).toHaveLength(1);
  });

  test('opens to a signature that can no longer be settled', async () => {
    await using shop = await startShop();
    expect((await shop.buy('x', v2(await pay({ identifier: id })))).status).toBe(200);
    const validBefore = BigInt(Math.floor(Date.now() / 1000) + 60);
    const late = await shop.buy('x', v2(await pay({ identifier: id, validBefore })));
    expect(late.headers.get('x-redelivered')).toBe('1');
    expect(shop.settlements).toHaveLength(1);
  });

  test('for another request is a conflict', async () => {
    await using shop = await startShop();
    expect((await shop.buy('x', v2(await pay({ identifier: id })))).status).toBe(200);
    const answer = await shop.buy('y', v2(await pay({ identifier: id })));
    expect(answer.status).toBe(409);
    expect(answer.json).toMatchObject({ error: 'payment_conflict', field: 'payment-identifier' });
    expect(shop.settlements).toHaveLength(1);
  });

  test('of one payer does not open to another payer', async () => {
    await using shop = await startShop();
    expect((await shop.buy('x', v2(await pay({ identifier: id })))).status).toBe(200);
    const other = await newPayer().sign({ value: PRICE, identifier: id });
    const answer = await shop.buy('y', v2(other));
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-redelivered')).toBeNull();
    expect(shop.settlements).toHaveLength(2);
  });

  test('of a failed call binds to the next signature', async () => {
    let isBroken = true;
    await using shop = await startShop({
      compute: async (item) => {
        if (isBroken) throw new Error('broken');
        return answerOf(item);
      },
    });
    expect((await shop.buy('x', v2(await pay({ identifier: id })))).status).toBe(500);
    isBroken = false;
    expect((await shop.buy('x', v2(await pay({ identifier: id })))).status).toBe(200);
    expect(
      (await shop.buy('x', v2(await pay({ identifier: id })))).headers.get('x-redelivered'),
    ).toBe('1');
    expect(shop.settlements).toHaveLength(1);
  });

  test('with five signatures at once gives one computation and one charge', async () => {
    const gate = newLatch();
    await using shop = await startShop({
      compute: async (item) => {
        await gate.opened;
        return answerOf(item);
      },
    });
    const headers = await Promise.all(Array.from({ length: 5 }, () => pay({ identifier: id })));
    const calls = headers.map((signed) => shop.buy('x', v2(signed)));
    await expect.poll(() => shop.paidCalls()).toBe(5);
    await expect.poll(() => shop.computations.length).toBe(1);
    gate.open();
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
    const answer = await shop.buy('x', v2(await pay({ identifier })));
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({ error: 'invalid_payment_identifier', charged: false });
    expect(shop.computations).toHaveLength(0);
  });

  test.each([16, 128])('of %i characters is good', async (length) => {
    await using shop = await startShop();
    const signed = await pay({ identifier: 'a'.repeat(length) });
    expect((await shop.buy('x', v2(signed))).status).toBe(200);
  });

  test('extension that is echoed without an id changes nothing', async () => {
    await using shop = await startShop();
    const signed = await pay({ identifier: null });
    expect((await shop.buy('x', v2(signed))).status).toBe(200);
    expect((await shop.buy('y', v2(await pay({ identifier: null })))).status).toBe(200);
    expect(shop.settlements).toHaveLength(2);
  });
});
