/** Its own case of a lost owner: it is killed at each step of a sale, and an instance that runs beside it ends the sale. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { PAYMENT_STEPS, type PaymentStep } from '../../src/service/payment/gate/purchase.ts';
import { chainUnavailable } from '../fixtures/chain/anvil-process.ts';
import { startChain, type TestChain } from '../fixtures/chain/test-chain.ts';
import { startMongoServer } from '../fixtures/mongo-server/mongo-server.ts';
import { needs } from '../fixtures/needs.ts';
import { TERMS } from '../service/payment/payer.ts';
import { countSteps, type Fleet, sellerOf, startFleet } from './fleet.ts';
import type { HeldSeller } from './held-seller.ts';
import { type InstanceAnswer, type InstanceProcess, untilSelling } from './instance-process.ts';
import { newPurchase, type Purchase, priceOf } from './purchase.ts';
import { buyScan, expectRedelivery } from './shared-work.ts';

// A slow machine may take minutes to start processes and databases.
vi.setConfig({ testTimeout: 180_000 });

const mongo = await startMongoServer();
const mongoUri = 'uri' in mongo ? mongo.uri : '';
const missingTool = 'uri' in mongo ? chainUnavailable() : mongo.unavailable;

/** Number of instances that start and die at the same time. */
const MAX_RUNNING = 2;
const MAX_PUBLISH_MS = 60_000;

/** A sale whose first instance died before it was complete. */
type BrokenSale = {
  readonly failpoint: PaymentStep;
  readonly seller: HeldSeller;
  readonly purchase: Purchase;
  /** The answer that the payer got to the first call. */
  readonly firstAnswer: InstanceAnswer | 'hung up';
  readonly exitCode: number | null;
};

describe(
  'when an instance is killed during a sale, another instance ends the sale',
  needs(missingTool),
  () => {
    const cleanup = new AsyncDisposableStack();
    const sales = new Map<PaymentStep, BrokenSale>();
    const retries = new Map<PaymentStep, PromiseSettledResult<InstanceAnswer>>();
    let chain: TestChain;
    let fleet: Fleet;
    let survivor: InstanceProcess;
    let earnedBefore: bigint;

    beforeAll(async () => {
      chain = await startChain();
      cleanup.defer(() => chain[Symbol.asyncDispose]());
      const settings = { NODE_ENV: 'test', RATE_LIMIT: 'off', PAYMENT_MODE: 'local' };
      const localSettings = { ...settings, RPC_URL: chain.rpcUrl };
      const sellers = PAYMENT_STEPS.length;
      fleet = cleanup.use(await startFleet({ mongoUri, sellers, settings: localSettings }));
      earnedBefore = await chain.balanceOf(TERMS.payTo);

      const pendingSteps = [...PAYMENT_STEPS.entries()];
      const breakNext = async (): Promise<void> => {
        for (let step = pendingSteps.shift(); step !== undefined; step = pendingSteps.shift()) {
          const [n, failpoint] = step;
          sales.set(failpoint, await breakSale(failpoint, sellerOf(fleet, n)));
        }
      };
      await Promise.all(Array.from({ length: MAX_RUNNING }, breakNext));
      survivor = await fleet.start({ SETTLEMENT_KEY: await chain.newFundedKey() });
      await untilSelling(survivor);

      // The retries run in parallel, because each waits until the dead instance counts as dead.
      const retryResults = await Promise.allSettled(
        [...sales.values()].map(({ seller, purchase }) => buyScan(survivor, seller, purchase)),
      );
      for (const [index, failpoint] of [...sales.keys()].entries()) {
        const retry = retryResults[index];
        if (retry !== undefined) retries.set(failpoint, retry);
      }
    }, 400_000);

    afterAll(async () => {
      await cleanup.disposeAsync();
      if ('uri' in mongo) await mongo[Symbol.asyncDispose]();
    });

    /** Buys a scan from a new instance that dies at the failpoint. */
    async function breakSale(failpoint: PaymentStep, seller: HeldSeller): Promise<BrokenSale> {
      const { privateKey } = await chain.newPayer(priceOf('scan'));
      const purchase = await newPurchase('scan', privateKey);
      const instance = await fleet.start({
        SETTLEMENT_KEY: await chain.newFundedKey(),
        X402_TEST_FAILPOINT: failpoint,
      });
      await untilSelling(instance);
      const firstAnswer = await buyScan(instance, seller, purchase).catch(() => 'hung up' as const);
      return { failpoint, seller, purchase, firstAnswer, exitCode: await instance.exited };
    }

    function findSale(failpoint: PaymentStep) {
      const sale = sales.get(failpoint);
      const retry = retries.get(failpoint);
      if (sale === undefined || retry === undefined)
        throw new Error(`no sale broke at ${failpoint}`);
      if (retry.status === 'rejected') throw retry.reason;
      return { ...sale, retryAnswer: retry.value };
    }

    test.each(PAYMENT_STEPS)(
      'killed at "%s": the same payment buys one report from the other instance',
      async (name) => {
        const { seller, purchase, firstAnswer, exitCode, retryAnswer } = findSale(name);
        // The instance died, and its payer got no whole answer.
        expect({ firstAnswer, exitCode }).toEqual({ firstAnswer: 'hung up', exitCode: null });

        expect({ status: retryAnswer.status, body: retryAnswer.json['error'] }).toEqual({
          status: 200,
        });
        expect(await countSteps(fleet, purchase, 'settled')).toBe(1);
        expect(await chain.balanceOf(purchase.address)).toBe(0n);
        // The survivor used the results of the dead instance, and did not scan the seller again.
        expect(seller.scans()).toBe(1);

        expectRedelivery(await buyScan(survivor, seller, purchase), retryAnswer);
        expect(await countSteps(fleet, purchase, 'settled')).toBe(1);
      },
    );

    test('the settled sum equals the sum of the answered sales', async () => {
      const earned = (await chain.balanceOf(TERMS.payTo)) - earnedBefore;
      expect(earned).toBe(priceOf('scan') * BigInt(PAYMENT_STEPS.length));
    });

    test('every sold scan is published once', async () => {
      for (const { seller, purchase } of sales.values()) {
        await expect
          .poll(() => countSteps(fleet, purchase, 'published'), { timeout: MAX_PUBLISH_MS })
          .toBe(1);
        const status = await survivor.get(`/v1/status?url=${encodeURIComponent(seller.url)}`);
        expect(status.json).toMatchObject({ known: true, fresh: true });
      }
    });
  },
);
