import {
  type Address,
  createWalletClient,
  encodeFunctionData,
  type Hex,
  http,
  parseSignature,
  publicActions,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { base } from 'viem/chains';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createChainEvidence } from '../../../src/service/payment/chain/chain-evidence.ts';
import { createNodeRequests } from '../../../src/service/payment/chain/node-requests.ts';
import { decodePayment } from '../../../src/service/payment/gate/payment-header.ts';
import { chainUnavailable } from '../../fixtures/chain/anvil-process.ts';
import { chainFacilitator } from '../../fixtures/chain/chain-facilitator.ts';
import { startChain, type TestChain } from '../../fixtures/chain/test-chain.ts';
import { tokenAbi } from '../../fixtures/chain/token-abi.ts';
import { needs } from '../../fixtures/needs.ts';
import { fundedPayer, newSeller, remoteShop, type Seller } from './chain-shop.ts';
import { type ChaosFacilitator, startChaosFacilitator } from './chaos-facilitator.ts';
import { newNonce, type Payer, PRICE, REQUIREMENTS, TERMS, toHeaders } from './payer.ts';
import { createItemAnswer } from './shop.ts';

const MULTICALL3: Address = '0xcA11bde05977b3631167028862bE2a173976CA11';
/** Longer than the validity and the ten minutes after which an unused nonce proves that nothing was paid. */
const TIME_STEP_SEC = 1_000;

describe('a payer who', needs(chainUnavailable()), () => {
  let chain: TestChain;
  let chaos: ChaosFacilitator;
  let seller: Seller;
  let clockAheadMs = 0;
  let send: (to: Address, data: Hex) => Promise<void>;

  beforeAll(async () => {
    chain = await startChain();
    chaos = await startChaosFacilitator(chainFacilitator(chain));
    const account = privateKeyToAccount(await chain.newFundedKey());
    const wallet = createWalletClient({
      account,
      chain: base,
      transport: http(chain.rpcUrl),
      pollingInterval: 50,
    }).extend(publicActions);
    send = async (to, data) => {
      const hash = await wallet.sendTransaction({ to, data });
      const { status } = await wallet.waitForTransactionReceipt({ hash });
      if (status !== 'success') throw new Error('the cheating transaction was reverted');
    };
  });
  beforeEach(() => {
    seller = newSeller(chain);
    chaos.plan = [];
  });
  afterAll(async () => {
    await chaos?.[Symbol.asyncDispose]();
    await chain?.[Symbol.asyncDispose]();
  });

  const clock = () => Date.now() + clockAheadMs;
  /** Moves the clocks of chain and store past the end of the authorization. */
  async function passTime() {
    await chain.increaseTime(TIME_STEP_SEC);
    clockAheadMs += TIME_STEP_SEC * 1_000;
  }

  /** Starts a shop that calls `cheat` during its work, after the payment was verified. */
  function startShopWith(cheat: (item: string) => Promise<void>) {
    return remoteShop(seller, chaos.url, {
      rpcUrl: chain.rpcUrl,
      clock,
      timing: { reconcileWithinMs: 1_000, retryWithinMs: 300 },
      compute: async (item) => {
        await cheat(item);
        return createItemAnswer(item);
      },
    });
  }

  const sign = (payer: Payer, options = {}) => payer.sign({ nowMs: clock(), ...options });

  async function encodeTransfer(payer: Payer, to: Address, nonce: Hex): Promise<Hex> {
    const { payload } = await payer.sign({ nowMs: clock(), to, nonce });
    const { signature, authorization } = payload['payload'] as {
      signature: Hex;
      authorization: { validBefore: string };
    };
    return encodeFunctionData({
      abi: tokenAbi,
      functionName: 'transferWithAuthorization',
      args: [payer.address, to, PRICE, 0n, BigInt(authorization.validBefore), nonce, signature],
    });
  }

  async function encodeCancellation(payer: Payer, nonce: Hex): Promise<Hex> {
    const signature = await privateKeyToAccount(payer.privateKey).signTypedData({
      domain: {
        name: 'USD Coin',
        version: '2',
        chainId: chain.chainId,
        verifyingContract: chain.token,
      },
      types: {
        CancelAuthorization: [
          { name: 'authorizer', type: 'address' },
          { name: 'nonce', type: 'bytes32' },
        ],
      },
      primaryType: 'CancelAuthorization',
      message: { authorizer: payer.address, nonce },
    });
    const { v = 27n, r, s } = parseSignature(signature);
    return encodeFunctionData({
      abi: tokenAbi,
      functionName: 'cancelAuthorization',
      args: [payer.address, nonce, Number(v), r, s],
    });
  }

  test.each(['cancels the nonce', 'pays itself with the nonce'])(
    '%s gets 503 until the authorization has ended, then 402, and never the answer',
    async (cheat) => {
      const payer = await fundedPayer(chain, seller);
      const nonce = newNonce();
      const signed = await sign(payer, { nonce });
      const data = cheat.startsWith('cancels')
        ? await encodeCancellation(payer, nonce)
        : await encodeTransfer(payer, payer.address, nonce);
      await using shop = await startShopWith(() => send(chain.token, data));
      const firstAnswer = await shop.buy('x', toHeaders(signed));
      expect(firstAnswer.status).toBe(503);
      expect(firstAnswer.json).toMatchObject({ error: 'settlement_unknown', payment: { nonce } });
      expect(await chain.authorizationUsed(payer.address, nonce)).toBe(true);
      expect((await shop.buy('x', toHeaders(signed))).status).toBe(503);

      await passTime();
      await expect
        .poll(async () => (await shop.buy('x', toHeaders(signed))).status, { timeout: 20_000 })
        .toBe(402);
      expect(await seller.earned()).toBe(0n);
      expect(shop.published).toHaveLength(0);
    },
  );

  test('uses two nonces in one transaction and pays with one of them has paid once', async () => {
    const payer = await fundedPayer(chain, seller);
    const [spentOnItself, spentOnUs] = [newNonce(), newNonce()];
    const calls = [
      { target: chain.token, callData: await encodeTransfer(payer, payer.address, spentOnItself) },
      { target: chain.token, callData: await encodeTransfer(payer, seller.terms.payTo, spentOnUs) },
    ];
    const bothTransfers = encodeFunctionData({
      abi: [
        {
          type: 'function',
          name: 'tryAggregate',
          stateMutability: 'payable',
          inputs: [
            { name: 'requireSuccess', type: 'bool' },
            {
              name: 'calls',
              type: 'tuple[]',
              components: [
                { name: 'target', type: 'address' },
                { name: 'callData', type: 'bytes' },
              ],
            },
          ],
          outputs: [],
        },
      ],
      functionName: 'tryAggregate',
      args: [true, calls],
    });
    const claimedMs = clock();
    await send(MULTICALL3, bothTransfers);
    expect(await seller.earned()).toBe(PRICE);
    const evidence = createChainEvidence(
      createNodeRequests({ rpcUrl: chain.rpcUrl, timeoutMs: 5_000 }),
    );
    const lookUp = async (nonce: Hex) => {
      const { header } = await sign(payer, { nonce });
      const { authorization, signature } = decodePayment({ 'payment-signature': [header] }, TERMS);
      const { payTo } = seller.terms;
      const requirements = { ...REQUIREMENTS, asset: chain.token, payTo };
      return evidence.lookUp(
        { authorization, signature, requirements },
        { sinceMs: claimedMs, transaction: null },
      );
    };
    expect(await lookUp(spentOnUs)).toMatchObject({ kind: 'paid' });
    expect(await lookUp(spentOnItself)).toEqual({ kind: 'spent_elsewhere', isFinal: false });
    expect(await lookUp(newNonce())).toEqual({
      kind: 'unused',
      isExpired: false,
      isFinal: false,
      isReverted: false,
    });
  });

  test('loses the balance while the work runs gets a 402 with the reason, and can pay after a top-up', async () => {
    const payer = await fundedPayer(chain, seller, PRICE);
    let isCheating = true;
    const cheatData = await encodeTransfer(payer, chain.token, newNonce());
    await using shop = await startShopWith(async () => {
      if (isCheating) await send(chain.token, cheatData);
      isCheating = false;
    });
    const signed = await sign(payer);
    const refusal = await shop.buy('x', toHeaders(signed));
    expect([402, 503]).toContain(refusal.status);
    if (refusal.status === 402) expect(refusal.json['error']).toContain('insufficient');
    await chain.mint(payer.address, PRICE);
    await expect
      .poll(async () => (await shop.buy('x', toHeaders(signed))).status, { timeout: 20_000 })
      .toBe(200);
    expect(await seller.earned()).toBe(PRICE);
  });

  test('lets an unsent payment expire is not charged, and the answer says so', async () => {
    const payer = await fundedPayer(chain, seller);
    await using shop = await startShopWith(async () => {});
    chaos.plan = Array.from({ length: 500 }, () => 'says-500' as const);
    const signed = await sign(payer);
    expect((await shop.buy('x', toHeaders(signed))).status).toBe(503);
    await passTime();
    await expect
      .poll(async () => (await shop.buy('x', toHeaders(signed))).status, { timeout: 20_000 })
      .toBe(402);
    chaos.plan = [];
    expect(await seller.earned()).toBe(0n);
    expect(await chain.authorizationUsed(payer.address, signed.nonce)).toBe(false);
  });
});
