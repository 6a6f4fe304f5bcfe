/** One instance answers 504. The payer's retry at the other instance gets the report of the same scan. */

import { generatePrivateKey } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startMongoServer } from '../fixtures/mongo-server/mongo-server.ts';
import { needs } from '../fixtures/needs.ts';
import { countSteps, type Fleet, sellerOf, startFleet } from './fleet.ts';
import type { InstanceProcess } from './instance-process.ts';
import { newPurchase } from './purchase.ts';
import { buyScan, metricOf } from './shared-work.ts';

vi.setConfig({ testTimeout: 180_000 });

const mongo = await startMongoServer();
afterAll(async () => {
  if ('uri' in mongo) await mongo[Symbol.asyncDispose]();
});

const POLL_OPTIONS = { timeout: 50_000, interval: 50 };

describe(
  'a scan that takes longer than its call',
  needs('uri' in mongo ? null : mongo.unavailable),
  () => {
    const cleanup = new AsyncDisposableStack();
    let fleet: Fleet;
    let hastyInstance: InstanceProcess;
    let patientInstance: InstanceProcess;

    beforeAll(async () => {
      const settings = { TRUST_PROXY: '127.0.0.0/8' };
      const mongoUri = 'uri' in mongo ? mongo.uri : '';
      fleet = cleanup.use(await startFleet({ mongoUri, sellers: 4, settings }));
      [hastyInstance, patientInstance] = await Promise.all([
        fleet.start({ SCAN_TIMEOUT_MS: '4000' }),
        fleet.start(),
      ]);
    });
    afterAll(() => cleanup.disposeAsync());

    test.each([
      ['the same payment', 0],
      ['a new payment', 1],
    ])(
      'is joined while it runs by %s at the other instance, with the cache value miss',
      async (paymentKind, sellerIndex) => {
        const seller = sellerOf(fleet, sellerIndex);
        const { first, retry } = await newPurchases(paymentKind);
        seller.hold();
        const lateAnswer = await buyScan(hastyInstance, seller, first);
        expect(lateAnswer.status).toBe(504);
        expect(lateAnswer.json).toMatchObject({ status: 'processing', charged: false });
        const [unpaid] = await fleet.store.results.findUnpaid(first.address.toLowerCase(), 0);
        const retryAnswer = buyScan(patientInstance, seller, retry);
        await expect
          .poll(() => countSteps(fleet, retry, 'claimed'), POLL_OPTIONS)
          .toBe(paymentKind === 'a new payment' ? 1 : 2);
        // The retry claims its payment first, and then joins the running scan.
        await expect.poll(() => metricOf(patientInstance, 'scans_running'), POLL_OPTIONS).toBe(1);
        seller.release();
        const answer = await retryAnswer;
        expect(answer.status).toBe(200);
        expect(answer.json).toMatchObject({ cache: 'miss', charged: true });
        // The retry has the id of the first scan.
        expect((await fleet.store.ledger.findEntry(retry.key))?.last.scanId).toBe(
          unpaid?.scanId ?? 'none',
        );
        expect(await countSteps(fleet, first, 'settled')).toBe(
          paymentKind === 'a new payment' ? 0 : 1,
        );
        expect(await countSteps(fleet, retry, 'settled')).toBe(1);
      },
    );

    test.each([
      ['the same payment', 2],
      ['a new payment', 3],
    ])(
      'is delivered after its end by the other instance for %s, with the cache value hit',
      async (paymentKind, sellerIndex) => {
        const seller = sellerOf(fleet, sellerIndex);
        const { first, retry } = await newPurchases(paymentKind);
        seller.hold();
        expect((await buyScan(hastyInstance, seller, first)).status).toBe(504);
        await expect.poll(() => seller.scans(), POLL_OPTIONS).toBe(1);
        seller.release();
        const listDebts = async () =>
          (await fleet.store.results.findUnpaid(first.address.toLowerCase(), 0)).map(
            ({ isDebt }) => isDebt,
          );
        await expect.poll(listDebts, POLL_OPTIONS).toEqual([true]);
        const answer = await buyScan(patientInstance, seller, retry);
        expect(answer.status).toBe(200);
        expect(answer.json).toMatchObject({ cache: 'hit', charged: true });
        expect(seller.scans()).toBe(1);
        expect(await listDebts()).toEqual([]);
        expect(await countSteps(fleet, retry, 'settled')).toBe(1);
      },
    );
  },
);

/** Makes the first purchase and the retry of one payer. */
async function newPurchases(paymentKind: string) {
  const key = generatePrivateKey();
  const first = await newPurchase('scan', key);
  return { first, retry: paymentKind === 'a new payment' ? await newPurchase('scan', key) : first };
}
