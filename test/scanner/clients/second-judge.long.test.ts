/**
 * Two official clients judge the same challenges. P3 must not pass if either refuses for a reason other
 * than the price. P3 must not fail if the Python client signs, unless `LENIENT` names the difference.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listChallenges } from '../../../src/scanner/clients/list-challenges.ts';
import { startPythonClient } from '../../fixtures/judges/python-client.ts';
import { needs } from '../../fixtures/needs.ts';
import { challengeAnswer, challengeOf, offerOf } from '../../fixtures/origins/crafted-challenge.ts';
import { type Answering, startCraftedSeller } from '../../fixtures/origins/crafted-seller.ts';
import { WEATHER } from '../../fixtures/sellers/seller-documents.ts';
import { SPEC_EXAMPLES } from '../../fixtures/x402-specs/examples.ts';
import { recordedOrigins } from '../../golden/recorded-origins.ts';
import {
  type EngineUnderTest,
  NEWER_VERSION,
  resultOf,
  startEngine,
} from '../scan/engine-under-test.ts';

type Members = Readonly<Record<string, unknown>>;

const ACCOUNT = '0x2222222222222222222222222222222222222222';
const DOMAIN = { name: 'USD Coin', version: '2' };
const SOLANA = {
  network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
  asset: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  payTo: '9aE476sH92Vz7DMPyq5WLPkrKWivxeuTKEFKd2sZZcde',
  extra: { feePayer: 'EwWqGE4ZFKLofuestmU4LDdK7XM1N4ALgdZccwYugwGd' },
};

/** Each row changes one member of an offer. Null stands for an entry that is not an offer. */
const OFFERS: readonly (readonly [name: string, offers: readonly (Members | null)[]])[] = [
  ['a cent on Base', [{}]],
  ['a cent on Solana', [SOLANA]],
  ['Solana without a fee payer', [{ ...SOLANA, extra: {} }]],
  ['a fee payer that is not an address', [{ ...SOLANA, extra: { feePayer: 'junk' } }]],
  ['a junk recipient on Solana', [{ ...SOLANA, payTo: 'junk' }]],
  ['five dollars', [{ amount: '5000000' }]],
  ['an amount in dollars', [{ amount: '$0.05' }]],
  ['a decimal amount', [{ amount: '0.05' }]],
  ['an amount that is a number', [{ amount: 10_000 }]],
  ['a negative amount', [{ amount: '-1' }]],
  ['no amount', [{ amount: undefined }]],
  ['the asset by its symbol', [{ asset: 'USDC' }]],
  ['a token that nobody knows', [{ asset: ACCOUNT }]],
  ['a recipient by name', [{ payTo: 'seller.eth' }]],
  ['no recipient', [{ payTo: undefined }]],
  ['no timeout', [{ maxTimeoutSeconds: undefined }]],
  ['a timeout of half a second', [{ maxTimeoutSeconds: 0.5 }]],
  ['a second to pay in', [{ maxTimeoutSeconds: 1 }]],
  ['no domain', [{ extra: {} }]],
  ['a domain without a version', [{ extra: { name: 'USD Coin' } }]],
  ['an extra that is null', [{ extra: null }]],
  ['no domain of a token that nobody knows', [{ asset: ACCOUNT, extra: {} }]],
  ['another domain', [{ extra: { name: 'USDC', version: '2' } }]],
  ['an unknown payment flow', [{ extra: { ...DOMAIN, paymentFlow: 'lottery' } }]],
  ['permit2', [{ extra: { assetTransferMethod: 'permit2' } }]],
  ['ERC-7710', [{ extra: { assetTransferMethod: 'erc7710' } }]],
  ['a chain by its name', [{ network: 'eip155:base-mainnet' }]],
  ['a name of version 1', [{ network: 'base' }]],
  ['upto', [{ scheme: 'upto', extra: { facilitatorAddress: ACCOUNT } }]],
  ['upto without its facilitator', [{ scheme: 'upto' }]],
  [
    'batch-settlement',
    [{ scheme: 'batch-settlement', extra: { ...DOMAIN, receiverAuthorizer: ACCOUNT } }],
  ],
  ['batch-settlement without its authorizer', [{ scheme: 'batch-settlement' }]],
  ['an unknown scheme', [{ scheme: 'barter' }]],
  ['an amount that is a number behind a good offer', [{}, { amount: 5 }]],
  ['a null behind a good offer', [{}, null]],
  ['a bad amount behind a good offer', [{}, { amount: '$1' }]],
  ['an unknown scheme in front of a good offer', [{ scheme: 'barter' }, {}]],
];

const CHALLENGE_CHANGES: readonly (readonly [name: string, change: Members])[] = [
  ['an error that is not text', { error: 402 }],
  ['a list of extensions', { extensions: [] }],
  ['a resource that is its address', { resource: 'https://shop.example' }],
  ['a description that is not text', { resource: { url: '/weather', description: 5 } }],
  ['the version as text', { x402Version: '2' }],
  ['a version of the future', { x402Version: 3 }],
];

/** Reasons why a check fails an offer that the Python client signs. Each key is an outcome. */
const LENIENT: Readonly<Record<string, string>> = {
  'no-domain': 'facilitators refuse terms without a domain, and so does the client for TypeScript',
  'wrong-domain': 'the token refuses a signature under another domain',
  'wrong-version':
    'the client for TypeScript knows no such version, and the evidence quotes its refusal',
  'bad-resource-url': 'a resource that has no address cannot be bought again',
};
const HAS_PYTHON_CLIENT =
  /"scheme":"(?:exact|upto|batch-settlement)","network":"(?:eip155|solana):/;

const python = await startPythonClient();
let engine: EngineUnderTest;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(async () => {
  await engine[Symbol.asyncDispose]();
  if ('judge' in python) await python[Symbol.asyncDispose]();
});

async function judgeTwice(make: (origin: string) => object) {
  if ('unavailable' in python) throw new Error(python.unavailable);
  const sendChallenge: Answering = ({ method, origin }, usual) =>
    method === 'GET' || usual.status === 402 ? challengeAnswer(make(origin)) : usual;
  await using seller = await startCraftedSeller({ answers: { '/weather': sendChallenge } });
  const outcome = await engine.scan(seller.url);
  const header = Buffer.from(JSON.stringify(make(seller.url))).toString('base64');
  const pythonVerdict = await python.judge({ header, body: '{}' });
  return { pythonVerdict, results: ['P3', 'P6', 'P7'].map((id) => resultOf(outcome, id)) };
}

async function expectAgreement(make: (origin: string) => object): Promise<void> {
  const { pythonVerdict, results } = await judgeTwice(make);
  const [p3] = results;
  const evidence = `Python pythonVerdict ${pythonVerdict.unlimited}; P3 ${p3?.outcome}: ${p3?.evidence}`;
  // The Python package cannot judge schemes that it has no client for.
  const isJudged = HAS_PYTHON_CLIENT.test(JSON.stringify(make('')));
  if (pythonVerdict.unlimited !== null && isJudged) expect(p3?.status, evidence).not.toBe('pass');
  if (pythonVerdict.default !== null) return;
  const failed = results.filter(({ id, status, outcome }) => {
    // Clients do not compare the price with other documents.
    if (id === 'P6' && outcome === 'mismatch') return false;
    return status === 'fail' && LENIENT[outcome] === undefined;
  });
  expect(failed, evidence).toEqual([]);
}

describe('x402 for Python', needs('unavailable' in python ? python.unavailable : null), () => {
  test.each(OFFERS)('agrees with P3 on %s', async (_, offers) => {
    await expectAgreement((origin) => ({
      ...challengeOf(WEATHER, origin),
      accepts: offers.map((change) => change && { ...offerOf(WEATHER), ...change }),
    }));
  });

  test.each(CHALLENGE_CHANGES)('agrees with P3 on a challenge with %s', async (_, change) => {
    await expectAgreement((origin) => ({ ...challengeOf(WEATHER, origin), ...change }));
  });

  test('agrees with our clients on each challenge of the recorded origins', async () => {
    if ('unavailable' in python) throw new Error(python.unavailable);
    const judged: string[] = [];
    for (const { name, recording } of await recordedOrigins()) {
      const { report } = await engine.replay(recording, NEWER_VERSION);
      const { challenged } = listChallenges(recording.observations.resources);
      for (const { method, path, answer } of challenged) {
        const header = answer.headers.map(([, value]) => value).join(', ') || null;
        const pythonVerdict = await python.judge({ header, body: answer.body });
        const { status, evidence } = resultOf({ report }, 'P3');
        const text = `${name} ${method} ${path}: Python pythonVerdict ${pythonVerdict.unlimited}; ${evidence}`;
        // P4 fails a challenge that is only in the body.
        const isUnread = header === null && !answer.body.includes('"x402Version":1');
        if (pythonVerdict.unlimited !== null && !isUnread) expect(status, text).not.toBe('pass');
        judged.push(text);
      }
    }
    expect(judged.length).toBeGreaterThan(5);
  });

  const specExamples = SPEC_EXAMPLES.map(
    (example, index) => [`${index} ${example.source}`, example] as const,
  );
  test.each(specExamples)(
    'agrees with P3 on the example of the specification: %s',
    async (_, example) => {
      const isOld = JSON.stringify(example).includes('maxAmountRequired');
      const accepts = 'offer' in example ? [example.offer] : example.challenge['accepts'];
      if (isOld || !Array.isArray(accepts) || accepts.length === 0) return;
      await expectAgreement((origin) =>
        'offer' in example ? { ...challengeOf(WEATHER, origin), accepts } : example.challenge,
      );
    },
  );
});
