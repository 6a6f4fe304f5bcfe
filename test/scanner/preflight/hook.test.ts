/** The hook runs in the official client. The client signs nothing that the hook refuses, and pays everything else. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { x402Client } from '@x402/core/client';
import { registerExactEvmScheme } from '@x402/evm/exact/client';
import { wrapFetchWithPayment } from '@x402/fetch';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { describe, expect, test } from 'vitest';
import { type PreflightHookOptions, preflight } from '../../../src/cli/library/index.ts';
import {
  type CraftedChallenge,
  challengeAnswer,
  challengeOf,
} from '../../fixtures/origins/crafted-challenge.ts';
import { type CraftedSeller, startCraftedSeller } from '../../fixtures/origins/crafted-seller.ts';
import { WEATHER } from '../../fixtures/sellers/seller-documents.ts';

type ChallengeChange = (challenge: CraftedChallenge, origin: string) => object;

/** Starts a seller that accepts every payment and logs it. */
function startSeller(change: ChallengeChange = (challenge) => challenge): Promise<CraftedSeller> {
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

const paidRequests = (seller: CraftedSeller) =>
  seller.requests.filter(({ headers }) => headers['payment-signature'] !== undefined);

describe('with the hook', () => {
  test('a good seller is paid, with or without a preflight request', async () => {
    await using seller = await startSeller();
    expect((await buy(seller, {})).status).toBe(200);
    const url = `${seller.url}/weather`;
    const answer = await buy(seller, { url, maxPrice: '1', allowPrivate: true });
    expect(answer.status).toBe(200);
    expect(paidRequests(seller)).toHaveLength(2);
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
    expect(paidRequests(seller)).toHaveLength(3);
  });

  const toOtherOrigin: ChallengeChange = (challenge) => ({
    ...challenge,
    resource: { ...challenge.resource, url: 'https://elsewhere.example.com/weather' },
  });
  const toWrongDomain: ChallengeChange = (challenge) => ({
    ...challenge,
    accepts: challenge.accepts.map((offer) => ({
      ...offer,
      extra: { name: 'USDC', version: '1' },
    })),
  });

  test.each([
    ['whose challenge names another origin', toOtherOrigin, {}, 'other_origin'],
    ['whose challenge names a wrong signing domain', toWrongDomain, {}, 'nobody_can_pay'],
    ['whose price is over the limit', undefined, { maxPrice: '0.000001' }, 'over_max_price'],
  ] as const)('no payment goes to a seller %s', async (_name, change, options, code) => {
    await using seller = await startSeller(change);
    const url = `${seller.url}/weather`;
    const purchase = buy(seller, { url, allowPrivate: true, ...options });
    await expect(purchase).rejects.toThrow(`preflight: no-go: ${code}`);
    expect(paidRequests(seller)).toHaveLength(0);
  });

  test('creating a hook with a malformed price limit throws an error', () => {
    expect(() => preflight({ maxPrice: '$1' })).toThrow('give a decimal');
  });

  test('a malformed price limit rejects the promise of a single preflight', async () => {
    const verdict = preflight('https://api.example.com/', { maxPrice: '$1' });
    await expect(verdict).rejects.toThrow('give a decimal');
  });
});
