/**
 * A scanner must not fail offers that the specification allows. Each case is one seller, with its grade, the finding of
 * P3, who can pay, and the advice. Offers that no client pays are rows of crafted/payable-rows.ts.
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
import { editChallenge, editDocument, editOffer, type RowResult, toResult } from './crafted/row.ts';
import { listCells, resultOf, startEngine } from './engine-under-test.ts';

type Case = Omit<RowResult, 'advice'> & {
  readonly name: string;
  readonly answers: NonNullable<CraftedOptions['answers']>;
  /** Status and outcome of P3, for example "pass valid". */
  readonly p3: string;
  readonly advice?: RowResult['advice'];
  /** A part of the evidence of each named check. */
  readonly says?: Readonly<Record<string, string>>;
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
const VALID_AND_PAYABLE = { grade: 'A', p3: 'pass valid', payableBy: 'default' } as const;

const VALID_CASES: readonly Case[] = [
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
];

/** Clients pay these offers. They get advice if facilitators or some clients may refuse. */
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
    ...VALID_AND_PAYABLE,
  },
  {
    name: 'a twentieth of a cent',
    answers: { ...withOffer({ amount: '500' }), '/openapi.json': withPrice('0.0005') },
    ...VALID_AND_PAYABLE,
    advice: ['under-facilitator-minimum'],
  },
  {
    name: 'a tenth of a cent',
    answers: { ...withOffer({ amount: '1000' }), '/openapi.json': withPrice('0.001') },
    ...VALID_AND_PAYABLE,
  },
  {
    name: 'testnets only',
    answers: { ...withOffer(SEPOLIA), '/summaries': editOffer(SUMMARY, SEPOLIA) },
    ...VALID_AND_PAYABLE,
    advice: ['testnet-only'],
  },
  {
    name: 'a testnet beside a main network',
    answers: withSecondOffer(SEPOLIA),
    ...VALID_AND_PAYABLE,
  },
  {
    name: 'a signed offer at another price',
    answers: withExtensions({
      'offer-receipt': {
        info: { offers: [{ format: 'eip712', acceptIndex: 0, payload: { amount: '1' } }] },
      },
    }),
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
    ...VALID_AND_PAYABLE,
  },
  {
    name: 'a sign-in for another host, beside a price',
    answers: withExtensions(toSignIn('shop.example')),
    ...VALID_AND_PAYABLE,
    advice: ['sign-in-elsewhere'],
  },
  {
    name: 'a sign-in for another host, without a price',
    answers: withProfile('shop.example'),
    ...VALID_AND_PAYABLE,
    advice: ['sign-in-elsewhere'],
  },
  {
    name: 'a sign-in for this host',
    answers: withExtensions(toSignIn('127.0.0.1')),
    ...VALID_AND_PAYABLE,
  },
  {
    name: 'an identifier that is required',
    answers: withExtensions({ 'payment-identifier': { info: { required: true }, schema: {} } }),
    ...VALID_AND_PAYABLE,
    advice: ['identifier-required'],
  },
  {
    name: 'an identifier that is optional',
    answers: withExtensions({ 'payment-identifier': { info: { required: false }, schema: {} } }),
    ...VALID_AND_PAYABLE,
  },
  {
    name: 'Permit2 without a sponsor',
    answers: withOffer({ extra: { assetTransferMethod: 'permit2' } }),
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
    ...VALID_AND_PAYABLE,
    advice: ['methods-unseen'],
  },
  {
    name: 'a free PUT in OpenAPI',
    answers: {
      '/openapi.json': withPath('/cities', { put: { security: [], responses: { 200: {} } } }),
    },
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
    ...VALID_AND_PAYABLE,
  },
];

const engine = await startEngine();
afterAll(() => engine[Symbol.asyncDispose]());

async function expectCase({ answers, grade, p3, payableBy, advice = [], says = {} }: Case) {
  await using seller = await startCraftedSeller({ answers });
  const outcome = await engine.scan(seller.url);
  expect(listCells(outcome)).toContain(`P3 ${p3}`);
  expect(toResult(outcome.report)).toEqual({ grade, payableBy, advice });
  for (const [id, words] of Object.entries(says)) {
    expect(resultOf(outcome, id).evidence).toContain(words);
  }
}

describe('an offer that the specification allows:', () => {
  test.each(VALID_CASES)('$name: grade $grade, P3 $p3', (sellerCase) => expectCase(sellerCase));
});
describe('an offer that clients pay, with a risk:', () => {
  test.each(RISKY_CASES)('$name: grade $grade, P3 $p3', (sellerCase) => expectCase(sellerCase));
});
