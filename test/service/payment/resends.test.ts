/** A payment in doubt is sent again and looked up at certain times; the ledger counts its sends. */
import { describe, expect, test } from 'vitest';
import { toNextLookMs, toResendTimesMs } from '../../../src/service/payment/ledger/reconcile.ts';
import { toPaymentTiming } from '../../../src/service/payment/timing.ts';
import { MEMORY, openSqlite } from '../../../src/service/store/sqlite/store.ts';
import { newPayer, toHeaders } from './payer.ts';
import { listLedgerRows, QUICK_TIMING } from './settling.ts';
import { startShop } from './shop.ts';
import { stubFacilitator, TRANSACTION } from './stub-facilitator.ts';
import { startStubNode, unusedChain } from './stub-node.ts';

const payer = newPayer();

function openClockedStore() {
  const time = { nowMs: Date.now() };
  const sqlite = openSqlite(MEMORY, { clock: () => time.nowMs });
  return Object.assign(time, { sqlite, [Symbol.asyncDispose]: () => sqlite.close() });
}

describe('if the service can ask a chain, a payment in doubt', () => {
  test('is sent at most five times, and is then only looked up on the chain', async () => {
    const facilitator = stubFacilitator();
    facilitator.outcomes = [{ kind: 'unclear', reason: 'timeout', transaction: null }];
    await using node = await startStubNode(unusedChain());
    let nowMs = Date.now();
    const clock = () => nowMs;
    await using shop = await startShop({
      timing: QUICK_TIMING,
      clock,
      facilitator,
      rpcUrl: node.rpcUrl,
    });
    const signed = await payer.sign();
    const headers = toHeaders(signed);
    expect((await shop.buy('x', headers)).status).toBe(503);
    for (let sends = 1; sends < 5; sends++) {
      expect(facilitator.sent).toHaveLength(sends);
      nowMs += 40;
      await expect.poll(() => facilitator.sent.length).toBe(sends + 1);
    }
    nowMs += 60_000;
    const requestsBefore = node.requestedMethods.length;
    await expect.poll(() => node.requestedMethods.length).toBeGreaterThan(requestsBefore + 4);
    expect(facilitator.sent).toHaveLength(5);
    const rows = await listLedgerRows(shop, signed);
    const sendStates = Array.from({ length: 5 }, () => 'unknown');
    expect(rows.map(({ state }) => state)).toEqual([
      'claimed',
      'computed',
      'settling',
      ...sendStates,
    ]);
  });

  test('is sent at most five times by all instances and restarts together', async () => {
    await using store = openClockedStore();
    const facilitators = [stubFacilitator(), stubFacilitator(), stubFacilitator()] as const;
    for (const facilitator of facilitators) {
      facilitator.outcomes = [{ kind: 'unclear', reason: 'timeout', transaction: null }];
    }
    const sent = () => facilitators.reduce((sum, facilitator) => sum + facilitator.sent.length, 0);
    await using node = await startStubNode(unusedChain());
    const options = { timing: QUICK_TIMING, store: store.sqlite, rpcUrl: node.rpcUrl };
    const signed = await payer.sign();
    const headers = toHeaders(signed);
    {
      await using firstShop = await startShop({ ...options, facilitator: facilitators[0] });
      expect((await firstShop.buy('x', headers)).status).toBe(503);
      store.nowMs += 40;
      await expect.poll(sent).toBe(2);
    }
    // Two instances look at the same time after a restart. They know of each other's sends only by the ledger.
    await using secondShop = await startShop({ ...options, facilitator: facilitators[1] });
    await using thirdShop = await startShop({ ...options, facilitator: facilitators[2] });
    for (const shop of [secondShop, thirdShop, secondShop, thirdShop]) await shop.buy('x', headers);
    for (let sends = 2; sends < 5; sends++) {
      expect(sent()).toBe(sends);
      store.nowMs += 40;
      await expect.poll(sent).toBe(sends + 1);
    }
    store.nowMs += 60_000;
    const requestsBefore = node.requestedMethods.length;
    await expect.poll(() => node.requestedMethods.length).toBeGreaterThan(requestsBefore + 8);
    expect(sent()).toBe(5);
  });

  test('is sent more often if its later sends could not connect, and no row is written for these sends', async () => {
    const facilitator = stubFacilitator();
    facilitator.outcomes = [
      { kind: 'unclear', reason: 'timeout', transaction: null },
      { kind: 'not_sent', reason: 'connection refused' },
    ];
    await using node = await startStubNode(unusedChain());
    await using shop = await startShop({ timing: QUICK_TIMING, facilitator, rpcUrl: node.rpcUrl });
    const signed = await payer.sign();
    await shop.buy('x', toHeaders(signed));
    await expect.poll(() => facilitator.sent.length).toBeGreaterThan(7);
    expect(await listLedgerRows(shop, signed)).toHaveLength(5);
  });

  test('that was mined and reverted is not sent again, even after a restart', async () => {
    await using store = openClockedStore();
    const facilitator = stubFacilitator();
    const reverted = { kind: 'unclear', reason: 'reverted', isReverted: true } as const;
    facilitator.outcomes = [{ ...reverted, transaction: TRANSACTION }];
    await using node = await startStubNode(unusedChain());
    const options = { timing: QUICK_TIMING, store: store.sqlite, facilitator, rpcUrl: node.rpcUrl };
    const signed = await payer.sign();
    for (let run = 1; run <= 2; run++) {
      await using shop = await startShop(options);
      const answer = await shop.buy('x', toHeaders(signed));
      expect(answer.json['error']).toBe('settlement_unknown');
      store.nowMs += 40;
      const requestsBefore = node.requestedMethods.length;
      await expect.poll(() => node.requestedMethods.length).toBeGreaterThan(requestsBefore + 6);
      expect(facilitator.sent).toHaveLength(1);
    }
  });

  test('is looked up on every instance under the transaction that a later send returned', async () => {
    await using store = openClockedStore();
    const facilitator = stubFacilitator();
    facilitator.outcomes = [
      { kind: 'unclear', reason: 'timeout', transaction: null },
      { kind: 'unclear', reason: 'timeout', transaction: TRANSACTION },
    ];
    await using node = await startStubNode(unusedChain());
    const options = { timing: QUICK_TIMING, store: store.sqlite, facilitator, rpcUrl: node.rpcUrl };
    const signed = await payer.sign();
    const headers = toHeaders(signed);
    {
      await using shop = await startShop(options);
      await shop.buy('x', headers);
      store.nowMs += 40;
      await expect.poll(() => facilitator.sent.length).toBe(2);
    }
    await using shop = await startShop({ ...options, facilitator: stubFacilitator() });
    const answer = await shop.buy('x', headers);
    expect(answer.json['payment']).toMatchObject({ transaction: TRANSACTION });
    expect(
      node.requestedMethods.filter((method) => method === 'eth_getTransactionReceipt'),
    ).not.toEqual([]);
  });
});

describe('a facilitator that is down', () => {
  // All times here are a hundredth of the real ones.
  const timing = { ...toPaymentTiming(0.01), reconcileWithinMs: 100 };

  test.each([
    ['20 s', 200],
    ['two minutes', 1_150],
  ])('for %s loses no payment', async (_name, downMs) => {
    const facilitator = stubFacilitator();
    const settle = facilitator.settle.bind(facilitator);
    let firstSendMs: number | null = null;
    facilitator.settle = async (request) => {
      firstSendMs ??= performance.now();
      const outcome = await settle(request);
      const isDown = performance.now() - firstSendMs < downMs;
      return isDown ? { kind: 'unclear', reason: 'HTTP 503', transaction: null } : outcome;
    };
    await using node = await startStubNode(unusedChain());
    await using shop = await startShop({
      timing,
      facilitator,
      rpcUrl: node.rpcUrl,
    });
    const signed = await payer.sign();
    const headers = toHeaders(signed);
    expect((await shop.buy('x', headers)).status).toBe(503);
    // The chain has the payment after the first send that succeeds.
    const isSent = async () =>
      (await listLedgerRows(shop, signed)).some(({ data }) => data['transaction'] === TRANSACTION);
    await expect.poll(isSent).toBe(true);
    expect(facilitator.sent.length).toBeLessThanOrEqual(5);
  });
});

describe('a payment is sent again', () => {
  const [secondMs, minuteMs, hourMs] = [1_000, 60_000, 3_600_000];
  const toWaitsMs = (validForMs: number) =>
    toResendTimesMs(
      { firstMs: 7, validBeforeMs: 7 + validForMs },
      toPaymentTiming().resendAfterMs,
    ).map((ms) => ms - 7);

  test.each([
    ['20 s', 20 * secondMs, [5 * secondMs, 15 * secondMs]],
    ['90 s', 90 * secondMs, [5 * secondMs, 30 * secondMs, 67.5 * secondMs]],
    ['5 minutes', 5 * minuteMs, [5 * secondMs, 30 * secondMs, 2 * minuteMs, 3.75 * minuteMs]],
    ['20 minutes', 20 * minuteMs, [5 * secondMs, 30 * secondMs, 2 * minuteMs, 15 * minuteMs]],
    ['a day', 24 * hourMs, [5 * secondMs, 30 * secondMs, 2 * minuteMs, 15 * minuteMs]],
  ])('at set times, if its authorization is valid for %s', (_name, validForMs, expected) => {
    expect(toWaitsMs(validForMs)).toEqual(expected);
  });
});

describe('the next look-up', () => {
  const [secondMs, minuteMs, hourMs] = [1_000, 60_000, 3_600_000];
  const findNextLookMs = (backoffMs: number, untilDueMs: number, random = 0) =>
    toNextLookMs({ backoffMs, firstBackoffMs: secondMs, untilDueMs, random });

  test.each([
    [
      'comes after the backoff, if nothing is due before',
      findNextLookMs(minuteMs, hourMs),
      minuteMs,
    ],
    [
      'comes up to a quarter of the backoff later, so that keys are not looked up together',
      findNextLookMs(minuteMs, hourMs, 1),
      1.25 * minuteMs,
    ],
    [
      'comes when proof is possible or a send is due, even if the backoff is longer',
      findNextLookMs(hourMs, 10 * minuteMs),
      10 * minuteMs,
    ],
    [
      'comes at most 250 ms after proof is possible or a send is due',
      findNextLookMs(hourMs, 10 * minuteMs, 1),
      10 * minuteMs + 250,
    ],
    [
      'comes after the backoff, if nothing else is due',
      findNextLookMs(secondMs, Infinity),
      secondMs,
    ],
  ])('%s', (_name, waitMs, expectedMs) => {
    expect(waitMs).toBe(expectedMs);
  });
});
