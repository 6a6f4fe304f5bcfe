import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chainUnavailable } from '../../chain/anvil-process.ts';
import { chainFacilitator } from '../../chain/chain-facilitator.ts';
import { startChain, type TestChain } from '../../chain/test-chain.ts';
import { needs } from '../../needs.ts';
import { startExpressV2Seller } from '../../sellers/express-v2-seller.ts';
import { startFacilitatorServer } from '../../sellers/facilitator-server.ts';
import type { Seller } from '../../sellers/seller.ts';
import { type PythonBuyer, startPythonBuyer } from './python-buyer.ts';
import { ensurePythonEnv } from './python-env.ts';

const environment = await ensurePythonEnv();
const { python, unavailable = null } = { python: '', unavailable: null, ...environment };

describe('a buyer on Python', needs(unavailable ?? chainUnavailable()), () => {
  let chain: TestChain;
  let facilitator: Seller;
  let seller: Seller;
  let buyer: PythonBuyer;

  beforeAll(async () => {
    buyer = startPythonBuyer(python);
    chain = await startChain();
    facilitator = await startFacilitatorServer(chainFacilitator(chain));
    seller = await startExpressV2Seller({ facilitatorUrl: facilitator.url, withBazaar: true });
  });
  afterAll(async () => {
    await buyer?.stop();
    await seller?.stop();
    await facilitator?.stop();
    await chain?.stop();
  });

  test.each(['httpx', 'requests'] as const)('pays through %s, GET and POST', async (library) => {
    const { privateKey, address } = await chain.newPayer();
    const bought = await buyer.buy({
      library,
      method: 'GET',
      url: `${seller.url}/weather?city=Porto`,
      privateKey,
    });
    expect(bought).toMatchObject({
      status: 200,
      body: '{"city":"Porto","sky":"clear"}',
      headers: { 'payment-response': expect.any(String) },
    });

    const url = `${seller.url}/summaries`;
    const body = { text: 'A long text.' };
    const posted = await buyer.buy({ library, method: 'POST', url, body, privateKey });
    expect(posted).toMatchObject({ status: 200, body: expect.stringContaining('A long text.') });
    expect(await chain.balanceOf(address)).toBe(10_000_000n - 10_000n - 20_000n);
  });

  test('who has nothing gets the 402 and pays nothing', async () => {
    const { privateKey } = await chain.newPayer(0n);
    const url = `${seller.url}/weather`;
    const answer = await buyer.buy({ library: 'httpx', method: 'GET', url, privateKey });
    expect(answer).toMatchObject({ status: 402 });
  });

  test('an error of the client is thrown in its words', async () => {
    const { privateKey } = await chain.newPayer(0n);
    const url = 'http://127.0.0.1:1/';
    const purchase = buyer.buy({ library: 'requests', method: 'GET', url, privateKey });
    await expect(purchase).rejects.toThrow('ConnectionError');
  });
});
