/**
 * A scanner must not fail offers that the specification allows, or pass offers that no client pays.
 * Each case is one seller, with its grade, the finding of P3, who can pay, and the advice.
 */
import { afterAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/scanner/parse/json/json.ts';
import { challengeAnswer, challengeOf, offerOf } from '../../fixtures/origins/crafted-challenge.ts';
import {
  type Answering,
  type CraftedOptions,
  startCraftedSeller,
} from '../../fixtures/origins/crafted-seller.ts';
import { SUMMARY, WEATHER } from '../../fixtures/sellers/seller-documents.ts';
import { editChallenge, editDocument, editOffer, NOT_FOUND_ANSWER } from './crafted/row.ts';
import { resultOf, startEngine } from './engine-under-test.ts';

type Case = {
  readonly name: string;
  readonly answers: NonNullable<CraftedOptions['answers']>;
  readonly grade: 'A' | 'B' | 'F';
  /** Status and outcome of P3, for example "pass valid". */
  readonly p3: string;
  /** Clients that can pay GET /weather. */
  readonly payableBy: 'default' | 'settings' | 'unknown' | 'nobody' | undefined;
  readonly advice?: readonly string[];
  /** A part of the evidence of each named check. */
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

const withOffer = (change: JsonObject) => ({ '/weather': editOffer(WEATHER, change) });
const withExtensions = (extensions: JsonObject) => ({
  '/weather': editChallenge(WEATHER, (usual) => ({ ...usual, extensions })),
});
const withSecondOffer = (change: JsonObject) => ({
  '/weather': editChallenge(WEATHER, (usual) => ({
    ...usual,
    accepts: [...usual.accepts, { ...offerOf(WEATHER), ...change }],
  })),
});
const withPrice = (amount: string): Answering =>
  editDocument((document) =>
    JSON.parse(JSON.stringify(document).replace('"amount":"0.01"', `"amount":"${amount}"`)),
  );
const withPath = (path: string, operations: JsonObject) =>
  editDocument(({ paths, ...rest }) => ({
    ...rest,
    paths: { ...(paths as JsonObject), [path]: operations },
  }));
const withOtherServer = editDocument((document) => ({
  ...document,
  servers: [{ url: 'https://api.other.example' }],
}));
const toSignIn = (host: string) => ({
  'sign-in-with-x': { info: { domain: host, uri: `https://${host}/profile` }, schema: {} },
});
const withProfile = (host: string) => ({
  '/openapi.json': withPath('/profile', {
    get: { security: [{ siwx: [] }], responses: { 200: {}, 402: {} } },
  }),
  '/profile': ({ origin }: { origin: string }) =>
    challengeAnswer({ ...challengeOf(WEATHER, origin), accepts: [], extensions: toSignIn(host) }),
});
const MPP_ANSWER = {
  status: 402,
  headers: { 'www-authenticate': 'Payment id="1", method="tempo", intent="charge"' },
  body: {},
};
const VALID_AND_PAYABLE = { p3: 'pass valid', payableBy: 'default' } as const;

const VALID_CASES: readonly Case[] = [
  {
    name: 'a sign-in without a price',
    answers: withProfile('127.0.0.1'),
    grade: 'A',
    ...VALID_AND_PAYABLE,
  },
  {
    name: 'documents whose API is another origin',
    answers: {
      '/openapi.json': withOtherServer,
      '/.well-known/x402': NOT_FOUND_ANSWER,
      '/weather': NOT_FOUND_ANSWER,
      '/summaries': NOT_FOUND_ANSWER,
    },
    grade: 'F',
    p3: 'fail prerequisite-failed',
    payableBy: undefined,
    says: { P2: 'https://api.other.example' },
  },
  {
    name: 'only ERC-7710',
    answers: withOffer({ extra: { assetTransferMethod: 'erc7710' } }),
    grade: 'B',
    p3: 'warn client-refuses',
    payableBy: 'unknown',
    says: { P3: 'the official client says' },
  },
  {
    name: 'the long id of Algorand behind a good offer',
    answers: withSecondOffer({
      network: 'algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73ktiC1qzkkit8=',
      asset: '31566704',
      payTo: 'RESOURCESERVERADDRESSAAAAAAAAAAAAAAAAAAAAAAAAAAAAAALTSRPAE',
      extra: {},
    }),
    grade: 'A',
    ...VALID_AND_PAYABLE,
    says: { P3: 'outdated-network' },
  },
  {
    name: 'a fresh recipient for each request',
    answers: {
      '/weather': (request, usual) =>
        editOffer(WEATHER, { payTo: `0x${String((request.number % 9) + 1).repeat(40)}` })(
          request,
          usual,
        ),
      '/.well-known/x402': editDocument(({ payTo: _, ...rest }) => rest),
    },
    grade: 'A',
    ...VALID_AND_PAYABLE,
    says: { P7: 'when asked again' },
  },
  {
    name: 'upto beside exact',
    answers: withSecondOffer({
      scheme: 'upto',
      amount: '50000',
      extra: { ...DOMAIN, facilitatorAddress: ACCOUNT },
    }),
    grade: 'A',
    ...VALID_AND_PAYABLE,
  },
  {
    name: 'bazaar over MCP',
    answers: {
      '/summaries': editChallenge(SUMMARY, (usual) => ({
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
    ...VALID_AND_PAYABLE,
  },
  {
    name: 'only Hedera',
    answers: withOffer({
      ...{ network: 'hedera:mainnet', asset: '0.0.0', payTo: '0.0.1234' },
      extra: { feePayer: '0.0.1235' },
    }),
    grade: 'A',
    p3: 'pass valid',
    payableBy: 'unknown',
  },
  {
    name: 'a known offer that is not judged, on one resource',
    answers: withOffer(SUI),
    grade: 'A',
    p3: 'pass valid',
    payableBy: 'unknown',
    says: { P3: '1 more: known, not judged here', P6: 'not judged here', P7: 'not judged here' },
  },
  {
    name: 'a known offer that is not judged, on every resource',
    answers: { ...withOffer(SUI), '/summaries': editOffer(SUMMARY, SUI) },
    grade: 'A',
    p3: 'warn named',
    payableBy: 'unknown',
    says: { P3: 'known, not judged here', P6: 'not judged here', P7: 'not judged here' },
  },
  {
    name: 'only MPP',
    answers: { '/weather': MPP_ANSWER, '/summaries': MPP_ANSWER },
    grade: 'F',
    p3: 'fail prerequisite-failed',
    payableBy: 'nobody',
    says: { P2: 'the 402 asks over MPP, not over x402' },
  },
];

/** The official client refuses this offer, so P3 must not pass. */
function toRefusedCase(
  name: string,
  change: JsonObject,
  outcome: string,
  ...advice: readonly string[]
): Case {
  const says = { P3: 'the official client says' };
  const p3 = `fail ${outcome}`;
  return { name, answers: withOffer(change), grade: 'F', p3, payableBy: 'nobody', advice, says };
}

const UNPAYABLE_CASES: readonly Case[] = [
  toRefusedCase(
    'upto without its facilitator',
    { scheme: 'upto' },
    'missing-member',
    'needs-allowance',
  ),
  toRefusedCase('batch-settlement, bare', { scheme: 'batch-settlement' }, 'missing-member'),
  toRefusedCase('auth-capture, bare', { scheme: 'auth-capture' }, 'missing-member'),
  toRefusedCase('a flow by chance', { extra: { ...DOMAIN, paymentFlow: 'lottery' } }, 'bad-field'),
  toRefusedCase('Solana without a fee payer', { ...SOLANA, extra: {} }, 'missing-member'),
  toRefusedCase('a chain by its name', { network: 'eip155:base-mainnet' }, 'bad-field'),
  toRefusedCase(
    'a Solana network by its name, and a junk recipient',
    { ...SOLANA, network: 'solana:mainnet', payTo: 'junk' },
    'bad-field',
  ),
  {
    name: 'USDC of Sepolia on Base',
    answers: withOffer({ asset: SEPOLIA.asset }),
    grade: 'F',
    p3: 'fail wrong-chain',
    payableBy: 'nobody',
  },
];

/** Some client pays these offers. They get a warning if clients or facilitators may refuse, else advice. */
const RISKY_CASES: readonly Case[] = [
  {
    name: 'five dollars',
    answers: { ...withOffer({ amount: '5000000' }), '/openapi.json': withPrice('5') },
    grade: 'A',
    p3: 'pass valid',
    payableBy: 'settings',
    advice: ['over-default-limit'],
  },
  {
    name: 'one dollar',
    answers: { ...withOffer({ amount: '1000000' }), '/openapi.json': withPrice('1') },
    grade: 'A',
    ...VALID_AND_PAYABLE,
  },
  {
    name: 'a twentieth of a cent',
    answers: { ...withOffer({ amount: '500' }), '/openapi.json': withPrice('0.0005') },
    grade: 'A',
    ...VALID_AND_PAYABLE,
    advice: ['under-facilitator-minimum'],
  },
  {
    name: 'a tenth of a cent',
    answers: { ...withOffer({ amount: '1000' }), '/openapi.json': withPrice('0.001') },
    grade: 'A',
    ...VALID_AND_PAYABLE,
  },
  {
    name: 'testnets only',
    answers: { ...withOffer(SEPOLIA), '/summaries': editOffer(SUMMARY, SEPOLIA) },
    grade: 'A',
    ...VALID_AND_PAYABLE,
    advice: ['testnet-only'],
  },
  {
    name: 'a testnet beside a main network',
    answers: withSecondOffer(SEPOLIA),
    grade: 'A',
    ...VALID_AND_PAYABLE,
  },
  {
    name: 'another host in resource.url',
    answers: {
      '/weather': editChallenge(WEATHER, (usual) => ({
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
    answers: withExtensions({
      'offer-receipt': {
        info: { offers: [{ format: 'eip712', acceptIndex: 0, payload: { amount: '1' } }] },
      },
    }),
    grade: 'A',
    ...VALID_AND_PAYABLE,
    advice: ['signed-offer-differs'],
  },
  {
    name: 'a signed offer at the price that is offered',
    answers: withExtensions({
      'offer-receipt': {
        info: { offers: [{ format: 'eip712', acceptIndex: 0, payload: { amount: '10000' } }] },
      },
    }),
    grade: 'A',
    ...VALID_AND_PAYABLE,
  },
  {
    name: 'a sign-in for another host, beside a price',
    answers: withExtensions(toSignIn('shop.example')),
    grade: 'A',
    ...VALID_AND_PAYABLE,
    advice: ['sign-in-elsewhere'],
  },
  {
    name: 'a sign-in for another host, without a price',
    answers: withProfile('shop.example'),
    grade: 'A',
    ...VALID_AND_PAYABLE,
    advice: ['sign-in-elsewhere'],
  },
  {
    name: 'a sign-in for this host',
    answers: withExtensions(toSignIn('127.0.0.1')),
    grade: 'A',
    ...VALID_AND_PAYABLE,
  },
  {
    name: 'a timeout of one second',
    answers: withOffer({ maxTimeoutSeconds: 1 }),
    grade: 'B',
    p3: 'warn timeout',
    payableBy: 'default',
  },
  {
    name: 'an identifier that is required',
    answers: withExtensions({ 'payment-identifier': { info: { required: true }, schema: {} } }),
    grade: 'A',
    ...VALID_AND_PAYABLE,
    advice: ['identifier-required'],
  },
  {
    name: 'an identifier that is optional',
    answers: withExtensions({ 'payment-identifier': { info: { required: false }, schema: {} } }),
    grade: 'A',
    ...VALID_AND_PAYABLE,
  },
  {
    name: 'Permit2 without a sponsor',
    answers: withOffer({ extra: { assetTransferMethod: 'permit2' } }),
    grade: 'A',
    ...VALID_AND_PAYABLE,
    advice: ['needs-allowance'],
  },
  {
    name: 'Permit2 with a sponsor',
    answers: {
      '/weather': editChallenge(WEATHER, (usual) => ({
        ...usual,
        accepts: [{ ...offerOf(WEATHER), extra: { assetTransferMethod: 'permit2' } }],
        extensions: { erc20ApprovalGasSponsoring: { info: {}, schema: {} } },
      })),
    },
    grade: 'A',
    ...VALID_AND_PAYABLE,
  },
  {
    name: 'a paid PATCH in the manifest',
    answers: {
      '/.well-known/x402': editDocument(({ resources, ...rest }) => ({
        ...rest,
        resources: [...(resources as readonly string[]), 'PATCH /weather'],
      })),
    },
    grade: 'A',
    ...VALID_AND_PAYABLE,
    advice: ['methods-unseen'],
  },
  {
    name: 'a free PUT in OpenAPI',
    answers: {
      '/openapi.json': withPath('/cities', { put: { security: [], responses: { 200: {} } } }),
    },
    grade: 'A',
    ...VALID_AND_PAYABLE,
  },
  {
    name: 'a long name of the service, and many tags',
    answers: {
      '/weather': editChallenge(WEATHER, (usual) => ({
        ...usual,
        resource: { ...usual.resource, serviceName: 'x'.repeat(60), tags: [...'abcdefg'] },
      })),
    },
    grade: 'A',
    ...VALID_AND_PAYABLE,
  },
];

const engine = await startEngine();
afterAll(() => engine[Symbol.asyncDispose]());

async function expectCase({ answers, grade, p3, payableBy, advice = [], says = {} }: Case) {
  await using seller = await startCraftedSeller({ answers });
  const outcome = await engine.scan(seller.url);
  const { report } = outcome;
  const { status, outcome: p3Outcome } = resultOf(outcome, 'P3');
  const weather = report.payability?.find(({ path }) => path === WEATHER.path);
  expect({
    grade: report.grade,
    p3: `${status} ${p3Outcome}`,
    payableBy: weather?.payableBy,
    // Every seller here lacks CORS headers, and no case is about them.
    advice: report.advice?.map(({ id }) => id).filter((id) => id !== 'hidden-from-browsers'),
  }).toEqual({ grade, p3, payableBy, advice });
  for (const [id, words] of Object.entries(says)) {
    expect(resultOf(outcome, id).evidence).toContain(words);
  }
}

describe('an offer that the specification allows:', () => {
  test.each(VALID_CASES)('$name: grade $grade, P3 $p3', (sellerCase) => expectCase(sellerCase));
});
describe('an offer that no client pays:', () => {
  test.each(UNPAYABLE_CASES)('$name: grade $grade, P3 $p3', (sellerCase) => expectCase(sellerCase));
});
describe('an offer that clients pay, with a risk:', () => {
  test.each(RISKY_CASES)('$name: grade $grade, P3 $p3', (sellerCase) => expectCase(sellerCase));
});
