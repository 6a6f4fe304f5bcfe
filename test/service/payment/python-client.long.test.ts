import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chainUnavailable } from '../../fixtures/chain/anvil-process.ts';
import { startChain, type TestChain } from '../../fixtures/chain/test-chain.ts';
import { type PythonBuyer, startPythonBuyer } from '../../fixtures/clients/python/python-buyer.ts';
import { ensurePythonEnv } from '../../fixtures/clients/python/python-env.ts';
import { needs } from '../../fixtures/needs.ts';
import { localShop, newSeller, type Seller } from './chain-shop.ts';
import { PRICE } from './payer.ts';
import type { Shop } from './shop.ts';

const environment = await ensurePythonEnv();
const { python, unavailable = null } = { python: '', unavailable: null, ...environment };

describe('the official Python client', needs(unavailable ?? chainUnavailable()), () => {
  let chain: TestChain;
  let seller: Seller;
  let shop: Shop;
  let buyer: PythonBuyer;
  beforeAll(async () => {
    buyer = startPythonBuyer(python);
    chain = await startChain();
    seller = newSeller(chain);
    const { rpcUrl, facilitatorKey: settlementKey } = chain;
    shop = await localShop(seller, { rpcUrl, settlementKey });
  });
  afterAll(async () => {
    await buyer?.[Symbol.asyncDispose]();
    await shop?.[Symbol.asyncDispose]();
    await chain?.[Symbol.asyncDispose]();
  });

  test.each(['httpx', 'requests'] as const)('pays a POST and a GET through %s', async (library) => {
    const { privateKey } = await chain.newPayer();
    const earnedBefore = await seller.earned();
    const posted = await buyer.buy({
      library,
      method: 'POST',
      url: `${shop.url}/work`,
      body: { item: library },
      privateKey,
    });
    expect(posted).toMatchObject({
      status: 200,
      body: expect.stringContaining(`Work on ${library}`),
      headers: { 'payment-response': expect.any(String) },
    });
    const url = `${shop.url}/list?n=4`;
    expect(await buyer.buy({ library, method: 'GET', url, privateKey })).toMatchObject({
      status: 200,
      body: expect.stringMatching(/^\["x{4000}"\]$/),
    });
    expect((await seller.earned()) - earnedBefore).toBe(PRICE * 2n);
  });
});
