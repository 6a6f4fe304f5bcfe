/**
 * A scanner must not fail offers that the specification allows, or pass offers that no client pays.
 * Each case is one seller, with its grade, the finding of P3, who can pay, and the advice.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/parse/json/json.ts';
import { challengeAnswer, challengeOf, offerOf } from '../fixtures/origins/crafted-challenge.ts';
import {
  type Answering,
  type CraftedOptions,
  startCraftedSeller,
} from '../fixtures/origins/crafted-seller.ts';
import { SUMMARY, WEATHER } from '../fixtures/sellers/seller-documents.ts';
import { ABSENT, challenging, edited, offering } from './crafted/row.ts';
import { type EngineUnderTest, resultOf, startEngine } from './engine-under-test.ts';

type Case = {
  readonly name: string;
  readonly answers: NonNullable<CraftedOptions['answers']>;
  readonly grade: 'A' | 'B' | 'F';
  /** "pass valid" */
  readonly p3: string;
  /** Clients that can pay GET /weather. */
  readonly payableBy: 'default' | 'settings' | 'unknown' | 'nobody' | undefined;
  readonly advice?: readonly string[];
  readonly says?: Readonly<Record<string, string>>;
};

const ACCOUNT = '0x2222222222222222222222222222222222222222';
const DOMAIN = { name: 'USD Coin', version: '2' };
const SOLANA = {
  network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
  asset: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  payTo: '9aE476sH92Vz7DMPyq5WLPkrKWivxeuTKEFKd2sZZcde',
};
const SUI = { network: 'sui:mainnet', asset: '0x2::sui::SUI', payTo: '0x1eb7', extra: {} };
const SEPOLIA = {
  network: 'eip155:84532',
  asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
  extra: { name: 'USDC', version: '2' },
};

const offer = (change: JsonObject) => ({ '/weather': offering(WEATHER, change) });
const extending = (extensions: JsonObject) => ({
  '/weather': challenging(WEATHER, (usual) => ({ ...usual, extensions })),
});
const beside = (change: JsonObject) => ({
  '/weather': challenging(WEATHER, (usual) => ({
    ...usual,
    accepts: [...usual.accepts, { ...offerOf(WEATHER), ...change }],
  })),
});
const priced = (amount: string): Answering =>
  edited((document) =>
    JSON.parse(JSON.stringify(document).replace('"amount":"0.01"', `"amount":"${amount}"`)),
  );
const adding = (path: string, operations: JsonObject) =>
  edited(({ paths, ...rest }) => ({
    ...rest,
    paths: { ...(paths as JsonObject), [path]: operations },
  }));
const elsewhere = edited((document) => ({
  ...document,
  servers: [{ url: 'https://api.other.example' }],
}));
const signIn = (host: string) => ({
  'sign-in-with-x': { info: { domain: host, uri: `https://${host}/profile` }, schema: {} },
});
const profile = (host: string) => ({
  '/openapi.json': adding('/profile', {
    get: { security: [{ siwx: [] }], responses: { 200: {}, 402: {} } },
  }),
  '/profile': ({ origin }: { origin: string }) =>
    challengeAnswer({ ...challengeOf(WEATHER, origin), accepts: [], extensions: signIn(host) }),
});
const MPP = {
  status: 402,
  headers: { 'www-authenticate': 'Payment id="1", method="tempo", intent="charge"' },
  body: {},
};
const VALID = { p3: 'pass valid', payableBy: 'default' } as const;

const VALID_CASES: readonly Case[] = [
  { name: 'a sign-in without a price', answers: profile('127.0.0.1'), grade: 'A', ...VALID },
  {
    name: 'documents whose API is another origin',
    answers: {
      '/openapi.json': elsewhere,
      '/.well-known/x402': ABSENT,
      '/weather': ABSENT,
      '/summaries': ABSENT,
    },
    grade: 'F',
    p3: 'fail prerequisite-failed',
    payableBy: undefined,
    says: { P2: 'https://api.other.example' },
  },
  {
    name: 'only ERC-7710',
    answers: offer({ extra: { assetTransferMethod: 'erc7710' } }),
    grade: 'B',
    p3: 'warn client-refuses',
    payableBy: 'unknown',
    says: { P3: 'the official client says' },
  },
  {
    name: 'the long id of Algorand behind a good offer',
    answers: beside({
      network: 'algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73ktiC1qzkkit8=',
      asset: '31566704',
      payTo: 'RESOURCESERVERADDRESSAAAAAAAAAAAAAAAAAAAAAAAAAAAAAALTSRPAE',
      extra: {},
    }),
    grade: 'A',
    ...VALID,
    says: { P3: 'outdated-network' },
  },
  {
    name: 'a fresh recipient for each request',
    answers: {
      '/weather': (request, usual) =>
        offering(WEATHER, { payTo: `0x${String((request.number % 9) + 1).repeat(40)}` })(
          request,
          usual,
        ),
      '/.well-known/x402': edited(({ payTo: _, ...rest }) => rest),
    },
    grade: 'A',
    ...VALID,
    says: { P7: 'when asked again' },
  },
  {
    name: 'upto beside exact',
    answers: beside({
      scheme: 'upto',
      amount: '50000',
      extra: { ...DOMAIN, facilitatorAddress: ACCOUNT },
    }),
    grade: 'A',
    ...VALID,
  },
  {
    name: 'bazaar over MCP',
    answers: {
      '/summaries': challenging(SUMMARY, (usual) => ({
        ...usual,
        extensions: {
          bazaar: {
            info: { input: { type: 'mcp', toolName: 'sum', inputSchema: { type: 'object' } } },
            schema: { type: 'object' },
          },
        },
      })),
    },
    grade: 'A',
    ...VALID,
  },
  {
    name: 'only Hedera',
    answers: offer({
      ...{ network: 'hedera:mainnet', asset: '0.0.0', payTo: '0.0.1234' },
      extra: { feePayer: '0.0.1235' },
    }),
    grade: 'A',
    p3: 'pass valid',
    payableBy: 'unknown',
  },
  {
    name: 'a known offer that is not judged, on one resource',
    answers: offer(SUI),
    grade: 'A',
    p3: 'pass valid',
    payableBy: 'unknown',
    says: { P3: '1 more: known, not judged here', P6: 'not judged here', P7: 'not judged here' },
  },
  {
    name: 'a known offer that is not judged, on every resource',
    answers: { ...offer(SUI), '/summaries': offering(SUMMARY, SUI) },
    grade: 'A',
    p3: 'warn named',
    payableBy: 'unknown',
    says: { P3: 'known, not judged here', P6: 'not judged here', P7: 'not judged here' },
  },
  {
    name: 'only MPP',
    answers: { '/weather': MPP, '/summaries': MPP },
    grade: 'F',
    p3: 'fail prerequisite-failed',
    payableBy: 'nobody',
    says: { P2: 'the 402 asks over MPP, not over x402' },
  },
];

/** The official client refuses this offer, so P3 must not pass. */
function refused(
  name: string,
  change: JsonObject,
  outcome: string,
  ...advice: readonly string[]
): Case {
  const says = { P3: 'the official client says' };
  const p3 = `fail ${outcome}`;
  return { name, answers: offer(change), grade: 'F', p3, payableBy: 'nobody', advice, says };
}

const UNPAYABLE: readonly Case[] = [
  refused('upto without its facilitator', { scheme: 'upto' }, 'missing-member', 'needs-allowance'),
  refused('batch-settlement, bare', { scheme: 'batch-settlement' }, 'missing-member'),
  refused('auth-capture, bare', { scheme: 'auth-capture' }, 'missing-member'),
  refused('a flow by chance', { extra: { ...DOMAIN, paymentFlow: 'lottery' } }, 'bad-field'),
  refused('Solana without a fee payer', { ...SOLANA, extra: {} }, 'missing-member'),
  refused('a chain by its name', { network: 'eip155:base-mainnet' }, 'bad-field'),
  refused(
    'a Solana network by its name, and a junk recipient',
    { ...SOLANA, network: 'solana:mainnet', payTo: 'junk' },
    'bad-field',
  ),
  {
    name: 'USDC of Sepolia on Base',
    answers: offer({ asset: SEPOLIA.asset }),
    grade: 'F',
    p3: 'fail wrong-chain',
    payableBy: 'nobody',
  },
];

/** Some client pays these offers. They get a warning if clients or facilitators may refuse, else advice. */
const UNWISE: readonly Case[] = [
  {
    name: 'five dollars',
    answers: { ...offer({ amount: '5000000' }), '/openapi.json': priced('5') },
    grade: 'A',
    p3: 'pass valid',
    payableBy: 'settings',
    advice: ['over-default-limit'],
  },
  {
    name: 'one dollar',
    answers: { ...offer({ amount: '1000000' }), '/openapi.json': priced('1') },
    grade: 'A',
    ...VALID,
  },
  {
    name: 'a twentieth of a cent',
    answers: { ...offer({ amount: '500' }), '/openapi.json': priced('0.0005') },
    grade: 'A',
    ...VALID,
    advice: ['under-facilitator-minimum'],
  },
  {
    name: 'a tenth of a cent',
    answers: { ...offer({ amount: '1000' }), '/openapi.json': priced('0.001') },
    grade: 'A',
    ...VALID,
  },
  {
    name: 'testnets only',
    answers: { ...offer(SEPOLIA), '/summaries': offering(SUMMARY, SEPOLIA) },
    grade: 'A',
    ...VALID,
    advice: ['testnet-only'],
  },
  { name: 'a testnet beside a main network', answers: beside(SEPOLIA), grade: 'A', ...VALID },
  {
    name: 'another host in resource.url',
    answers: {
      '/weather': challenging(WEATHER, (usual) => ({
        ...usual,
        resource: { ...usual.resource, url: 'https://shop.example/weather' },
      })),
    },
    grade: 'B',
    p3: 'warn other-host',
    payableBy: 'default',
  },
  {
    name: 'a signed offer at another price',
    answers: extending({
      'offer-receipt': {
        info: { offers: [{ format: 'eip712', acceptIndex: 0, payload: { amount: '1' } }] },
      },
    }),
    grade: 'A',
    ...VALID,
    advice: ['signed-offer-differs'],
  },
  {
    name: 'a signed offer at the price that is offered',
    answers: extending({
      'offer-receipt': {
        info: { offers: [{ format: 'eip712', acceptIndex: 0, payload: { amount: '10000' } }] },
      },
    }),
    grade: 'A',
    ...VALID,
  },
  {
    name: 'a sign-in for another host, beside a price',
    answers: extending(signIn('shop.example')),
    grade: 'A',
    ...VALID,
    advice: ['sign-in-elsewhere'],
  },
  {
    name: 'a sign-in for another host, without a price',
    answers: profile('shop.example'),
    grade: 'A',
    ...VALID,
    advice: ['sign-in-elsewhere'],
  },
  {
    name: 'a sign-in for this host',
    answers: extending(signIn('127.0.0.1')),
    grade: 'A',
    ...VALID,
  },
  {
    name: 'a timeout of one second',
    answers: offer({ maxTimeoutSeconds: 1 }),
    grade: 'B',
    p3: 'warn timeout',
    payableBy: 'default',
  },
  {
    name: 'an identifier that is required',
    answers: extending({ 'payment-identifier': { info: { required: true }, schema: {} } }),
    grade: 'A',
    ...VALID,
    advice: ['identifier-required'],
  },
  {
    name: 'an identifier that is optional',
    answers: extending({ 'payment-identifier': { info: { required: false }, schema: {} } }),
    grade: 'A',
    ...VALID,
  },
  {
    name: 'Permit2 without a sponsor',
    answers: offer({ extra: { assetTransferMethod: 'permit2' } }),
    grade: 'A',
    ...VALID,
    advice: ['needs-allowance'],
  },
  {
    name: 'Permit2 with a sponsor',
    answers: {
      '/weather': challenging(WEATHER, (usual) => ({
        ...usual,
        accepts: [{ ...offerOf(WEATHER), extra: { assetTransferMethod: 'permit2' } }],
        extensions: { erc20ApprovalGasSponsoring: { info: {}, schema: {} } },
      })),
    },
    grade: 'A',
    ...VALID,
  },
  {
    name: 'a paid PATCH in the manifest',
    answers: {
      '/.well-known/x402': edited(({ resources, ...rest }) => ({
        ...rest,
        resources: [...(resources as readonly string[]), 'PATCH /weather'],
      })),
    },
    grade: 'A',
    ...VALID,
    advice: ['methods-unseen'],
  },
  {
    name: 'a free PUT in OpenAPI',
    answers: {
      '/openapi.json': adding('/cities', { put: { security: [], responses: { 200: {} } } }),
    },
    grade: 'A',
    ...VALID,
  },
  {
    name: 'a long name of the service, and many tags',
    answers: {
      '/weather': challenging(WEATHER, (usual) => ({
        ...usual,
        resource: { ...usual.resource, serviceName: 'x'.repeat(60), tags: [...'abcdefg'] },
      })),
    },
    grade: 'A',
    ...VALID,
  },
];

let engine: EngineUnderTest;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine[Symbol.asyncDispose]());

async function expectCase({ answers, grade, p3, payableBy, advice = [], says = {} }: Case) {
  await using seller = await startCraftedSeller({ answers });
  const outcome = await engine.scan(seller.url);
  const { report } = outcome;
  const { status, outcome: found } = resultOf(outcome, 'P3');
  const weather = report.payability?.find(({ path }) => path === WEATHER.path);
  expect({
    grade: report.grade,
    p3: `${status} ${found}`,
    payableBy: weather?.payableBy,
    // Every seller here lacks CORS headers, and no case is about them.
    advice: report.advice?.map(({ id }) => id).filter((id) => id !== 'hidden-from-browsers'),
  }).toEqual({ grade, p3, payableBy, advice });
  for (const [id, words] of Object.entries(says)) {
    expect(resultOf(outcome, id).evidence).toContain(words);
  }
}

describe('an offer that the specification allows:', () => {
  it.each(VALID_CASES)('$name', (one) => expectCase(one));
});
describe('an offer that no client pays:', () => {
  it.each(UNPAYABLE)('$name', (one) => expectCase(one));
});
describe('an offer that clients pay, with a risk:', () => {
  it.each(UNWISE)('$name', (one) => expectCase(one));
});
