/** The hook runs in the official client. The client signs nothing that the hook refuses, and pays the rest. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { x402Client } from '@x402/core/client';
import { registerExactEvmScheme } from '@x402/evm/exact/client';
import { wrapFetchWithPayment } from '@x402/fetch';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { describe, expect, test } from 'vitest';
import { type PreflightHookOptions, preflight } from '../../src/cli/library/index.ts';
import {
  type CraftedChallenge,
  challengeAnswer,
  challengeOf,
} from '../fixtures/origins/crafted-challenge.ts';
import { type CraftedSeller, startCraftedSeller } from '../fixtures/origins/crafted-seller.ts';
import { WEATHER } from '../fixtures/sellers/seller-documents.ts';

type Change = (challenge: CraftedChallenge, origin: string) => object;

/** Starts a seller that accepts every payment and logs it. */
function startSeller(change: Change = (challenge) => challenge): Promise<CraftedSeller> {
  return startCraftedSeller({
    answers: {
      'GET /weather': ({ headers, origin }) =>
        headers['payment-signature'] === undefined
          ? challengeAnswer(change(challengeOf(WEATHER, origin), origin))
          : { status: 200, body: { sky: 'clear' } },
    },
  });
}

function buy(seller: CraftedSeller, options: PreflightHookOptions): Promise<Response> {
  const client = new x402Client();
  registerExactEvmScheme(client, { signer: privateKeyToAccount(generatePrivateKey()) });
  client.onBeforePaymentCreation(preflight(options));
  return wrapFetchWithPayment(fetch, client)(`${seller.url}/weather`);
}

const paid = (seller: CraftedSeller) =>
  seller.requests.filter(({ headers }) => headers['payment-signature'] !== undefined);

describe('with the hook', () => {
  test('a good seller is paid, with or without a preflight request', async () => {
    await using seller = await startSeller();
    expect((await buy(seller, {})).status).toBe(200);
    const url = `${seller.url}/weather`;
    const asked = await buy(seller, { url, maxPrice: '1', allowPrivate: true });
    expect(asked.status).toBe(200);
    expect(paid(seller)).toHaveLength(2);
  });

  test('one engine serves all payments of a hook, and keeps no process alive', async () => {
    await using seller = await startSeller();
    const { stdout } = await promisify(execFile)(process.execPath, [
      fileURLToPath(new URL('three-payments.ts', import.meta.url)),
      seller.url,
    ]);
    const threads: readonly number[] = JSON.parse(stdout);
    expect(threads).toHaveLength(3);
    expect(threads[0]).toBeGreaterThan(0);
    expect(threads[2]).toBe(threads[0]);
    expect(paid(seller)).toHaveLength(3);
  });

  const elsewhere: Change = (challenge) => ({
    ...challenge,
    resource: { ...challenge.resource, url: 'https://elsewhere.example.com/weather' },
  });
  const wrongDomain: Change = (challenge) => ({
    ...challenge,
    accepts: challenge.accepts.map((offer) => ({
      ...offer,
      extra: { name: 'USDC', version: '1' },
    })),
  });

  test.each([
    ['for another origin', elsewhere, {}, 'other_origin'],
    ['under a wrong domain', wrongDomain, {}, 'nobody_can_pay'],
    ['over the limit', undefined, { maxPrice: '0.000001' }, 'over_max_price'],
  ] as const)('no payment goes to a seller %s', async (_name, change, options, code) => {
    await using seller = await startSeller(change);
    const url = `${seller.url}/weather`;
    const bought = buy(seller, { url, allowPrivate: true, ...options });
    await expect(bought).rejects.toThrow(`preflight: no-go: ${code}`);
    expect(paid(seller)).toHaveLength(0);
  });

  test('a malformed limit is refused when it is set', () => {
    expect(() => preflight({ maxPrice: '$1' })).toThrow('give a decimal');
  });

  test('a malformed limit rejects the promise of a single preflight', async () => {
    const asked = preflight('https://api.example.com/', { maxPrice: '$1' });
    await expect(asked).rejects.toThrow('give a decimal');
  });
});
