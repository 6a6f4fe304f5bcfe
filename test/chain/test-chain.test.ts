import type { x402Facilitator } from '@x402/core/facilitator';
import type { PaymentPayload, PaymentRequirements } from '@x402/core/types';
import type { ClientEvmSigner } from '@x402/evm';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import type { Address, Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needs } from '../needs.ts';
import { chainUnavailable } from './anvil-process.ts';
import { chainFacilitator } from './chain-facilitator.ts';
import { startChain, type TestChain } from './test-chain.ts';

const PAY_TO: Address = '0x1111111111111111111111111111111111111111';
const PRICE = 50_000n;

describe('a payment by the official client on the local chain', needs(chainUnavailable()), () => {
  let chain: TestChain;
  let facilitator: x402Facilitator;
  let requirements: PaymentRequirements;

  beforeAll(async () => {
    chain = await startChain();
    facilitator = chainFacilitator(chain);
    requirements = {
      scheme: 'exact',
      network: chain.network,
      asset: chain.token,
      amount: PRICE.toString(),
      payTo: PAY_TO,
      maxTimeoutSeconds: 300,
      extra: { name: 'USD Coin', version: '2' },
    };
  });
  afterAll(() => chain?.stop());

  async function sign(signer: ClientEvmSigner): Promise<PaymentPayload> {
    const created = await new ExactEvmScheme(signer).createPaymentPayload(2, requirements);
    return {
      x402Version: created.x402Version,
      resource: { url: 'https://seller.test/paid', description: '', mimeType: '' },
      accepted: requirements,
      payload: created.payload,
    };
  }

  test('is verified and settled, moves exactly the price, once', async () => {
    const payer = await chain.newPayer();
    const before = await chain.balanceOf(PAY_TO);
    const payment = await sign(privateKeyToAccount(payer.privateKey));
    const nonce = nonceOf(payment);

    expect(await facilitator.verify(payment, requirements)).toMatchObject({ isValid: true });
    expect(await chain.authorizationUsed(payer.address, nonce)).toBe(false);
    expect(await facilitator.settle(payment, requirements)).toMatchObject({
      success: true,
      network: 'eip155:8453',
      transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    });

    expect(await chain.authorizationUsed(payer.address, nonce)).toBe(true);
    expect(await chain.balanceOf(payer.address)).toBe(10_000_000n - PRICE);
    expect((await chain.balanceOf(PAY_TO)) - before).toBe(PRICE);
    expect(await facilitator.verify(payment, requirements)).toMatchObject({
      isValid: false,
      invalidReason: expect.stringContaining('nonce_already_used'),
    });
  });

  test('is refused by name when the payer cannot afford it', async () => {
    const payer = await chain.newPayer(PRICE - 1n);
    const payment = await sign(privateKeyToAccount(payer.privateKey));
    expect(await facilitator.verify(payment, requirements)).toMatchObject({
      isValid: false,
      invalidReason: expect.stringContaining('insufficient_balance'),
    });
  });

  test('is settled for a contract wallet, whose signature does not recover to it', async () => {
    const { ownerKey, address } = await chain.newContractPayer();
    const owner = privateKeyToAccount(ownerKey);
    const payment = await sign({
      address,
      signTypedData: (message) => owner.signTypedData(message),
    });
    expect(await facilitator.settle(payment, requirements)).toMatchObject({ success: true });
    expect(await chain.balanceOf(address)).toBe(10_000_000n - PRICE);

    const stranger = privateKeyToAccount((await chain.newPayer(0n)).privateKey);
    const forged = await sign({ address, signTypedData: (m) => stranger.signTypedData(m) });
    expect(await facilitator.verify(forged, requirements)).toMatchObject({ isValid: false });
  });

  test('stays pending while mining is paused, and lands when it resumes', async () => {
    const payer = await chain.newPayer();
    const payment = await sign(privateKeyToAccount(payer.privateKey));
    await chain.pauseMining();
    const settled = facilitator.settle(payment, requirements);
    await expect.poll(() => chain.pendingTransactions(), { timeout: 30_000 }).toBe(1);
    expect(await chain.authorizationUsed(payer.address, nonceOf(payment))).toBe(false);

    await chain.resumeMining();
    expect(await settled).toMatchObject({ success: true });
    expect(await chain.balanceOf(payer.address)).toBe(10_000_000n - PRICE);
  });

  test('twenty payers made at once each hold their own balance', async () => {
    const payers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => chain.newPayer(BigInt(i))),
    );
    const balances = await Promise.all(payers.map(({ address }) => chain.balanceOf(address)));
    expect(balances).toEqual(payers.map((_, i) => BigInt(i)));
  });

  test('time moves on demand, and an authorization past its end is refused by the token', async () => {
    const payer = await chain.newPayer();
    const payment = await sign(privateKeyToAccount(payer.privateKey));
    const before = await chain.blockTime();
    await chain.increaseTime(3_600);
    expect(await chain.blockTime()).toBeGreaterThanOrEqual(before + 3_600n);
    // The facilitator's own clock has not moved: it is the chain that refuses.
    expect(await facilitator.verify(payment, requirements)).toMatchObject({ isValid: false });
    expect(await chain.balanceOf(payer.address)).toBe(10_000_000n);

    const later = (await chain.blockTime()) + 500n;
    await chain.setNextBlockTime(later);
    await chain.mint(payer.address, 1n);
    expect(await chain.blockTime()).toBe(later);
  });
});

function nonceOf(payment: PaymentPayload): Hex {
  const { authorization } = payment.payload;
  if (typeof authorization !== 'object' || authorization === null || !('nonce' in authorization)) {
    throw new Error('the client signed no authorization');
  }
  return `0x${String(authorization.nonce).slice(2)}`;
}
