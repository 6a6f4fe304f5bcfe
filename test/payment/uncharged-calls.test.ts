import { describe, expect, test } from 'vitest';
import { parseOrigin } from '../../src/guard/origin.ts';
import { NoFreshReport } from '../../src/model/errors.ts';
import { toPaymentKey } from '../../src/payment/terms.ts';
import { newNonce, newPayer, type SignedHeader, TERMS } from './payer.ts';
import { answerOf, newLatch, PRICE, type Shop, startShop } from './shop.ts';
import { stubFacilitator } from './stub-facilitator.ts';

const payer = newPayer();
const pay = (options = {}) => payer.sign({ value: PRICE, ...options });
const v2 = ({ header }: SignedHeader) => ({ 'payment-signature': header });

async function statesOf(shop: Shop, { nonce }: SignedHeader, from = payer.address) {
  const authorization = { from, nonce, to: from, value: 0n, validAfter: 0n, validBefore: 0n };
  const rows = await shop.store.ledger.findAllSteps(toPaymentKey(TERMS, authorization));
  return rows.map(({ state }) => state);
}

async function debtsOf(shop: Shop): Promise<number> {
  return (await shop.unpaid(payer.address)).filter(({ isDebt }) => isDebt).length;
}

describe('an error is never charged', () => {
  test.each([
    ['one of our errors', () => new NoFreshReport(parseOrigin('a.example.com')), 404],
    ['an unexpected error', () => new Error('bug'), 500],
  ])('%s', async (_name, make, status) => {
    await using shop = await startShop({
      compute: async () => {
        throw make();
      },
    });
    const signed = await pay();
    const answer = await shop.buy('x', v2(signed));
    expect(answer.status).toBe(status);
    expect(answer.json).toMatchObject({ charged: false });
    expect(answer.headers.get('payment-response')).toBeNull();
    expect(await statesOf(shop, signed)).toEqual(['claimed', 'released']);
    expect(shop.settlements).toHaveLength(0);
    expect(shop.published).toHaveLength(0);
  });

  test('and the payment may be used for another request', async () => {
    let isBroken = true;
    await using shop = await startShop({
      compute: async (item) => {
        if (isBroken) throw new Error('broken');
        return answerOf(item);
      },
    });
    const signed = await pay();
    expect((await shop.buy('x', v2(signed))).status).toBe(500);
    isBroken = false;
    expect((await shop.buy('another', v2(signed))).status).toBe(200);
    expect(await statesOf(shop, signed)).toEqual([
      'claimed',
      'released',
      'claimed',
      'computed',
      'settling',
      'settled',
      'published',
    ]);
  });
});

test('504: nothing is charged, the work goes on, and a retry gets its answer', async () => {
  const gate = newLatch();
  await using shop = await startShop({
    answerWithinMs: 300,
    compute: async (item) => {
      if (shop.computations.length === 1) await gate.opened;
      return answerOf(item);
    },
  });
  const signed = await pay();
  const late = await shop.buy('slow', v2(signed));
  expect(late.status).toBe(504);
  expect(late.json).toMatchObject({
    error: 'scan_processing',
    status: 'processing',
    charged: false,
    retryAfterSec: expect.any(Number),
  });
  expect(late.headers.get('retry-after')).not.toBeNull();
  expect(shop.settlements).toHaveLength(0);
  gate.open();
  await expect.poll(() => debtsOf(shop)).toBe(1);
  expect((await shop.buy('slow', v2(signed))).status).toBe(200);
  expect(shop.settlements).toHaveLength(1);
  expect(await debtsOf(shop)).toBe(0);
});

describe('a client that disconnects', () => {
  test('during the work is not charged; its finished work counts as unpaid', async () => {
    const gate = newLatch();
    await using shop = await startShop({
      compute: async (item) => {
        await gate.opened;
        return answerOf(item);
      },
    });
    const signed = await pay();
    const abort = new AbortController();
    const call = shop.buy('x', v2(signed), { signal: abort.signal });
    await expect.poll(() => shop.computations.length).toBe(1);
    abort.abort();
    await expect(call).rejects.toThrow();
    await expect.poll(() => statesOf(shop, signed)).toEqual(['claimed', 'released']);
    gate.open();
    await expect.poll(() => debtsOf(shop)).toBe(1);
    expect(shop.settlements).toHaveLength(0);
    expect(shop.published).toHaveLength(0);

    const again = await shop.buy('x', v2(signed));
    expect(again.status).toBe(200);
    expect(again.headers.get('x-redelivered')).toBeNull();
    expect(shop.settlements).toHaveLength(1);
  });

  test('does not affect others that wait with the same header: one of them pays', async () => {
    const gate = newLatch();
    await using shop = await startShop({
      compute: async (item) => {
        await gate.opened;
        return answerOf(item);
      },
    });
    const signed = await pay();
    const abort = new AbortController();
    const first = shop.buy('x', v2(signed), { signal: abort.signal });
    await expect.poll(() => shop.computations.length).toBe(1);
    const others = [shop.buy('x', v2(signed)), shop.buy('x', v2(signed))];
    // The others must already wait, or there is no call that they can take over from.
    await expect.poll(() => shop.paidCalls()).toBe(3);
    abort.abort();
    await expect(first).rejects.toThrow();
    await expect.poll(() => shop.computations.length).toBe(2);
    gate.open();
    const answers = await Promise.all(others);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(shop.settlements).toHaveLength(1);
  });

  test('while it waits for another changes nothing for others', async () => {
    const gate = newLatch();
    await using shop = await startShop({
      compute: async (item) => {
        await gate.opened;
        return answerOf(item);
      },
    });
    const signed = await pay();
    const first = shop.buy('x', v2(signed));
    await expect.poll(() => shop.computations.length).toBe(1);
    const abort = new AbortController();
    const second = shop.buy('x', v2(signed), { signal: abort.signal });
    await expect.poll(() => shop.paidCalls()).toBe(2);
    abort.abort();
    await expect(second).rejects.toThrow();
    gate.open();
    expect((await first).status).toBe(200);
    expect(shop.settlements).toHaveLength(1);
  });

  test('after its settlement was sent is charged, and gets its answer by the same header', async () => {
    const facilitator = stubFacilitator();
    const settled = newLatch();
    const [outcome] = facilitator.outcomes;
    if (outcome === undefined) throw new Error('the stub has no outcome');
    facilitator.outcomes = [settled.opened.then(() => outcome)];
    await using shop = await startShop({ facilitator });
    const signed = await pay();
    const abort = new AbortController();
    const call = shop.buy('x', v2(signed), { signal: abort.signal });
    await expect.poll(() => facilitator.sent.length).toBe(1);
    abort.abort();
    await expect(call).rejects.toThrow();
    settled.open();
    await expect.poll(() => statesOf(shop, signed)).toContain('published');
    const again = await shop.buy('x', v2(signed));
    expect(again.status).toBe(200);
    expect(again.headers.get('x-redelivered')).toBe('1');
    expect(facilitator.sent).toHaveLength(1);
  });
});

test('work that outlasts its signature is not charged, and is kept for another signature', async () => {
  let nowMs = Date.now();
  await using shop = await startShop({
    clock: () => nowMs,
    compute: async (item) => {
      nowMs += 190_000;
      return answerOf(item);
    },
  });
  const signed = await pay({ nowMs, validBefore: BigInt(Math.floor(nowMs / 1000) + 200) });
  const answer = await shop.buy('x', v2(signed));
  expect(answer.status).toBe(402);
  expect(answer.json['error']).toMatch(/^authorization_expired: .*Nothing was charged/);
  expect(await statesOf(shop, signed)).toEqual(['claimed', 'computed', 'released']);
  expect(shop.settlements).toHaveLength(0);
  expect(await debtsOf(shop)).toBe(1);
});

test('a payer who did not pay for more than five finished works gets 429, before verification', async () => {
  const facilitator = stubFacilitator();
  facilitator.outcomes = [{ kind: 'refused', reason: 'insufficient_funds' }];
  await using shop = await startShop({ facilitator });
  for (let n = 1; n <= 6; n++) {
    expect((await shop.buy(`x${n}`, v2(await pay()))).status).toBe(402);
  }
  const verified = facilitator.verified.length;
  const answer = await shop.buy('x7', v2(await pay()));
  expect(answer.status).toBe(429);
  expect(answer.json).toMatchObject({ error: 'unpaid_scans', charged: false });
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(facilitator.verified).toHaveLength(verified);
  const other = newPayer();
  const honest = await other.sign({ value: PRICE, nonce: newNonce() });
  expect((await shop.buy('x7', v2(honest))).status).toBe(402);
});

test('unpaid answers of other routes count as well: they are stored for an hour', async () => {
  const facilitator = stubFacilitator();
  facilitator.outcomes = [{ kind: 'refused', reason: 'insufficient_funds' }];
  await using shop = await startShop({ facilitator });
  for (let n = 1; n <= 6; n++) {
    expect((await shop.get(`/list?n=${n}`, v2(await pay()))).status).toBe(402);
  }
  const answer = await shop.get('/list?n=7', v2(await pay()));
  expect(answer.json).toMatchObject({ error: 'unpaid_scans', charged: false });
});

test('no payer gets 429 if rate limits are off', async () => {
  const facilitator = stubFacilitator();
  facilitator.outcomes = [{ kind: 'refused', reason: 'insufficient_funds' }];
  await using shop = await startShop({ facilitator, isRateLimited: false });
  for (let n = 1; n <= 7; n++) {
    expect((await shop.buy(`x${n}`, v2(await pay()))).status).toBe(402);
  }
});

test('a service that stops charges no call whose settlement has not begun', async () => {
  const gate = newLatch();
  await using shop = await startShop({
    compute: async (item) => {
      await gate.opened;
      return answerOf(item);
    },
  });
  const signed = await pay();
  const call = shop.buy('x', v2(signed));
  await expect.poll(() => shop.computations.length).toBe(1);
  await shop.payments.stop();
  const answer = await call;
  expect(answer.status).toBe(503);
  expect(answer.json).toMatchObject({ error: 'saturated', charged: false });
  expect(await statesOf(shop, signed)).toEqual(['claimed', 'released']);
  gate.open();
});
