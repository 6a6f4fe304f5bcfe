import { describe, expect, test } from 'vitest';
import { preflightCommand } from '../../src/cli/preflight-command.ts';
import { challengeAnswer, challengeOf, offerOf } from '../fixtures/origins/crafted-challenge.ts';
import { startCraftedSeller } from '../fixtures/origins/crafted-seller.ts';
import { WEATHER } from '../fixtures/sellers/seller-documents.ts';
import { runCommand } from './run-cli.ts';

const MPP_HEADER = 'Payment id="1", method="tempo"';

async function preflight(...args: readonly string[]) {
  const { code, stdout } = await runCommand(preflightCommand, ...args, '--format', 'json');
  return { code, report: JSON.parse(stdout) };
}

describe('preflight', () => {
  test('says go for a good seller, with its terms', async () => {
    await using seller = await startCraftedSeller();
    const url = `${seller.url}/weather`;
    const { code, report } = await preflight(url, '--allow-private');
    expect(report).toMatchObject({
      verdict: 'go',
      reasons: [],
      terms: { x402Version: 2, payableBy: 'default', resourceUrl: url },
    });
    expect(report.termsDigest).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(code).toBe(0);
    const secondRun = await preflight(url, '--allow-private');
    expect(secondRun.report.termsDigest).toBe(report.termsDigest);
    expect(seller.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /weather',
      'GET /weather',
    ]);
  });

  test('sends POST with the body {} for --method post', async () => {
    await using seller = await startCraftedSeller();
    const url = `${seller.url}/summaries`;
    const { report } = await preflight(url, '--allow-private', '--method', 'post');
    expect(report.verdict).toBe('go');
    expect(seller.requests).toMatchObject([{ method: 'POST', body: '{}' }]);
  });

  const testnetChallenge = (origin: string) => {
    const challenge = challengeOf(WEATHER, origin);
    const offer = {
      ...offerOf(WEATHER),
      network: 'eip155:84532',
      asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
      extra: { name: 'USDC', version: '2' },
    };
    return challengeAnswer({ ...challenge, accepts: [offer] });
  };

  const upfrontChallenge = (origin: string) => {
    const challenge = challengeOf(WEATHER, origin);
    const resource = { ...challenge.resource, url: `${origin}/upfront` };
    const extra = { name: 'USD Coin', version: '2', paymentFlow: 'upfront' };
    const accepts = [{ ...offerOf(WEATHER), extra }];
    return challengeAnswer({ ...challenge, resource, accepts });
  };

  test('reports that a resource also, or only, sells over another protocol', async () => {
    await using seller = await startCraftedSeller({
      answers: {
        'GET /mpp': { status: 402, headers: { 'www-authenticate': MPP_HEADER }, body: {} },
        'GET /weather': ({ origin }) => {
          const x402Answer = challengeAnswer(challengeOf(WEATHER, origin));
          return {
            ...x402Answer,
            headers: { ...x402Answer.headers, 'www-authenticate': MPP_HEADER },
          };
        },
      },
    });
    const mppWay = { protocol: 'MPP', methods: ['tempo'] };
    const mppOnly = await preflight(`${seller.url}/mpp`, '--allow-private');
    expect(mppOnly.report.otherWays).toEqual([{ method: 'GET', path: '/mpp', ...mppWay }]);
    expect(mppOnly.report.reasons[0].evidence).toContain('over MPP (tempo), not x402');
    const mppAndX402 = await preflight(`${seller.url}/weather`, '--allow-private');
    expect(mppAndX402.report).toMatchObject({ verdict: 'go', reasons: [] });
    expect(mppAndX402.report.otherWays).toEqual([{ method: 'GET', path: '/weather', ...mppWay }]);
    const args = [`${seller.url}/weather`, '--allow-private'];
    const { stdout } = await runCommand(preflightCommand, ...args);
    expect(stdout).toContain('  other way to pay: MPP (tempo)\n');
  });

  test('names what an offer lacks, and an entry that is not an offer', async () => {
    await using seller = await startCraftedSeller({
      answers: {
        'GET /weather': challengeAnswer({
          x402Version: 2,
          resource: { url: 'https://seller.example/weather' },
          accepts: ['exact', { scheme: 'nvm:plan', network: 'stripe', asset: null, payTo: '0x1' }],
        }),
      },
    });
    const args = [`${seller.url}/weather`, '--allow-private'];
    const { stdout: text } = await runCommand(preflightCommand, ...args);
    expect(text).toContain('  /accepts/0: cannot be read\n');
    expect(text).toContain('  /accepts/1: no amount of no asset, nvm:plan on stripe, to 0x1\n');
    expect(text).not.toContain('null');
  });

  test('names what a 402 holds in place of a challenge', async () => {
    await using seller = await startCraftedSeller({
      answers: {
        'GET /weather': {
          status: 402,
          headers: { 'x-payment-required': '{"scheme":"exact","network":"base","payTo":"0x1"}' },
        },
      },
    });
    const { report } = await preflight(`${seller.url}/weather`, '--allow-private');
    expect(report.reasons).toEqual([
      {
        code: 'no_challenge',
        evidence:
          'the 402 holds no challenge that a client could read: it comes with the challenge in X-PAYMENT-REQUIRED, which clients do not read',
      },
    ]);
  });

  test.each([
    ['/weather', ['--max-price', '0.0001'], 'no-go', 'over_max_price', 1],
    ['/health', [], 'caution', 'no_payment_asked', 0],
    ['/health', ['--strict'], 'caution', 'no_payment_asked', 1],
    ['/weather', ['--method', 'PUT'], 'caution', 'not_asked', 0],
    ['/testnet', [], 'caution', 'testnet_only', 0],
    ['/empty', [], 'no-go', 'no_challenge', 1],
    ['/mpp', [], 'no-go', 'other_protocol', 1],
    ['/upfront', [], 'caution', 'pays_before_delivery', 0],
    ['/nowhere', [], 'no-go', 'not_found', 1],
  ] as const)(
    'for %s with flags %j says %s because of %s, and exits with %i',
    async (path, flags, verdict, reason, exit) => {
      await using seller = await startCraftedSeller({
        answers: {
          'GET /testnet': ({ origin }) => testnetChallenge(origin),
          'GET /empty': { status: 402, body: 'Pay!' },
          'GET /mpp': { status: 402, headers: { 'www-authenticate': MPP_HEADER }, body: {} },
          'GET /upfront': ({ origin }) => upfrontChallenge(origin),
          'GET /nowhere': { status: 404 },
        },
      });
      const { code, report } = await preflight(`${seller.url}${path}`, '--allow-private', ...flags);
      expect(report.verdict).toBe(verdict);
      expect(report.reasons.map(({ code }: { code: string }) => code)).toContain(reason);
      expect(code).toBe(exit);
    },
  );

  test.each([
    [405, 'it takes another method, so name the one that you will pay for'],
    [400, 'name the whole address with its query'],
    [401, 'it asks for a login'],
    [429, 'ask again later'],
    [503, 'it fails before it asks for a payment'],
  ])('says what a caller can do about a %i', async (status, hint) => {
    await using seller = await startCraftedSeller({ answers: { 'GET /odd': { status } } });
    const { report } = await preflight(`${seller.url}/odd`, '--allow-private');
    expect(report.reasons[0].evidence).toContain(`GET /odd: status ${status}, not 402; `);
    expect(report.reasons[0].evidence).toContain(hint);
  });

  test('says no-go for an address that the guard refuses, and sends nothing', async () => {
    const { code, report } = await preflight('https://127.0.0.1/');
    expect(report).toMatchObject({ verdict: 'no-go', reasons: [{ code: 'refused' }], terms: null });
    expect(code).toBe(1);
  });

  test.each([
    [[], 'usage'],
    [['https://a.example.com', 'b'], 'usage'],
    [['https://a.example.com', '--max-price', '$1'], '--max-price'],
    [['https://a.example.com', '--method', 'G ET'], '--method'],
    [['https://a.example.com', '--loud'], '--loud'],
  ])('refuses %j', async (args, words) => {
    await expect(runCommand(preflightCommand, ...args)).rejects.toThrow(words);
  });
});
