import { describe, expect, test } from 'vitest';
import { parseOrigin } from '../../../src/scanner/guard/origin.ts';
import { NoFreshReport } from '../../../src/service/errors/errors.ts';
import { newNonce, newPayer, toHeaders } from './payer.ts';
import { listStates, SALE } from './settling.ts';
import { createItemAnswer, type Shop, startGatedShop, startShop } from './shop.ts';
import { slowFacilitator, stubFacilitator } from './stub-facilitator.ts';

const payer = newPayer();
const { sign } = payer;

async function countDebts(shop: Shop): Promise<number> {
  return (await shop.unpaid(payer.address)).filter(({ isDebt }) => isDebt).length;
}

describe('an error is never charged', () => {
  test.each([
    ['one of our errors', () => new NoFreshReport(parseOrigin('a.example.com')), 404],
    ['an unexpected error', () => new Error('bug'), 500],
  ])('%s', async (_name, makeError, status) => {
    await using shop = await startShop({
      compute: async () => {
        throw makeError();
      },
    });
    const signed = await sign();
    const answer = await shop.buy('x', toHeaders(signed));
    expect(answer).toMatchObject({ status, json: { charged: false } });
    expect(answer.headers.get('payment-response')).toBeNull();
    expect(await listStates(shop, signed)).toEqual(['claimed', 'released']);
    expect(shop.settlements).toHaveLength(0);
    expect(shop.published).toHaveLength(0);
  });

  test('and its payment may be used for another request', async () => {
    let isBroken = true;
    await using shop = await startShop({
      compute: async (item) => {
        if (isBroken) throw new Error('broken');
        return createItemAnswer(item);
      },
    });
    const signed = await sign();
    expect((await shop.buy('x', toHeaders(signed))).status).toBe(500);
    isBroken = false;
    expect((await shop.buy('another', toHeaders(signed))).status).toBe(200);
    expect(await listStates(shop, signed)).toEqual(['claimed', 'released', ...SALE]);
  });
});

test('a call that gets 504 is not charged, its work goes on, and a retry gets the answer', async () => {
  await using shop = await startGatedShop({ answerWithinMs: 300 });
  const signed = await sign();
  const late = await shop.buy('slow', toHeaders(signed));
  expect(late.status).toBe(504);
  expect(late.json).toMatchObject({
    error: 'scan_processing',
    status: 'processing',
    charged: false,
    retryAfterSec: expect.any(Number),
  });
  expect(late.headers.get('retry-after')).not.toBeNull();
  expect(shop.settlements).toHaveLength(0);
  shop.finishWork();
  await expect.poll(() => countDebts(shop)).toBe(1);
  expect((await shop.buy('slow', toHeaders(signed))).status).toBe(200);
  expect(shop.settlements).toHaveLength(1);
  expect(await countDebts(shop)).toBe(0);
});

describe('a client that disconnects', () => {
  test('during the work is not charged, and the finished work counts as unpaid', async () => {
    await using shop = await startGatedShop();
    const signed = await sign();
    const call = shop.call('x', toHeaders(signed));
    await expect.poll(() => shop.computations.length).toBe(1);
    await call.hangUp();
    await expect.poll(() => listStates(shop, signed)).toEqual(['claimed', 'released']);
    shop.finishWork();
    await expect.poll(() => countDebts(shop)).toBe(1);
    expect(shop.settlements).toHaveLength(0);
    expect(shop.published).toHaveLength(0);

    const retryAnswer = await shop.buy('x', toHeaders(signed));
    expect(retryAnswer.status).toBe(200);
    expect(retryAnswer.headers.get('x-redelivered')).toBeNull();
    expect(shop.settlements).toHaveLength(1);
  });

  test('does not affect other calls with the same header: one of these calls takes over and pays', async () => {
    await using shop = await startGatedShop();
    const signed = await sign();
    const firstCall = shop.call('x', toHeaders(signed));
    await expect.poll(() => shop.computations.length).toBe(1);
    const otherCalls = [shop.buy('x', toHeaders(signed)), shop.buy('x', toHeaders(signed))];
    // The other calls must already wait. Otherwise they cannot take over from the first call.
    await expect.poll(() => shop.runningPaidCalls()).toBe(3);
    await firstCall.hangUp();
    await expect.poll(() => shop.computations.length).toBe(2);
    shop.finishWork();
    const answers = await Promise.all(otherCalls);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(shop.settlements).toHaveLength(1);
  });

  test('while it waits for the call of another client does not affect that call', async () => {
    await using shop = await startGatedShop();
    const signed = await sign();
    const firstCall = shop.buy('x', toHeaders(signed));
    await expect.poll(() => shop.computations.length).toBe(1);
    const secondCall = shop.call('x', toHeaders(signed));
    await expect.poll(() => shop.runningPaidCalls()).toBe(2);
    await secondCall.hangUp();
    shop.finishWork();
    expect((await firstCall).status).toBe(200);
    expect(shop.settlements).toHaveLength(1);
  });

  test('after its settlement was sent is charged, and gets its answer by the same header', async () => {
    const { facilitator, settle } = slowFacilitator();
    await using shop = await startShop({ facilitator });
    const signed = await sign();
    const call = shop.call('x', toHeaders(signed));
    await expect.poll(() => facilitator.sent.length).toBe(1);
    await call.hangUp();
    settle();
    await expect.poll(() => listStates(shop, signed)).toContain('published');
    const retryAnswer = await shop.buy('x', toHeaders(signed));
    expect(retryAnswer.status).toBe(200);
    expect(retryAnswer.headers.get('x-redelivered')).toBe('1');
    expect(facilitator.sent).toHaveLength(1);
  });
});

test('work that outlasts its signature is not charged, and is kept for another signature', async () => {
  let nowMs = Date.now();
  await using shop = await startShop({
    clock: () => nowMs,
    compute: async (item) => {
      nowMs += 190_000;
      return createItemAnswer(item);
    },
  });
  const signed = await sign({ nowMs, validBefore: BigInt(Math.floor(nowMs / 1000) + 200) });
  const answer = await shop.buy('x', toHeaders(signed));
  expect(answer.status).toBe(402);
  expect(answer.json['error']).toMatch(/^authorization_expired: .*Nothing was charged/);
  expect(await listStates(shop, signed)).toEqual(['claimed', 'computed', 'released']);
  expect(shop.settlements).toHaveLength(0);
  expect(await countDebts(shop)).toBe(1);
});

test('a payer who left more than five finished answers unpaid gets 429, before verification', async () => {
  const facilitator = stubFacilitator();
  facilitator.outcomes = [{ kind: 'refused', reason: 'insufficient_funds' }];
  await using shop = await startShop({ facilitator });
  for (let n = 1; n <= 6; n++) {
    expect((await shop.buy(`x${n}`, toHeaders(await sign()))).status).toBe(402);
  }
  const verifiedBefore = facilitator.verified.length;
  const answer = await shop.buy('x7', toHeaders(await sign()));
  expect(answer).toMatchObject({ status: 429, json: { error: 'unpaid_scans', charged: false } });
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(facilitator.verified).toHaveLength(verifiedBefore);
  const other = newPayer();
  const honest = await other.sign({ nonce: newNonce() });
  expect((await shop.buy('x7', toHeaders(honest))).status).toBe(402);
});

test('unpaid answers of other routes also count towards the 429', async () => {
  const facilitator = stubFacilitator();
  facilitator.outcomes = [{ kind: 'refused', reason: 'insufficient_funds' }];
  await using shop = await startShop({ facilitator });
  for (let n = 1; n <= 6; n++) {
    expect((await shop.get(`/list?n=${n}`, toHeaders(await sign()))).status).toBe(402);
  }
  const answer = await shop.get('/list?n=7', toHeaders(await sign()));
  expect(answer.json).toMatchObject({ error: 'unpaid_scans', charged: false });
});

test('no payer gets 429 if rate limits are off', async () => {
  const facilitator = stubFacilitator();
  facilitator.outcomes = [{ kind: 'refused', reason: 'insufficient_funds' }];
  await using shop = await startShop({ facilitator, isRateLimited: false });
  for (let n = 1; n <= 7; n++) {
    expect((await shop.buy(`x${n}`, toHeaders(await sign()))).status).toBe(402);
  }
});

test('when the service stops, it charges no call whose settlement has not begun', async () => {
  await using shop = await startGatedShop();
  const signed = await sign();
  const call = shop.buy('x', toHeaders(signed));
  await expect.poll(() => shop.computations.length).toBe(1);
  await shop.payments.stop();
  const answer = await call;
  expect(answer).toMatchObject({ status: 503, json: { error: 'saturated', charged: false } });
  expect(await listStates(shop, signed)).toEqual(['claimed', 'released']);
  shop.finishWork();
});
