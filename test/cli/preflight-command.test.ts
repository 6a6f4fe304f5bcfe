import { describe, expect, test } from 'vitest';
import { preflightCommand } from '../../src/cli/preflight-command.ts';
import { challengeAnswer, challengeOf, offerOf } from '../fixtures/origins/crafted-challenge.ts';
import { startCraftedSeller } from '../fixtures/origins/crafted-seller.ts';
import { WEATHER } from '../fixtures/sellers/seller-documents.ts';
import { collector } from './collector.ts';

async function preflight(...args: readonly string[]) {
  const { streams, written } = collector();
  const code = await preflightCommand([...args, '--format', 'json'], streams);
  return { code, said: JSON.parse(written()) };
}

describe('preflight', () => {
  test('says go of a good seller, with its terms', async () => {
    await using seller = await startCraftedSeller();
    const url = `${seller.url}/weather`;
    const { code, said } = await preflight(url, '--allow-private');
    expect(said).toMatchObject({
      verdict: 'go',
      reasons: [],
      terms: { x402Version: 2, payableBy: 'default', resourceUrl: url },
    });
    expect(said.termsDigest).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(code).toBe(0);
    const again = await preflight(url, '--allow-private');
    expect(again.said.termsDigest).toBe(said.termsDigest);
    expect(seller.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /weather',
      'GET /weather',
    ]);
  });

  test('posts {} where it is told to', async () => {
    await using seller = await startCraftedSeller();
    const url = `${seller.url}/summaries`;
    const { said } = await preflight(url, '--allow-private', '--method', 'post');
    expect(said.verdict).toBe('go');
    expect(seller.requests).toMatchObject([{ method: 'POST', body: '{}' }]);
  });

  const testnet = (origin: string) => {
    const challenge = challengeOf(WEATHER, origin);
    const offer = {
      ...offerOf(WEATHER),
      network: 'eip155:84532',
      asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
      extra: { name: 'USDC', version: '2' },
    };
    return challengeAnswer({ ...challenge, accepts: [offer] });
  };

  test.each([
    ['/weather', ['--max-price', '0.0001'], 'no-go', 'over_max_price', 1],
    ['/health', [], 'caution', 'no_payment_asked', 0],
    ['/health', ['--strict'], 'caution', 'no_payment_asked', 1],
    ['/weather', ['--method', 'PUT'], 'caution', 'not_asked', 0],
    ['/testnet', [], 'caution', 'testnet_only', 0],
    ['/empty', [], 'no-go', 'no_challenge', 1],
    ['/nowhere', [], 'no-go', 'not_found', 1],
  ] as const)('of %s %j: %s, %s', async (path, flags, verdict, reason, exit) => {
    await using seller = await startCraftedSeller({
      answers: {
        'GET /testnet': ({ origin }) => testnet(origin),
        'GET /empty': { status: 402, body: 'Pay!' },
        'GET /nowhere': { status: 404 },
      },
    });
    const { code, said } = await preflight(`${seller.url}${path}`, '--allow-private', ...flags);
    expect(said.verdict).toBe(verdict);
    expect(said.reasons.map((one: { code: string }) => one.code)).toContain(reason);
    expect(code).toBe(exit);
  });

  test('calls a no-go what the guard refuses, and asks nobody', async () => {
    const { code, said } = await preflight('https://127.0.0.1/');
    expect(said).toMatchObject({ verdict: 'no-go', reasons: [{ code: 'refused' }], terms: null });
    expect(code).toBe(1);
  });

  test.each([
    [[], 'usage'],
    [['https://a.example.com', 'b'], 'usage'],
    [['https://a.example.com', '--max-price', '$1'], '--max-price'],
    [['https://a.example.com', '--method', 'G ET'], '--method'],
    [['https://a.example.com', '--loud'], '--loud'],
  ])('refuses %j', async (args, words) => {
    await expect(preflightCommand(args, collector().streams)).rejects.toThrow(words);
  });
});
