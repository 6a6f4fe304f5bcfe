/** Each method of the node fails in turn. No failure charges a payer or stops the service. */
import { inspect } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { chainUnavailable } from '../../fixtures/chain/anvil-process.ts';
import { chainFacilitator } from '../../fixtures/chain/chain-facilitator.ts';
import { startChain, type TestChain } from '../../fixtures/chain/test-chain.ts';
import { needs } from '../../fixtures/needs.ts';
import {
  CHAIN_TIMING,
  fundedPayer,
  localShop,
  newSeller,
  remoteShop,
  type Seller,
} from './chain-shop.ts';
import { type ChaosFacilitator, startChaosFacilitator } from './chaos-facilitator.ts';
import { type FailingNode, NODE_FAILURES, NODE_SECRET, startFailingNode } from './failing-node.ts';
import { newPayer, PRICE, toHeaders } from './payer.ts';
import { createItemAnswer, type Shop, type ShopAnswer } from './shop.ts';

const QUICK_TIMING = {
  ...CHAIN_TIMING,
  reconcileWithinMs: 200,
  retryWithinMs: 1_000,
  lookIntervalMs: 50,
  resendAfterMs: [50, 100, 200, 400],
  firstBackoffMs: 50,
  lastBackoffMs: 200,
  rpcTimeoutMs: 300,
  signerRpcTimeoutMs: 300,
  repeatAfterMs: 200,
  confirmationTimeoutMs: 500,
};

/** The methods that `local` mode calls to verify, to settle and to look payments up. */
const NODE_METHODS = [
  'eth_getCode',
  'eth_call',
  'eth_estimateGas',
  'eth_getBlockByNumber',
  'eth_maxPriorityFeePerGas',
  'eth_getTransactionCount',
  'eth_sendRawTransaction',
  'eth_getTransactionReceipt',
  'eth_getBalance',
];

describe('while the node fails,', needs(chainUnavailable()), () => {
  let chain: TestChain;
  let node: FailingNode;
  let seller: Seller;
  const unhandled: unknown[] = [];
  const reports: unknown[] = [];
  const onUnhandled = (error: unknown) => unhandled.push(error);

  beforeAll(async () => {
    process.on('unhandledRejection', onUnhandled);
    chain = await startChain();
    node = await startFailingNode(chain.rpcUrl);
  });
  beforeEach(() => {
    seller = newSeller(chain);
    reports.length = 0;
  });
  afterEach(async () => {
    node.fail(null);
    // Node reports unhandled rejections after a turn of the event loop.
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(unhandled).toEqual([]);
    expect(inspect(reports, { depth: 8 })).not.toContain(NODE_SECRET);
  });
  afterAll(async () => {
    await node?.[Symbol.asyncDispose]();
    await chain?.[Symbol.asyncDispose]();
    process.off('unhandledRejection', onUnhandled);
  });

  async function startLocalShop(work: () => void = () => undefined): Promise<Shop> {
    return localShop(seller, {
      timing: QUICK_TIMING,
      rpcUrl: node.rpcUrl,
      settlementKey: await chain.newFundedKey(),
      onEvent: (event) => reports.push(event),
      onError: (message, error) => reports.push(message, error),
      compute: async (item) => {
        work();
        return createItemAnswer(item);
      },
    });
  }

  function expectUnavailable(answer: ShopAnswer): void {
    expect(answer.status).toBe(503);
    expect(answer.body).not.toContain(NODE_SECRET);
    expect(['payments_unavailable', 'settlement_unknown']).toContain(answer.json['error']);
  }

  const listDebts = async (shop: Shop, address: string) =>
    (await shop.unpaid(address)).filter(({ isDebt }) => isDebt);

  async function expectServedOnce(shop: Shop, headers: Record<string, string>, earned: bigint) {
    await expect.poll(async () => (await shop.buy('x', headers)).status).toBe(200);
    expect(await seller.earned()).toBe(earned);
  }

  test.each(NODE_FAILURES)(
    '%s: the local facilitator verifies no payment, rejects none, and charges nothing',
    async (failure) => {
      await using shop = await startLocalShop();
      let earned = 0n;
      for (const method of NODE_METHODS) {
        const payer = await fundedPayer(chain, seller);
        const headers = toHeaders(await payer.sign());
        const forgedPayment = await payer.sign({ signAs: newPayer().privateKey });
        node.fail(failure, [method]);
        const answer = await shop.buy('x', headers);
        if (answer.status !== 200) expectUnavailable(answer);
        const refusal = await shop.buy('x', toHeaders(forgedPayment));
        expect([402, 503]).toContain(refusal.status);
        expect(await listDebts(shop, payer.address)).toEqual([]);
        node.fail(null);
        earned += PRICE;
        await expectServedOnce(shop, headers, earned);
      }
    },
  );

  test.each(NODE_FAILURES)(
    '%s once the work is done: the local facilitator leaves no charge and no debt',
    async (failure) => {
      const plan: { method: string | null } = { method: null };
      await using shop = await startLocalShop(() => {
        if (plan.method !== null) node.fail(failure, [plan.method]);
      });
      let earned = 0n;
      for (const method of NODE_METHODS) {
        const payer = await fundedPayer(chain, seller);
        const headers = toHeaders(await payer.sign());
        plan.method = method;
        const answer = await shop.buy('x', headers);
        if (answer.status !== 200) expectUnavailable(answer);
        expect(await listDebts(shop, payer.address)).toEqual([]);
        plan.method = null;
        node.fail(null);
        earned += PRICE;
        await expectServedOnce(shop, headers, earned);
      }
    },
  );

  test.each(NODE_FAILURES)(
    '%s: the service finds an unanswered settlement once the node answers again',
    async (failure) => {
      await using chaos: ChaosFacilitator = await startChaosFacilitator(chainFacilitator(chain));
      await using shop = await remoteShop(seller, chaos.url, {
        timing: QUICK_TIMING,
        rpcUrl: node.rpcUrl,
        onEvent: (event) => reports.push(event),
        onError: (message, error) => reports.push(message, error),
      });
      let earned = 0n;
      for (const method of ['eth_getBlockByNumber', 'eth_call', 'eth_getLogs']) {
        const payer = await fundedPayer(chain, seller);
        const headers = toHeaders(await payer.sign());
        chaos.plan = ['settles-and-drops'];
        node.fail(failure, [method]);
        const answer = await shop.buy('x', headers);
        expectUnavailable(answer);
        node.fail(null);
        earned += PRICE;
        await expectServedOnce(shop, headers, earned);
      }
    },
  );
});
