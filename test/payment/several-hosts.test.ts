import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { ScannerFailed } from '../../src/model/errors.ts';
import { decodePayment } from '../../src/payment/gate/payment-header.ts';
import { LedgerWriter, toPaymentData } from '../../src/payment/ledger/ledger.ts';
import { toPaymentKey } from '../../src/payment/terms.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { startMongoServer } from '../fixtures/mongo-server/mongo-server.ts';
import { needs } from '../fixtures/needs.ts';
import { dropDatabase, freshDatabase } from '../store/mongo-subject.ts';
import { newPayer, type SignedHeader, TERMS } from './payer.ts';
import { answerOf, newLatch, PRICE, type ShopOptions, startShop } from './shop.ts';
import { stubFacilitator } from './stub-facilitator.ts';

const server = await startMongoServer();
const payer = newPayer();
const pay = (options = {}) => payer.sign({ value: PRICE, ...options });
const v2 = ({ header }: SignedHeader) => ({ 'payment-signature': header });
const SETTINGS = {
  revision: '0.3.0',
  network: TERMS.network,
  asset: TERMS.asset,
  payTo: TERMS.payTo,
  baseUrl: 'https://shop.example',
  catalog: 'one',
  signingKey: 'kept in the store',
};
const TIMING: ShopOptions = { retryWithinMs: 100, sweepIntervalMs: 100 };

describe('instances on one store', needs('uri' in server ? null : server.unavailable), () => {
  const opened: Store[] = [];
  let url = '';

  async function openHost(): Promise<Store> {
    if (url === '') url = freshDatabase('uri' in server ? server.uri : '');
    const store = await openStore(url);
    opened.push(store);
    return store;
  }

  async function openLivingHost(): Promise<Store> {
    const store = await openHost();
    await store.instances.join({ settings: SETTINGS });
    return store;
  }

  afterEach(async () => {
    for (const store of opened.splice(0)) await store.close();
    await dropDatabase(url);
    url = '';
  });
  afterAll(async () => {
    if ('uri' in server) await server[Symbol.asyncDispose]();
  });

  async function claimAs(store: Store, signed: SignedHeader) {
    const payment = decodePayment({ 'payment-signature': [signed.header] }, TERMS);
    const requirements = {
      scheme: 'exact',
      network: TERMS.network,
      asset: TERMS.asset,
      amount: `${PRICE}`,
      payTo: TERMS.payTo,
      maxTimeoutSeconds: 300,
      extra: { name: TERMS.assetName, version: TERMS.assetVersion },
    } as const;
    const key = toPaymentKey(TERMS, payment.authorization);
    const facts = {
      key,
      payer: payer.address.toLowerCase(),
      request: 'work x',
      validBeforeMs: Number(payment.authorization.validBefore) * 1000,
    };
    const pen = new LedgerWriter(store.ledger, facts, null);
    await pen.write('claimed', toPaymentData(payment, requirements));
    return { pen, key };
  }

  test('that get the same payment at once compute once, charge once and give one answer', async () => {
    const gate = newLatch();
    const compute = async (item: string) => {
      await gate.opened;
      return answerOf(item);
    };
    const facilitator = stubFacilitator();
    await using one = await startShop({
      ...TIMING,
      store: await openLivingHost(),
      compute,
      facilitator,
    });
    await using two = await startShop({
      ...TIMING,
      store: await openLivingHost(),
      compute,
      facilitator,
    });
    const signed = await pay();
    const calls = [one.buy('x', v2(signed)), two.buy('x', v2(signed))];
    await expect.poll(() => one.computations.length + two.computations.length).toBe(1);
    gate.open();
    const answers = await Promise.all(calls);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(answers[0]?.body).toBe(answers[1]?.body);
    expect(one.computations.length + two.computations.length).toBe(1);
    expect(facilitator.sent).toHaveLength(1);
  });

  test('share an error with callers that wait on another instance with the same header', async () => {
    const gate = newLatch();
    await using one = await startShop({
      ...TIMING,
      store: await openLivingHost(),
      compute: async () => {
        await gate.opened;
        throw new ScannerFailed(new Error('broken'));
      },
    });
    const watched = countEntryReads(await openLivingHost());
    await using two = await startShop({ ...TIMING, store: watched.store });
    const signed = await pay();
    const first = one.buy('x', v2(signed));
    await expect.poll(() => one.computations.length).toBe(1);
    const second = two.buy('x', v2(signed));
    // This instance has looked twice while the other one works.
    await expect.poll(() => watched.reads()).toBeGreaterThan(2);
    gate.open();
    const answers = [await first, await second];
    expect(answers.map(({ status }) => status)).toEqual([503, 503]);
    expect(answers[1]?.json).toMatchObject({ error: 'scanner_failed', charged: false });
    expect(two.computations).toHaveLength(0);
  });

  test('leave the claims of a living instance', async () => {
    const other = await openLivingHost();
    const signed = await pay();
    const { key } = await claimAs(other, signed);
    const facilitator = stubFacilitator();
    await using shop = await startShop({
      ...TIMING,
      store: await openLivingHost(),
      facilitator,
      answerWithinMs: 1_500,
    });
    await shop.payments.recovery.sweep();
    const late = await shop.buy('x', v2(signed));
    expect(late.status).toBe(504);
    expect(await shop.store.ledger.findAllSteps(key)).toHaveLength(1);
    expect(shop.computations).toHaveLength(0);
  });

  test('never answer 504, nor "not charged", about a payment that a living instance settles', async () => {
    const signed = await pay();
    const { pen, key } = await claimAs(await openLivingHost(), signed);
    await pen.write('computed', {}, { answerId: 'answer-of-x' });
    await pen.write('settling', {});
    await using shop = await startShop({
      ...TIMING,
      store: await openLivingHost(),
      answerWithinMs: 1_000,
    });
    const [own, fresh] = await Promise.all([
      shop.buy('x', v2(signed)),
      pay().then((other) => shop.buy('x', v2(other))),
    ]);
    expect(own.status).toBe(503);
    expect(own.json).toMatchObject({ error: 'settlement_unknown', charged: null });
    expect(own.json['payment']).toMatchObject({ nonce: signed.nonce, transaction: null });
    // Also to a fresh signature; otherwise its payer would sign a third one.
    expect(fresh.status).toBe(503);
    expect(fresh.json).toMatchObject({ error: 'settlement_unknown' });
    expect(shop.settlements).toHaveLength(0);
    expect(await shop.store.ledger.findAllSteps(key)).toHaveLength(3);
  });

  test('take over from a lost instance, which then stops for good', async () => {
    const gone = await openHost();
    const signed = await pay();
    const { pen, key } = await claimAs(gone, signed);
    await using shop = await startShop({ ...TIMING, store: await openLivingHost() });
    const answer = await shop.buy('x', v2(signed));
    expect(answer.status).toBe(200);
    const states = (await shop.store.ledger.findAllSteps(key)).map(({ state }) => state);
    expect(states.slice(0, 3)).toEqual(['claimed', 'released', 'claimed']);
    await expect(pen.write('computed', {})).rejects.toThrow(/Another writer/);
    await expect(pen.write('computed', {})).rejects.toThrow(/Another writer/);
    expect(shop.settlements).toHaveLength(1);
  });

  test('bind a payment identifier once, also if it comes to both', async () => {
    const gate = newLatch();
    const compute = async (item: string) => {
      await gate.opened;
      return answerOf(item);
    };
    const facilitator = stubFacilitator();
    await using one = await startShop({
      ...TIMING,
      store: await openLivingHost(),
      compute,
      facilitator,
    });
    await using two = await startShop({
      ...TIMING,
      store: await openLivingHost(),
      compute,
      facilitator,
    });
    const identifier = 'order_0123456789abcdef';
    const calls = await Promise.all(
      [one, two, one, two].map(async (shop) => {
        const headers = v2(await pay({ identifier }));
        return () => shop.buy('x', headers);
      }),
    );
    const answers = calls.map((call) => call());
    await expect.poll(() => one.paidCalls() + two.paidCalls()).toBe(4);
    gate.open();
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
