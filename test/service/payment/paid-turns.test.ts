import { once } from 'node:events';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { newPayer, type Payer, type SignedHeader, toHeaders } from './payer.ts';
import { createItemAnswer, newLatch, type Shop, startGatedShop, startShop } from './shop.ts';
import { stubFacilitator } from './stub-facilitator.ts';

const sign = (payer: Payer) => payer.sign();

async function buyMany(shop: Shop, payers: readonly Payer[], headers: Record<string, string> = {}) {
  const signed = await Promise.all(payers.map(sign));
  return signed.map((payment, index) =>
    shop.buy(`item-${index}`, { ...toHeaders(payment), ...headers }),
  );
}

async function settleOnce(shop: Shop, payer: Payer, item = 'before'): Promise<void> {
  expect((await shop.buy(item, toHeaders(await sign(payer)))).status).toBe(200);
}

test('one wallet buys forty scans at once, and all of them are answered in turn', async () => {
  let running = 0;
  let maxRunningSeen = 0;
  await using shop = await startShop({
    maxRunning: 32,
    compute: async (item) => {
      running += 1;
      maxRunningSeen = Math.max(maxRunningSeen, running);
      await new Promise((resolve) => setTimeout(resolve, 20));
      running -= 1;
      return createItemAnswer(item);
    },
  });
  const payer = newPayer();
  const answers = await Promise.all(await buyMany(shop, Array(40).fill(payer)));
  expect(answers.map(({ status }) => status)).toEqual(Array(40).fill(200));
  expect(shop.settlements).toHaveLength(40);
  expect(shop.computations).toHaveLength(40);
  // A payer has five open calls before their first settlement, and at most a quarter of all turns.
  expect(maxRunningSeen).toBeLessThanOrEqual(8);
}, 60_000);

test('a payer without a settlement has five open calls, and further calls get a retry time, uncharged', async () => {
  await using shop = await startGatedShop({ timing: { turnWithinMs: 500 } });
  const payer = newPayer();
  const calls = await buyMany(shop, Array(7).fill(payer));
  const laterAnswers = await Promise.race([
    Promise.all(calls.slice(5)),
    Promise.all(calls.map((call) => call.then(({ status }) => status))),
  ]);
  expect(shop.computations).toHaveLength(5);
  for (const answer of laterAnswers) {
    expect(answer).toMatchObject({
      status: 429,
      json: { error: 'too_many_open', charged: false },
    });
    if (typeof answer === 'object') expect(answer.headers.get('retry-after')).toBe('30');
  }
  shop.finishWork();
  const firstAnswers = await Promise.all(calls.slice(0, 5));
  expect(firstAnswers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  expect(shop.settlements).toHaveLength(5);
});

test('waiting calls are served in the order of their arrival', async () => {
  const order: string[] = [];
  const gates = new Map<string, ReturnType<typeof newLatch>>();
  await using shop = await startShop({
    compute: async (item) => {
      order.push(item);
      const gate = newLatch();
      gates.set(item, gate);
      await gate.opened;
      return createItemAnswer(item);
    },
  });
  const payer = newPayer();
  const calls: Promise<unknown>[] = [];
  for (let n = 0; n < 8; n++) {
    calls.push(shop.buy(`item-${n}`, toHeaders(await sign(payer))));
    await expect.poll(() => shop.runningPaidCalls()).toBe(n + 1);
    if (n < 5) await expect.poll(() => order.length).toBe(n + 1);
  }
  // Each settled call ends its own turn and allows one more open call.
  gates.get('item-0')?.open();
  await expect.poll(() => order.length).toBe(7);
  gates.get('item-1')?.open();
  await expect.poll(() => order.length).toBe(8);
  expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7].map((n) => `item-${n}`));
  for (const { open } of gates.values()) open();
  await Promise.all(calls);
});

test('a client that disconnects while it waits keeps no turn', async () => {
  await using shop = await startGatedShop();
  const payer = newPayer();
  const calls = await buyMany(shop, Array(5).fill(payer));
  await expect.poll(() => shop.computations.length).toBe(5);
  const sixthCall = shop.call('sixth', toHeaders(await sign(payer)));
  await expect.poll(() => shop.runningPaidCalls()).toBe(6);
  await sixthCall.hangUp();
  await expect.poll(() => shop.runningPaidCalls()).toBe(5);
  const seventhCall = shop.buy('seventh', toHeaders(await sign(payer)));
  shop.finishWork();
  await Promise.all(calls);
  expect((await seventhCall).status).toBe(200);
  expect(shop.computations.map(({ item }) => item)).not.toContain('sixth');
});

describe('the turns of one process', () => {
  test('are taken by one client up to a quarter, however many wallets it pays from', async () => {
    await using shop = await startGatedShop({ maxRunning: 8, timing: { turnWithinMs: 400 } });
    const calls = await buyMany(shop, [newPayer(), newPayer(), newPayer()]);
    expect(await Promise.race(calls)).toMatchObject({ json: { error: 'too_many_open' } });
    expect(shop.computations).toHaveLength(2);
    shop.finishWork();
    await Promise.all(calls);
  });

  test('are shared by payer only, if the service is behind a proxy that the settings do not trust', async () => {
    await using shop = await startGatedShop({ maxRunning: 8 });
    const headers = { 'x-forwarded-for': '203.0.113.7' };
    const calls = await buyMany(shop, [newPayer(), newPayer(), newPayer()], headers);
    await expect.poll(() => shop.computations.length).toBe(3);
    shop.finishWork();
    for (const { status } of await Promise.all(calls)) expect(status).toBe(200);
  });

  test('have one log line with the reason, if the service is behind such a proxy', async () => {
    const forwardingHeaders = [
      { forwarded: 'for=203.0.113.7' },
      { 'x-forwarded-for': '203.0.113.7' },
      { 'x-real-ip': '203.0.113.7' },
      { 'cf-connecting-ip': '203.0.113.7' },
    ];
    for (const headers of forwardingHeaders) {
      const logLines: string[] = [];
      await using shop = await startShop({ logged: logLines });
      await shop.buy('x', toHeaders(await sign(newPayer())));
      expect(logLines).toEqual([]);
      for (const item of ['y', 'z']) {
        await shop.buy(item, { ...toHeaders(await sign(newPayer())), ...headers });
      }
      expect(logLines).toHaveLength(1);
      expect(JSON.parse(logLines[0] ?? '')).toMatchObject({
        level: 40,
        msg: expect.stringMatching(/TRUST_PROXY is empty: fair shares count only by payer/),
      });
    }
    const logLines: string[] = [];
    await using shop = await startShop({ logged: logLines, trustsProxy: true });
    await shop.buy('x', { ...toHeaders(await sign(newPayer())), ...forwardingHeaders[1] });
    expect(logLines).toEqual([]);
  });

  test('are reserved in their last quarter for payers who have settled before', async () => {
    await using shop = await startGatedShop({
      maxRunning: 4,
      timing: { turnWithinMs: 400 },
    });
    shop.holdWork(false);
    const settledPayer = newPayer();
    await settleOnce(shop, settledPayer);
    shop.holdWork(true);
    const headers = { 'x-forwarded-for': '203.0.113.7' };
    const newPayerCalls = await buyMany(
      shop,
      Array.from({ length: 4 }, () => newPayer()),
      headers,
    );
    expect(await Promise.race(newPayerCalls)).toMatchObject({ json: { error: 'too_many_open' } });
    expect(shop.computations).toHaveLength(4);
    const settledPayerCall = shop.buy('mine', {
      ...toHeaders(await sign(settledPayer)),
      ...headers,
    });
    await expect.poll(() => shop.computations.length).toBe(5);
    shop.finishWork();
    expect((await settledPayerCall).status).toBe(200);
    await Promise.all(newPayerCalls);
  });
});

describe('the calls that may wait', () => {
  /** All callers count by payer only. */
  const PROXIED = { 'x-forwarded-for': '203.0.113.7' };
  const newPayers = (count: number) => Array.from({ length: count }, () => newPayer());

  test('are of payers who never settled up to a quarter, and whoever has settled need not wait to buy', async () => {
    await using shop = await startGatedShop({
      maxRunning: 4,
      maxWaiting: 8,
    });
    shop.holdWork(false);
    const settled = newPayer();
    await settleOnce(shop, settled);
    shop.holdWork(true);
    // Three of them compute, and two wait.
    const strangers = await buyMany(shop, newPayers(5), PROXIED);
    await expect.poll(() => shop.computations.length).toBe(4);
    await expect.poll(() => shop.runningPaidCalls()).toBe(5);
    const [refused] = await Promise.all(await buyMany(shop, newPayers(1), PROXIED));
    expect(refused).toMatchObject({ status: 503, json: { error: 'saturated', charged: false } });
    expect(refused?.headers.get('retry-after')).toBe('10');
    // The settled payer gets the last quarter at once, and may wait for more.
    const [first, second] = await buyMany(shop, [settled, settled], PROXIED);
    await expect.poll(() => shop.computations.length).toBe(5);
    shop.finishWork();
    expect((await first)?.status).toBe(200);
    expect((await second)?.status).toBe(200);
    for (const { status } of await Promise.all(strangers)) expect(status).toBe(200);
  });

  test('do not hinder a call that need not wait', async () => {
    await using shop = await startGatedShop({ maxRunning: 16, maxWaiting: 4 });
    // One wallet computes up to its quarter, waits with one call, and may wait with no other.
    const calls = await buyMany(shop, Array(6).fill(newPayer()), PROXIED);
    expect(await Promise.race(calls)).toMatchObject({ json: { error: 'saturated' } });
    const honest = await buyMany(shop, newPayers(3), PROXIED);
    await expect.poll(() => shop.computations.length).toBe(7);
    shop.finishWork();
    for (const { status } of await Promise.all(honest)) expect(status).toBe(200);
    await Promise.all(calls);
  });

  test('are of one block of addresses up to a quarter, whatever was settled from there', async () => {
    await using shop = await startGatedShop({
      maxRunning: 8,
      maxWaiting: 8,
    });
    shop.holdWork(false);
    const settled = newPayers(5);
    for (const payer of settled) await settleOnce(shop, payer);
    shop.holdWork(true);
    const [a, b, c, d, e] = await Promise.all(settled.map(sign));
    const buyFrom = async (address: string, payment: SignedHeader | undefined) => {
      if (payment === undefined) throw new Error('no payment');
      const headers = { 'content-type': 'application/json', ...toHeaders(payment) };
      const call = request(`${shop.url}/work`, { method: 'POST', headers, localAddress: address });
      call.end(JSON.stringify({ item: payment.nonce }));
      const [response] = await once(call, 'response');
      return [response.statusCode, await text(response)];
    };
    // Each address computes its quarter of the work, and its block has a quarter of the calls that may wait.
    const computing = [buyFrom('127.0.0.2', a), buyFrom('127.0.0.2', b)];
    await expect.poll(() => shop.computations.length).toBe(7);
    const waiting = [buyFrom('127.0.0.2', c), buyFrom('127.0.0.2', d)];
    await expect.poll(() => shop.runningPaidCalls()).toBe(4);
    const thirdOfAddress = await buyFrom('127.0.0.2', e);
    expect(thirdOfAddress).toEqual([429, expect.stringContaining('too_many_open')]);
    const other = await Promise.all(newPayers(3).map(sign));
    const neighbours = [buyFrom('127.0.0.3', other[0]), buyFrom('127.0.0.3', other[1])];
    await expect.poll(() => shop.computations.length).toBe(9);
    const waitingNeighbour = await buyFrom('127.0.0.3', other[2]);
    expect(waitingNeighbour).toEqual([429, expect.stringContaining('too_many_open')]);
    // The third quarter of the work is free, so an address of another block begins at once.
    const elsewhere = buyFrom('127.0.1.1', e);
    await expect.poll(() => shop.computations.length).toBe(10);
    shop.finishWork();
    const all = await Promise.all([...computing, ...waiting, ...neighbours, elsewhere]);
    expect(all.map(([status]) => status)).toEqual(Array(7).fill(200));
  });
});

test('a turn lasts until the work ends, also if the caller has disconnected', async () => {
  await using shop = await startGatedShop({
    maxRunning: 4,
    timing: { turnWithinMs: 400 },
    answerWithinMs: 1_000,
  });
  const payer = newPayer();
  const abandonedCall = shop.call('left', toHeaders(await sign(payer)));
  await expect.poll(() => shop.computations.length).toBe(1);
  await abandonedCall.hangUp();
  await expect.poll(() => shop.runningPaidCalls()).toBe(0);
  const nextAnswer = await shop.buy('next', toHeaders(await sign(payer)));
  expect(nextAnswer.json).toMatchObject({ error: 'too_many_open' });
  shop.finishWork();
  await expect
    .poll(async () => (await shop.unpaid(payer.address)).map(({ isDebt }) => isDebt))
    .toEqual([true]);
  expect((await shop.buy('next', toHeaders(await sign(payer)))).status).toBe(200);
});

test('with rate limits off, one payer may have any number of open calls', async () => {
  await using shop = await startGatedShop({ isRateLimited: false, maxRunning: 4 });
  const calls = await buyMany(shop, Array(9).fill(newPayer()));
  await expect.poll(() => shop.computations.length).toBe(9);
  shop.finishWork();
  for (const { status } of await Promise.all(calls)) expect(status).toBe(200);
});

test('a payer who pays for their own finished work is never refused for debt', async () => {
  const facilitator = stubFacilitator();
  facilitator.outcomes = [{ kind: 'refused', reason: 'insufficient_funds' }];
  await using shop = await startShop({ facilitator, isFinished: (item) => item === 'x1' });
  const payer = newPayer();
  for (let n = 1; n <= 6; n++) {
    expect((await shop.buy(`x${n}`, toHeaders(await sign(payer)))).status).toBe(402);
  }
  expect((await shop.buy('x7', toHeaders(await sign(payer)))).json).toMatchObject({
    error: 'unpaid_scans',
  });
  facilitator.outcomes = [{ kind: 'settled', transaction: `0x${'ab'.repeat(32)}` }];
  expect((await shop.buy('x1', toHeaders(await sign(payer)))).status).toBe(200);
});
