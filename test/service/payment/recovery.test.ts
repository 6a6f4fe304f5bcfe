/** Its own case of a lost owner: one process starts again on the embedded store, and finds each state of the ledger. */

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { decodePayment } from '../../../src/service/payment/gate/payment-header.ts';
import { newClaimData } from '../../../src/service/payment/ledger/ledger.ts';
import { LedgerWriter } from '../../../src/service/payment/ledger/ledger-writer.ts';
import { toPaymentKey } from '../../../src/service/payment/terms.ts';
import { openStore } from '../../../src/service/store/open-store.ts';
import type { LedgerState } from '../../../src/service/store/payment-tables.ts';
import type { Store } from '../../../src/service/store/store.ts';
import { folderPerTest } from '../../fixtures/temp-folder.ts';
import { newPayer, REQUIREMENTS, type SignedHeader, TERMS, toHeaders } from './payer.ts';
import { QUICK_TIMING, SALE } from './settling.ts';
import { JSON_HEADERS, startShop } from './shop.ts';
import { stubFacilitator, TRANSACTION } from './stub-facilitator.ts';

const payer = newPayer();
const { sign } = payer;

/** Writes the rows of a process that died when a payment was in the last of `states`. Returns a reader of its states. */
async function writeSteps(store: Store, signed: SignedHeader, states: readonly LedgerState[]) {
  const payment = decodePayment({ 'payment-signature': [signed.header] }, TERMS);
  const key = toPaymentKey(TERMS, payment.authorization);
  const validBeforeMs = Number(payment.authorization.validBefore) * 1000;
  const facts = { key, payer: payer.address.toLowerCase(), request: 'work x', validBeforeMs };
  const writer = new LedgerWriter(store.ledger, facts, null);
  for (const state of states) {
    if (state === 'claimed')
      await writer.write(state, newClaimData(null, { ...payment, requirements: REQUIREMENTS }));
    else if (state === 'computed') {
      const answerId = `answer-${signed.nonce}`;
      await store.answers.put(answerId, { status: 200, headers: JSON_HEADERS }, [
        Buffer.from('{"from":"before"}'),
      ]);
      await writer.write(state, {}, { answerId, scanId: 'scan-of-x' });
    } else await writer.write(state, state === 'settled' ? { transaction: TRANSACTION } : {});
  }
  return async (opened: Store) => (await opened.ledger.findAllSteps(key)).map((row) => row.state);
}

describe('after a crash, on the embedded store,', () => {
  const folder = folderPerTest();
  let store: Store;
  const reopen = async () => {
    await store.close();
    store = await openStore(`sqlite:${folder.at('shop.db')}`);
  };
  beforeEach(async () => {
    store = await openStore(`sqlite:${folder.at('shop.db')}`);
  });
  afterEach(async () => {
    await store.close();
  });

  test.each([
    ['claimed', ['claimed']],
    ['computed', ['claimed', 'computed']],
  ] as const)('a payment that was %s is released and not charged', async (_name, states) => {
    const signed = await sign();
    const listStates = await writeSteps(store, signed, states);
    await reopen();
    const facilitator = stubFacilitator();
    await using _shop = await startShop({ store, facilitator, timing: QUICK_TIMING });
    await expect.poll(() => listStates(store)).toEqual([...states, 'released']);
    expect(facilitator.sent).toHaveLength(0);
  });

  test('a retry takes the payment over, without waiting for the sweep', async () => {
    const signed = await sign();
    const listStates = await writeSteps(store, signed, ['claimed', 'computed']);
    await reopen();
    await using shop = await startShop({
      store,
      timing: { ...QUICK_TIMING, sweepIntervalMs: 3_600_000 },
    });
    const answer = await shop.buy('x', toHeaders(signed));
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-redelivered')).toBeNull();
    expect(shop.computations[0]?.context.earlierScanId).toBe('scan-of-x');
    expect(await listStates(store)).toEqual(['claimed', 'computed', 'released', ...SALE]);
  });

  test.each([
    ['settling', ['claimed', 'computed', 'settling']],
    ['unknown', ['claimed', 'computed', 'settling', 'unknown']],
  ] as const)(
    'a payment that was %s is settled in the background, and its answer redelivered',
    async (_name, states) => {
      const signed = await sign();
      const listStates = await writeSteps(store, signed, states);
      await reopen();
      await using shop = await startShop({ store, timing: QUICK_TIMING });
      await expect.poll(() => listStates(store)).toContain('published');
      const answer = await shop.buy('x', toHeaders(signed));
      expect(answer.body).toBe('{"from":"before"}');
      expect(answer.headers.get('x-redelivered')).toBe('1');
      expect(shop.settlements).toHaveLength(1);
      expect(shop.published).toEqual(['scan-of-x']);
    },
  );

  test('calls get 503 while the settlement of a payment is in doubt, also with a fresh signature', async () => {
    const signed = await sign();
    await writeSteps(store, signed, ['claimed', 'computed', 'settling']);
    await reopen();
    const facilitator = stubFacilitator();
    facilitator.outcomes = [{ kind: 'unclear', reason: 'timeout', transaction: null }];
    await using shop = await startShop({ store, facilitator, timing: QUICK_TIMING });
    for (const payment of [signed, await sign()]) {
      const answer = await shop.buy('x', toHeaders(payment));
      expect(answer.status).toBe(503);
      expect(answer.json).toMatchObject({
        error: 'settlement_unknown',
        payment: { nonce: signed.nonce },
      });
    }
    expect(shop.computations).toHaveLength(0);
  });

  test('a settled payment is published, and its answer redelivered', async () => {
    const signed = await sign();
    const listStates = await writeSteps(store, signed, [
      'claimed',
      'computed',
      'settling',
      'settled',
    ]);
    await reopen();
    await using shop = await startShop({ store, timing: QUICK_TIMING });
    await expect.poll(() => listStates(store)).toContain('published');
    expect(shop.published).toEqual(['scan-of-x']);
    const answer = await shop.buy('x', toHeaders(signed));
    expect(answer.paid?.transaction).toBe(TRANSACTION);
    expect(shop.settlements).toHaveLength(0);
  });

  test('hundreds of unfinished payments delay no other call', async () => {
    const signed = await sign();
    const payment = decodePayment({ 'payment-signature': [signed.header] }, TERMS);
    const data = newClaimData(null, { ...payment, requirements: REQUIREMENTS });
    for (let n = 0; n < 400; n++) {
      const facts = { key: `k${n}`, payer: 'p', request: 'work y', validBeforeMs: Date.now() };
      await new LedgerWriter(store.ledger, facts, null).write('claimed', data);
    }
    await reopen();
    await using shop = await startShop({ store, timing: QUICK_TIMING });
    expect((await shop.buy('x', toHeaders(signed))).status).toBe(200);
    expect(await countUnfinished(store)).toBeGreaterThan(0);
    await expect.poll(() => countUnfinished(store), { timeout: 50_000 }).toBe(0);
  });
});

async function countUnfinished(store: Store): Promise<number> {
  let count = 0;
  for await (const _entry of store.ledger.findUnfinished()) count += 1;
  return count;
}
