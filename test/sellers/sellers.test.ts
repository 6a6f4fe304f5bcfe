import { x402Client } from '@x402/core/client';
import { decodePaymentRequiredHeader } from '@x402/core/http';
import { parsePaymentRequired } from '@x402/core/schemas';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { validateDiscoveryExtension } from '@x402/extensions/bazaar';
import { wrapFetchWithPayment } from '@x402/fetch';
import { privateKeyToAccount } from 'viem/accounts';
import { afterEach, describe, expect, test } from 'vitest';
import { chainUnavailable } from '../chain/anvil-process.ts';
import { chainFacilitator } from '../chain/chain-facilitator.ts';
import { startChain } from '../chain/test-chain.ts';
import { needs } from '../needs.ts';
import { startExpressV1Seller } from './express-v1-seller.ts';
import { startExpressV2Seller } from './express-v2-seller.ts';
import { startFacilitatorServer } from './facilitator-server.ts';
import { startFastApiSeller } from './fastapi-seller.ts';
import { SELLER_PAY_TO } from './seller.ts';

const POST_JSON = { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } };

const started: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of started.splice(0).reverse()) await one.stop();
});
function stopLater<T extends { stop(): Promise<void> }>(one: T): T {
  started.push(one);
  return one;
}

/** The v2 challenge in the header of an unpaid answer. */
async function challenge(url: string, init?: RequestInit) {
  const answer = await fetch(url, init);
  expect(answer.status).toBe(402);
  const challenged = decodePaymentRequiredHeader(answer.headers.get('payment-required') ?? '');
  expect(parsePaymentRequired(challenged).success).toBe(true);
  return challenged;
}

describe('the Express seller of version 2', () => {
  test('challenges GET and POST, and knows no document, as the middleware comes', async () => {
    const { url } = stopLater(await startExpressV2Seller());
    expect(await challenge(`${url}/weather`)).toMatchObject({
      x402Version: 2,
      resource: { url: `${url}/weather` },
      accepts: [{ network: 'eip155:8453', amount: '10000', payTo: SELLER_PAY_TO }],
    });
    expect(await challenge(`${url}/summaries`, POST_JSON)).not.toHaveProperty('extensions.bazaar');
    expect((await fetch(`${url}/weather`, { method: 'HEAD' })).status).toBe(200);
    expect((await fetch(`${url}/health`)).status).toBe(200);
    for (const path of ['/openapi.json', '/llms.txt', '/.well-known/x402', '/']) {
      expect((await fetch(url + path)).status).toBe(404);
    }
  });

  test('declares and documents what it sells when told to', async () => {
    const { url } = stopLater(
      await startExpressV2Seller({
        withBazaar: true,
        withDocuments: true,
        withOpenApi: true,
        guardsHead: true,
      }),
    );
    const { extensions } = await challenge(`${url}/summaries`, POST_JSON);
    const bazaar = extensions?.['bazaar'];
    expect(bazaar).toMatchObject({ info: { input: { method: 'POST', bodyType: 'json' } } });
    // The type knows the shape; whether it holds is what is asked here.
    const declared = bazaar as Parameters<typeof validateDiscoveryExtension>[0];
    expect(validateDiscoveryExtension(declared)).toEqual({ valid: true });
    expect((await fetch(`${url}/weather`, { method: 'HEAD' })).status).toBe(402);
    const openapi = await (await fetch(`${url}/openapi.json`)).json();
    expect(openapi).toMatchObject({ servers: [{ url }], paths: { '/summaries': { post: {} } } });
    for (const path of ['/llms.txt', '/robots.txt', '/.well-known/x402', '/favicon.svg', '/']) {
      expect((await fetch(url + path)).status).toBe(200);
    }
  });
});

describe('the Express seller of version 2, on a chain', needs(chainUnavailable()), () => {
  test('sells to the official client', async () => {
    const chain = stopLater(await startChain());
    const facilitator = stopLater(await startFacilitatorServer(chainFacilitator(chain)));
    const { url } = stopLater(await startExpressV2Seller({ facilitatorUrl: facilitator.url }));
    const payer = await chain.newPayer();
    const account = privateKeyToAccount(payer.privateKey);
    const client = new x402Client().register('eip155:*', new ExactEvmScheme(account));

    const answer = await wrapFetchWithPayment(fetch, client)(`${url}/weather?city=Porto`);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({ city: 'Porto', sky: 'clear' });
    expect(answer.headers.get('payment-response')).not.toBeNull();
    expect(await chain.balanceOf(payer.address)).toBe(9_990_000n);
    expect(await chain.balanceOf(SELLER_PAY_TO)).toBe(10_000n);
  });
});

test('the Express seller of version 1 challenges in the body alone', async () => {
  const { url } = stopLater(await startExpressV1Seller());
  for (const answer of [
    await fetch(`${url}/weather`),
    await fetch(`${url}/summaries`, POST_JSON),
  ]) {
    expect(answer.status).toBe(402);
    expect(answer.headers.get('payment-required')).toBeNull();
    expect(await answer.json()).toMatchObject({
      x402Version: 1,
      accepts: [{ network: 'base', payTo: SELLER_PAY_TO, extra: { name: 'USD Coin' } }],
    });
  }
});

const fastApi = await startFastApiSeller();
const lack = 'unavailable' in fastApi ? fastApi.unavailable : null;

describe('the FastAPI seller', needs(lack), () => {
  test('challenges GET and POST, and its own OpenAPI says nothing of payment', async () => {
    if ('unavailable' in fastApi) throw new Error(fastApi.unavailable);
    const { url } = stopLater(fastApi);
    expect(await challenge(`${url}/weather`)).toMatchObject({
      x402Version: 2,
      accepts: [{ network: 'eip155:8453', amount: '10000', payTo: SELLER_PAY_TO }],
    });
    expect(await challenge(`${url}/summaries`, POST_JSON)).toMatchObject({
      accepts: [{ amount: '20000' }],
    });
    expect((await fetch(`${url}/health`)).status).toBe(200);
    const openapi = await (await fetch(`${url}/openapi.json`)).text();
    expect(openapi).toContain('/weather');
    expect(openapi).not.toContain('402');
  });
});
