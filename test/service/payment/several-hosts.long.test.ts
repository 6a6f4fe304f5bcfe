/**
 * Instances that live share one database. Its own case of a lost owner: the owner lives on, and can write no more steps.
 */
import { afterEach, describe, expect, test } from 'vitest';
import { ScannerFailed } from '../../../src/service/errors/errors.ts';
import { decodePayment } from '../../../src/service/payment/gate/payment-header.ts';
import { newClaimData } from '../../../src/service/payment/ledger/ledger.ts';
import { LedgerWriter } from '../../../src/service/payment/ledger/ledger-writer.ts';
import { toPaymentKey } from '../../../src/service/payment/terms.ts';
import { openStore } from '../../../src/service/store/open-store.ts';
import type { Store } from '../../../src/service/store/store.ts';
import { dropDatabase, freshDatabase, startServerForFile } from '../store/mongo-subject.ts';
import { newPayer, REQUIREMENTS, type SignedHeader, TERMS, toHeaders } from './payer.ts';
import { newLatch, startGatedShop, startShop } from './shop.ts';
import { stubFacilitator } from './stub-facilitator.ts';

const server = await startServerForFile();
const payer = newPayer();
const { sign } = payer;
const SETTINGS = {
  revision: '0.3.0',
  network: TERMS.network,
  asset: TERMS.asset,
  payTo: TERMS.payTo,
  baseUrl: 'https://shop.example',
  catalog: 'one',
  signingKey: 'kept in the store',
};
const QUICK_TIMING = { retryWithinMs: 100, sweepIntervalMs: 100 };

describe('instances on one store', server.needed, () => {
  const openedStores: Store[] = [];
  let url = '';

  async function openInstanceStore(): Promise<Store> {
    if (url === '') url = freshDatabase(server.uri);
    const store = await openStore(url);
    openedStores.push(store);
    return store;
  }

  async function openLivingInstance(): Promise<Store> {
    const store = await openInstanceStore();
    await store.instances.join({ settings: SETTINGS });
    return store;
  }

  afterEach(async () => {
    for (const store of openedStores.splice(0)) await store.close();
    await dropDatabase(url);
    url = '';
  });
  async function writeClaim(store: Store, signed: SignedHeader) {
    const payment = decodePayment({ 'payment-signature': [signed.header] }, TERMS);
    const key = toPaymentKey(TERMS, payment.authorization);
    const facts = {
      key,
      payer: payer.address.toLowerCase(),
      request: 'work x',
      validBeforeMs: Number(payment.authorization.validBefore) * 1000,
    };
    const writer = new LedgerWriter(store.ledger, facts, null);
    await writer.write('claimed', newClaimData(null, { ...payment, requirements: REQUIREMENTS }));
    return { writer, key };
  }

  test('that get the same payment at once compute once, charge once and give one answer', async () => {
    const facilitator = stubFacilitator();
    const options = { timing: QUICK_TIMING, facilitator };
    await using shopA = await startGatedShop({ ...options, store: await openLivingInstance() });
    await using shopB = await startGatedShop({ ...options, store: await openLivingInstance() });
    const signed = await sign();
    const calls = [shopA.buy('x', toHeaders(signed)), shopB.buy('x', toHeaders(signed))];
    await expect.poll(() => shopA.computations.length + shopB.computations.length).toBe(1);
    shopA.finishWork();
    shopB.finishWork();
    const answers = await Promise.all(calls);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(answers[0]?.body).toBe(answers[1]?.body);
    expect(shopA.computations.length + shopB.computations.length).toBe(1);
    expect(facilitator.sent).toHaveLength(1);
  });

  test('share an error with callers that wait on another instance with the same header', async () => {
    const latch = newLatch();
    await using shopA = await startShop({
      timing: QUICK_TIMING,
      store: await openLivingInstance(),
      compute: async () => {
        await latch.opened;
        throw new ScannerFailed(new Error('broken'));
      },
    });
    const watched = countEntryReads(await openLivingInstance());
    await using shopB = await startShop({ timing: QUICK_TIMING, store: watched.store });
    const signed = await sign();
    const firstCall = shopA.buy('x', toHeaders(signed));
    await expect.poll(() => shopA.computations.length).toBe(1);
    const secondCall = shopB.buy('x', toHeaders(signed));
    // The second instance has read the ledger more than twice while the first one works.
    await expect.poll(() => watched.reads()).toBeGreaterThan(2);
    latch.open();
    const answers = [await firstCall, await secondCall];
    expect(answers.map(({ status }) => status)).toEqual([503, 503]);
    expect(answers[1]?.json).toMatchObject({ error: 'scanner_failed', charged: false });
    expect(shopB.computations).toHaveLength(0);
  });

  test('leave the claims of another living instance alone', async () => {
    const other = await openLivingInstance();
    const signed = await sign();
    const { key } = await writeClaim(other, signed);
    const facilitator = stubFacilitator();
    await using shop = await startShop({
      timing: QUICK_TIMING,
      store: await openLivingInstance(),
      facilitator,
      answerWithinMs: 1_500,
    });
    await shop.payments.recovery.sweep();
    const answer = await shop.buy('x', toHeaders(signed));
    expect(answer.status).toBe(504);
    expect(await shop.store.ledger.findAllSteps(key)).toHaveLength(1);
    expect(shop.computations).toHaveLength(0);
  });

  test('never answer 504, nor "not charged", about a payment that a living instance settles', async () => {
    const signed = await sign();
    const { writer, key } = await writeClaim(await openLivingInstance(), signed);
    await writer.write('computed', {}, { answerId: 'answer-of-x' });
    await writer.write('settling', {});
    await using shop = await startShop({
      timing: QUICK_TIMING,
      store: await openLivingInstance(),
      answerWithinMs: 1_000,
    });
    const [ownAnswer, freshAnswer] = await Promise.all([
      shop.buy('x', toHeaders(signed)),
      sign().then((other) => shop.buy('x', toHeaders(other))),
    ]);
    expect(ownAnswer.status).toBe(503);
    expect(ownAnswer.json).toMatchObject({ error: 'settlement_unknown', charged: null });
    expect(ownAnswer.json['payment']).toMatchObject({ nonce: signed.nonce, transaction: null });
    // A fresh signature gets the same answer. Otherwise its payer would sign a third time.
    expect(freshAnswer).toMatchObject({ status: 503, json: { error: 'settlement_unknown' } });
    expect(shop.settlements).toHaveLength(0);
    expect(await shop.store.ledger.findAllSteps(key)).toHaveLength(3);
  });

  test('take over a payment from a lost instance, which can write no more steps for it', async () => {
    const lostInstance = await openInstanceStore();
    const signed = await sign();
    const { writer, key } = await writeClaim(lostInstance, signed);
    await using shop = await startShop({ timing: QUICK_TIMING, store: await openLivingInstance() });
    const answer = await shop.buy('x', toHeaders(signed));
    expect(answer.status).toBe(200);
    const states = (await shop.store.ledger.findAllSteps(key)).map(({ state }) => state);
    expect(states.slice(0, 3)).toEqual(['claimed', 'released', 'claimed']);
    await expect(writer.write('computed', {})).rejects.toThrow(/Another writer/);
    await expect(writer.write('computed', {})).rejects.toThrow(/Another writer/);
    expect(shop.settlements).toHaveLength(1);
  });

  test('bind a payment identifier once, also if it comes to both instances at once', async () => {
    const facilitator = stubFacilitator();
    const options = { timing: QUICK_TIMING, facilitator };
    await using shopA = await startGatedShop({ ...options, store: await openLivingInstance() });
    await using shopB = await startGatedShop({ ...options, store: await openLivingInstance() });
    const identifier = 'order_0123456789abcdef';
    const calls = await Promise.all(
      [shopA, shopB, shopA, shopB].map(async (shop) => {
        const headers = toHeaders(await sign({ identifier }));
        return () => shop.buy('x', headers);
      }),
    );
    const answers = calls.map((call) => call());
    await expect.poll(() => shopA.runningPaidCalls() + shopB.runningPaidCalls()).toBe(4);
    shopA.finishWork();
    shopB.finishWork();
    for (const answer of await Promise.all(answers)) expect(answer.status).toBe(200);
    expect(facilitator.sent).toHaveLength(1);
  });
});

function countEntryReads(inner: Store): { store: Store; reads: () => number } {
  let reads = 0;
  const ledger = {
    ...inner.ledger,
    findEntry: (key: string) => {
      reads += 1;
      return inner.ledger.findEntry(key);
    },
  };
  const store = new Proxy(inner, {
    get: (target, name, receiver) =>
      name === 'ledger' ? ledger : Reflect.get(target, name, receiver),
  });
  return { store, reads: () => reads };
}
