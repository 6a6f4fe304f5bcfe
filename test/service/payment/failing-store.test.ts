import { describe, expect, test } from 'vitest';
import type { SettleOutcome } from '../../../src/service/payment/settle/facilitator.ts';
import { flakyStore } from './flaky-store.ts';
import { newPayer, toHeaders } from './payer.ts';
import { listLedgerRows, listStates, QUICK_TIMING } from './settling.ts';
import { startGatedShop, startShop } from './shop.ts';
import { stubFacilitator, TRANSACTION } from './stub-facilitator.ts';

const payer = newPayer();
const { sign: pay } = payer;
const LATE_TRANSACTION = `0x${'ef'.repeat(32)}` as const;

const settledLater: SettleOutcome = { kind: 'settled', transaction: LATE_TRANSACTION };

describe('if the store fails', () => {
  test('after the settlement, the payer gets the 200, and the service records the settlement later', async () => {
    const facilitator = stubFacilitator();
    const flaky = flakyStore();
    await using shop = await startShop({ facilitator, store: flaky.store, timing: QUICK_TIMING });
    flaky.failSteps(['settled', 'unknown']);
    const signed = await pay();
    const answer = await shop.buy('x', toHeaders(signed));
    expect(answer.status).toBe(200);
    expect(answer.paid?.transaction).toBe(TRANSACTION);
    expect(await listStates(shop, signed)).toEqual(['claimed', 'computed', 'settling']);
    flaky.heal();
    await expect.poll(() => listStates(shop, signed)).toContain('published');
    expect(facilitator.sent).toHaveLength(1);
    expect((await listLedgerRows(shop, signed)).at(-1)?.answerId).toBeDefined();
    const redelivered = await shop.buy('x', toHeaders(signed));
    expect(redelivered.body).toBe(answer.body);
    await flaky.store.close();
  });

  test('before the settlement, no payment is sent, and nothing is charged', async () => {
    const facilitator = stubFacilitator();
    const flaky = flakyStore();
    await using shop = await startShop({ facilitator, store: flaky.store, timing: QUICK_TIMING });
    for (const state of ['claimed', 'computed'] as const) {
      flaky.failSteps([state]);
      const answer = await shop.buy('x', toHeaders(await pay()));
      expect(answer.status).toBe(503);
      expect(answer.json).toMatchObject({ error: 'store_unavailable', charged: false });
    }
    flaky.failSteps(['settling'], { code: 'full' });
    const answer = await shop.buy('x', toHeaders(await pay()));
    expect(answer.json).toMatchObject({ error: 'store_unavailable', charged: false });
    expect(facilitator.sent).toHaveLength(0);
    flaky.heal();
    expect((await shop.buy('x', toHeaders(await pay()))).status).toBe(200);
    await flaky.store.close();
  });

  test('but has written the intent to settle, the payer gets settlement_unknown, and later 200 for the same header', async () => {
    const facilitator = stubFacilitator();
    const flaky = flakyStore();
    await using shop = await startShop({ facilitator, store: flaky.store, timing: QUICK_TIMING });
    flaky.failSteps(['settling'], { writes: true });
    const signed = await pay();
    const answer = await shop.buy('x', toHeaders(signed));
    expect(answer).toMatchObject({ status: 503, json: { error: 'settlement_unknown' } });
    flaky.heal();
    await expect.poll(() => listStates(shop, signed)).toContain('published');
    expect((await shop.buy('x', toHeaders(signed))).status).toBe(200);
    await flaky.store.close();
  });

  test('and has not written the intent to settle, the payer gets settlement_unknown, and the payment is never sent', async () => {
    const facilitator = stubFacilitator();
    const flaky = flakyStore();
    await using shop = await startShop({ facilitator, store: flaky.store, timing: QUICK_TIMING });
    flaky.failSteps(['settling', 'released']);
    const signed = await pay();
    expect((await shop.buy('x', toHeaders(signed))).json).toMatchObject({
      error: 'settlement_unknown',
    });
    flaky.heal();
    await expect.poll(() => listStates(shop, signed)).toEqual(['claimed', 'computed', 'released']);
    expect(facilitator.sent).toHaveLength(0);
    await flaky.store.close();
  });

  test('while a refusal is recorded, the answer does not promise that the payment stays uncharged', async () => {
    const facilitator = stubFacilitator();
    facilitator.outcomes = [{ kind: 'refused', reason: 'insufficient_funds' }, settledLater];
    const flaky = flakyStore();
    await using shop = await startShop({ facilitator, store: flaky.store, timing: QUICK_TIMING });
    flaky.failSteps(['released']);
    const signed = await pay();
    expect((await shop.buy('x', toHeaders(signed))).json).toMatchObject({
      error: 'settlement_unknown',
    });
    flaky.heal();
    await expect.poll(() => listStates(shop, signed)).toContain('published');
    expect((await shop.buy('x', toHeaders(signed))).status).toBe(200);
    await flaky.store.close();
  });
});

test('a call for which the ledger does not answer after its wait keeps no turn', async () => {
  const flaky = flakyStore();
  await using shop = await startGatedShop({ store: flaky.store, maxRunning: 4 });
  const firstCall = shop.buy('first', toHeaders(await pay()));
  await expect.poll(() => shop.computations.length).toBe(1);
  const queriesBefore = flaky.settledQueries();
  const secondCall = shop.buy('second', toHeaders(await pay()));
  // A payer has one of four turns. The fourth query is of the third try, which comes after a pause.
  await expect.poll(() => flaky.settledQueries() - queriesBefore).toBeGreaterThanOrEqual(4);
  flaky.failRecent();
  shop.finishWork();
  expect((await firstCall).status).toBe(200);
  expect((await secondCall).json).toMatchObject({ error: 'store_unavailable', charged: false });
  flaky.heal();
  expect((await shop.buy('third', toHeaders(await pay()))).status).toBe(200);
  await flaky.store.close();
});

test('if the publication fails, the payer still gets the answer, and publication follows later', async () => {
  let isBroken = true;
  await using shop = await startShop({
    timing: QUICK_TIMING,
    publish: async () => {
      if (isBroken) throw new Error('no room');
    },
  });
  const signed = await pay();
  expect((await shop.buy('x', toHeaders(signed))).status).toBe(200);
  expect(await listStates(shop, signed)).not.toContain('published');
  isBroken = false;
  await expect.poll(() => listStates(shop, signed)).toContain('published');
  expect(shop.published).toEqual(['scan-of-x']);
});
