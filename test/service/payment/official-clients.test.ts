import { wrapAxiosWithPayment } from '@x402/axios';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import axios from 'axios';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLocalFacilitator } from '../../../src/service/payment/settle/local-facilitator.ts';
import { chainUnavailable } from '../../fixtures/chain/anvil-process.ts';
import { startChain, type TestChain } from '../../fixtures/chain/test-chain.ts';
import { needs } from '../../fixtures/needs.ts';
import { CHAIN_TIMING, fundedPayer, localShop, newSeller, type Seller } from './chain-shop.ts';
import { PRICE, toHeaders } from './payer.ts';
import { type Shop, startShop } from './shop.ts';

describe(
  'with default options, if the service itself sends settlements to the chain,',
  needs(chainUnavailable()),
  () => {
    let chain: TestChain;
    let shop: Shop;
    let seller: Seller;
    beforeAll(async () => {
      chain = await startChain();
      seller = newSeller(chain);
      const { rpcUrl, facilitatorKey: settlementKey } = chain;
      shop = await localShop(seller, { rpcUrl, settlementKey });
    });
    afterAll(async () => {
      await shop?.[Symbol.asyncDispose]();
      await chain?.[Symbol.asyncDispose]();
    });

    async function newClient() {
      const { privateKey, address } = await chain.newPayer();
      const scheme = new ExactEvmScheme(privateKeyToAccount(privateKey));
      return { address, x402: new x402Client().register('eip155:*', scheme) };
    }

    test('@x402/fetch pays a POST and a GET', async () => {
      const { address, x402 } = await newClient();
      const fetchPaid = wrapFetchWithPayment(fetch, x402);
      const earnedBefore = await seller.earned();
      const postAnswer = await fetchPaid(`${shop.url}/work`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ item: 'by fetch' }),
      });
      expect(postAnswer.status).toBe(200);
      expect(await postAnswer.json()).toMatchObject({ item: 'by fetch' });
      const listAnswer = await fetchPaid(`${shop.url}/list?n=5`);
      expect(listAnswer.status).toBe(200);
      expect(await listAnswer.text()).toHaveLength(5_004);
      expect((await seller.earned()) - earnedBefore).toBe(PRICE * 2n);
      const paymentResponse = JSON.parse(
        Buffer.from(listAnswer.headers.get('payment-response') ?? '', 'base64').toString(),
      );
      expect(paymentResponse).toMatchObject({
        success: true,
        payer: address,
        network: 'eip155:8453',
      });
    });

    test('@x402/axios pays a POST', async () => {
      const { x402 } = await newClient();
      const earnedBefore = await seller.earned();
      // The types differ, because @x402/axios uses another release of @x402/core.
      const axiosClient = x402 as unknown as Parameters<typeof wrapAxiosWithPayment>[1];
      const paying = wrapAxiosWithPayment(axios.create(), axiosClient);
      const { status, data } = await paying.post(`${shop.url}/work`, { item: 'by axios' });
      expect(status).toBe(200);
      expect(data).toMatchObject({ item: 'by axios' });
      expect((await seller.earned()) - earnedBefore).toBe(PRICE);
    });

    test('ten payments at once are settled, each once', async () => {
      const earnedBefore = await seller.earned();
      const answers = await Promise.all(
        Array.from({ length: 10 }, async () => {
          const payer = await fundedPayer(chain, seller);
          return shop.buy('popular', toHeaders(await payer.sign()));
        }),
      );
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
      expect((await seller.earned()) - earnedBefore).toBe(PRICE * 10n);
    });

    test('a payer without money is refused before any work is done', async () => {
      const payer = await fundedPayer(chain, seller, 0n);
      const computationsBefore = shop.computations.length;
      const answer = await shop.buy('poor', toHeaders(await payer.sign()));
      expect(answer.status).toBe(402);
      expect(answer.json['error']).toContain('insufficient_balance');
      expect(shop.computations).toHaveLength(computationsBefore);
    });

    test('a contract wallet pays, and gets its answer again', async () => {
      const wallet = await chain.newContractPayer();
      const payer = await fundedPayer(chain, seller);
      const signed = await payer.sign({ from: wallet.address, signAs: wallet.ownerKey });
      const headers = toHeaders(signed);
      const firstAnswer = await shop.buy('contract', headers);
      expect(firstAnswer.status).toBe(200);
      expect(firstAnswer.paid?.payer).toBe(wallet.address);
      expect(await chain.authorizationUsed(wallet.address, signed.nonce)).toBe(true);
      const retryAnswer = await shop.buy('contract', headers);
      expect(retryAnswer.status).toBe(200);
      expect(retryAnswer.headers.get('x-redelivered')).toBe('1');
      const forged = await payer.sign({ from: wallet.address });
      expect((await shop.buy('contract', toHeaders(forged))).status).toBe(402);
    });

    test('a call gets 503 while its transaction is pending, and the answer after the transaction is mined', async () => {
      const slowSeller = newSeller(chain);
      await using slowShop = await localShop(slowSeller, {
        rpcUrl: chain.rpcUrl,
        settlementKey: await chain.newFundedKey(),
        timing: { confirmationTimeoutMs: 1_000, reconcileWithinMs: 300 },
      });
      const payer = await fundedPayer(chain, slowSeller);
      const signed = await payer.sign();
      await chain.pauseMining();
      const answer = await slowShop.buy('pending', toHeaders(signed));
      await chain.resumeMining();
      expect(answer.status).toBe(503);
      expect(answer.json).toMatchObject({
        error: 'settlement_unknown',
        payment: { nonce: signed.nonce, transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/) },
      });
      await expect
        .poll(async () => (await slowShop.buy('pending', toHeaders(signed))).status, {
          timeout: 20_000,
        })
        .toBe(200);
      expect(await slowSeller.earned()).toBe(PRICE);
    });

    test('the service does not start on a chain with another id, and refuses payments if the chain does not answer', async () => {
      const timing = { ...CHAIN_TIMING, signerRpcTimeoutMs: 500 };
      const options = { settlementKey: chain.facilitatorKey, timing } as const;
      const onWrongChain = createLocalFacilitator({
        ...options,
        rpcUrl: chain.rpcUrl,
        network: 'eip155:84532',
      });
      const terms = { ...seller.terms, network: 'eip155:84532' } as const;
      await expect(startShop({ facilitator: onWrongChain, terms })).rejects.toThrow(/eip155:84532/);

      const onSilentChain = createLocalFacilitator({
        ...options,
        rpcUrl: 'http://127.0.0.1:9',
        network: 'eip155:8453',
      });
      await using closedShop = await startShop({ facilitator: onSilentChain, terms: seller.terms });
      expect((await closedShop.buy('x')).status).toBe(503);
    });
  },
);
