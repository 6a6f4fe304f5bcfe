import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { chainUnavailable } from '../../fixtures/chain/anvil-process.ts';
import { chainFacilitator } from '../../fixtures/chain/chain-facilitator.ts';
import { startChain, type TestChain } from '../../fixtures/chain/test-chain.ts';
import { needs } from '../../fixtures/needs.ts';
import { fundedPayer, newSeller, remoteShop, type Seller } from './chain-shop.ts';
import {
  type ChaosFacilitator,
  type SettleConduct,
  startChaosFacilitator,
} from './chaos-facilitator.ts';
import { PRICE } from './payer.ts';

const SETTLE_TIMEOUT_MS = 4_000;

describe('in front of a real chain, a facilitator that', needs(chainUnavailable()), () => {
  let chain: TestChain;
  let chaos: ChaosFacilitator;
  let seller: Seller;
  beforeAll(async () => {
    chain = await startChain();
    chaos = await startChaosFacilitator(chainFacilitator(chain));
  });
  beforeEach(() => {
    seller = newSeller(chain);
    chaos.plan = [];
  });
  afterAll(async () => {
    await chaos?.[Symbol.asyncDispose]();
    await chain?.[Symbol.asyncDispose]();
  });

  async function buyOnce(conduct: SettleConduct, rpcUrl: string | null) {
    const payer = await fundedPayer(chain, seller);
    const shop = await remoteShop(seller, chaos.url, {
      rpcUrl,
      timing: { settleTimeoutMs: SETTLE_TIMEOUT_MS },
    });
    chaos.plan = [conduct];
    const signed = await payer.sign();
    const headers = { 'payment-signature': signed.header };
    const answer = await shop.buy('x', headers);
    return { shop, headers, answer, signed, payer };
  }

  const settlingConducts: readonly SettleConduct[] = [
    'honest',
    'settles-and-hangs',
    'settles-and-says-500',
    'settles-and-drops',
    'settles-and-denies',
    'settles-and-talks-rubbish',
  ];
  const failingConducts: readonly SettleConduct[] = [
    'drops',
    'says-500',
    'says-503-insufficient-funds',
    'claims-success-without-transaction',
    'claims-success-for-another',
    'claims-success-elsewhere',
  ];

  describe.each([
    ['if payments can be looked up on the chain', true],
    ['if only the facilitator can be asked', false],
  ])('%s', (_name, hasNode) => {
    test.each(settlingConducts)(
      '%s: the payer has paid once, and gets the answer',
      async (conduct) => {
        const { shop, headers, answer, signed, payer } = await buyOnce(
          conduct,
          hasNode ? chain.rpcUrl : null,
        );
        await using _closing = shop;
        expect(answer.status).toBe(200);
        expect(await seller.earned()).toBe(PRICE);
        expect(await chain.authorizationUsed(payer.address, signed.nonce)).toBe(true);
        if (hasNode) expect(answer.paid?.transaction).toMatch(/^0x[0-9a-f]{64}$/);
        const redelivered = await shop.buy('x', headers);
        expect(redelivered.body).toBe(answer.body);
        expect(redelivered.paid).toEqual(answer.paid);
        expect(await seller.earned()).toBe(PRICE);
        expect(shop.published).toEqual(['scan-of-x']);
      },
    );

    test.each(failingConducts)(
      '%s without settling: the service sends the payment again, and it is settled once',
      async (conduct) => {
        const { shop, answer } = await buyOnce(conduct, hasNode ? chain.rpcUrl : null);
        await using _closing = shop;
        expect(answer.status).toBe(200);
        expect(chaos.settleRequests).toBeGreaterThan(1);
        expect(await seller.earned()).toBe(PRICE);
      },
    );
  });

  test.each([
    'claims-success-without-transaction',
    'claims-success-by-a-made-up-transaction',
  ] as const)('%s all the time makes the shop give no answer away', async (conduct) => {
    const payer = await fundedPayer(chain, seller);
    await using shop = await remoteShop(seller, chaos.url, {
      rpcUrl: chain.rpcUrl,
      timing: { reconcileWithinMs: 500, receiptWithinMs: 100 },
    });
    chaos.plan = Array.from({ length: 200 }, () => conduct);
    const signed = await payer.sign();
    const answer = await shop.buy('x', { 'payment-signature': signed.header });
    expect(answer.status).toBe(503);
    expect(answer.json).toMatchObject({
      error: 'settlement_unknown',
      payment: { payer: payer.address, nonce: signed.nonce },
    });
    expect(await seller.earned()).toBe(0n);
    expect(shop.published).toHaveLength(0);
    chaos.plan = [];
    await expect.poll(() => shop.published, { timeout: 20_000 }).toEqual(['scan-of-x']);
    expect(await seller.earned()).toBe(PRICE);
  });

  test('cannot be reached: the payer gets 503, is not charged, and may use the payment again', async () => {
    const payer = await fundedPayer(chain, seller);
    const closingFacilitator = await startChaosFacilitator(chainFacilitator(chain));
    await using shop = await remoteShop(seller, closingFacilitator.url, {
      rpcUrl: chain.rpcUrl,
      compute: async (item) => {
        await closingFacilitator[Symbol.asyncDispose]();
        return { headers: {}, body: item };
      },
    });
    const signed = await payer.sign();
    const answer = await shop.buy('x', { 'payment-signature': signed.header });
    expect(answer.status).toBe(503);
    expect(answer.json).toMatchObject({ error: 'payments_unavailable', charged: false });
    expect(await seller.earned()).toBe(0n);
  });

  test('ten payers of the same item each pay once, though the facilitator fails in different ways', async () => {
    const conducts: SettleConduct[] = [
      'honest',
      'settles-and-drops',
      'says-500',
      'settles-and-denies',
    ];
    const payers = await Promise.all(Array.from({ length: 10 }, () => fundedPayer(chain, seller)));
    await using shop = await remoteShop(seller, chaos.url, { rpcUrl: chain.rpcUrl });
    chaos.plan = payers.map((_payer, index) => conducts[index % 4] ?? 'honest');
    const answers = await Promise.all(
      payers.map(async (payer) => {
        const { header } = await payer.sign();
        return shop.buy('x', { 'payment-signature': header });
      }),
    );
    expect(answers.map(({ status }) => status)).toEqual(payers.map(() => 200));
    const transactions = new Set(answers.map(({ paid }) => paid?.transaction));
    expect(transactions.size).toBe(10);
    expect(await seller.earned()).toBe(PRICE * 10n);
  });
});
