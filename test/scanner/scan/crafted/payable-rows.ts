/** Offers that the official client refuses, and good offers beside a bad one, which it pays. */
import type { AdviceId } from '../../../../src/scanner/model/report.ts';
import { offerOf } from '../../../fixtures/origins/crafted-challenge.ts';
import type { Answering } from '../../../fixtures/origins/crafted-seller.ts';
import { WEATHER } from '../../../fixtures/sellers/seller-documents.ts';
import { editChallenge, editOffer, PAID_BY_DEFAULT, type Row, type RowResult } from './row.ts';

const DOMAIN = { name: 'USD Coin', version: '2' };
const SOLANA = {
  network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
  asset: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  payTo: '9aE476sH92Vz7DMPyq5WLPkrKWivxeuTKEFKd2sZZcde',
};
const STELLAR = {
  network: 'stellar:pubnet',
  asset: 'CCW67TSZV3SSS2HXMBQ5JFGCKJNXKZM7UQUWUZPUTHXSTZLEO7SJMI75',
  payTo: 'GBHEGW3KWOY2OFH767EDALFGCUTBOEVBDQMCKU4APMDLQNBW5QV3W3KO',
  extra: { areFeesSponsored: true },
};
const SEPOLIA_USDC = '0x036CbD53842c5426634e7929541eC2318f3dCF7e';
const LONG_ALGORAND = {
  network: 'algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73ktiC1qzkkit8=',
  asset: '31566704',
  payTo: 'RESOURCESERVERADDRESSAAAAAAAAAAAAAAAAAAAAAAAAAAAAAALTSRPAE',
  extra: {},
};

const PAID_BY_NOBODY: RowResult = { grade: 'F', payableBy: 'nobody', advice: [] };

function createRefusedRow(
  name: string,
  change: Readonly<Record<string, unknown>>,
  outcome: string,
  words: string,
  { further = [], advice = [] }: { further?: readonly string[]; advice?: readonly AdviceId[] } = {},
): Row {
  const answers = { '/weather': editOffer(WEATHER, change) };
  const moved = [`P3 fail ${outcome}`, ...further];
  return { name, answers, moved, says: { P3: words }, result: { ...PAID_BY_NOBODY, advice } };
}

/** P6's outcome for a scheme whose amount is the most that the seller may take. */
const CEILING = ['P6 pass ceiling'];

/** Answers with the usual challenge, with other offers before and after its good offer. */
function surroundOffer(before: readonly unknown[], after: readonly unknown[]): Answering {
  return editChallenge(WEATHER, (challenge) => ({
    ...challenge,
    accepts: [...before, ...challenge.accepts, ...after],
  }));
}

export const PAYABLE_ROWS: readonly Row[] = [
  createRefusedRow(
    'upto without its facilitator',
    { scheme: 'upto' },
    'missing-member',
    'upto scheme',
    {
      further: CEILING,
      advice: ['needs-allowance'],
    },
  ),
  createRefusedRow(
    'batch-settlement without its authorizer',
    { scheme: 'batch-settlement' },
    'missing-member',
    'non-zero extra.receiverAuthorizer',
    { further: CEILING },
  ),
  createRefusedRow(
    'auth-capture without its authorizer',
    { scheme: 'auth-capture' },
    'missing-member',
    "'captureAuthorizer' is required",
    { further: CEILING },
  ),
  createRefusedRow(
    'a payment flow that no client knows',
    { extra: { ...DOMAIN, paymentFlow: 'lottery' } },
    'bad-field',
    'recognized paymentFlow',
  ),
  createRefusedRow(
    'Solana without a fee payer',
    { ...SOLANA, extra: {} },
    'missing-member',
    'feePayer is required',
  ),
  createRefusedRow(
    'a chain by its name',
    { network: 'eip155:base-mainnet' },
    'bad-field',
    'Invalid CAIP-2 chain ID',
  ),
  createRefusedRow(
    'a Solana network by its name, and a junk recipient',
    { ...SOLANA, network: 'solana:mainnet', payTo: 'junk' },
    'bad-field',
    'the official client says',
  ),
  {
    name: 'USDC of Sepolia on Base',
    answers: { '/weather': editOffer(WEATHER, { asset: SEPOLIA_USDC }) },
    moved: ['P3 fail wrong-chain'],
    says: { P3: 'eip155:84532' },
    result: PAID_BY_NOBODY,
  },
  {
    name: 'only ERC-7710',
    answers: { '/weather': editOffer(WEATHER, { extra: { assetTransferMethod: 'erc7710' } }) },
    moved: ['P3 warn client-refuses'],
    says: { P3: 'scheme_exact_evm.md' },
    result: { grade: 'B', payableBy: 'unknown', advice: [] },
  },
  {
    name: 'a transfer method that nobody knows',
    answers: {
      '/weather': editOffer(WEATHER, { extra: { ...DOMAIN, assetTransferMethod: 'barter' } }),
    },
    moved: ['P3 warn client-refuses'],
    says: { P3: '"barter" is unknown to this catalog' },
  },
  {
    name: 'one second to pay in',
    answers: { '/weather': editOffer(WEATHER, { maxTimeoutSeconds: 1 }) },
    moved: ['P3 warn timeout'],
    result: { ...PAID_BY_DEFAULT, grade: 'B' },
  },
  {
    name: 'another host in resource.url',
    answers: {
      '/weather': editChallenge(WEATHER, (usual) => ({
        ...usual,
        resource: { ...usual.resource, url: 'https://shop.example/weather' },
      })),
    },
    moved: ['P3 warn other-host'],
    result: { ...PAID_BY_DEFAULT, grade: 'B' },
  },
  {
    name: 'a long id of Algorand behind a good offer',
    answers: { '/weather': surroundOffer([], [{ ...offerOf(WEATHER), ...LONG_ALGORAND }]) },
    moved: [],
    says: { P3: 'outdated-network' },
    result: PAID_BY_DEFAULT,
  },
  {
    name: 'an offer that no client can sign before a good one',
    answers: { '/weather': surroundOffer([{ ...offerOf(WEATHER), extra: {} }], []) },
    moved: ['P3 warn unsound-offer'],
    says: { P3: 'EIP-712 domain parameters' },
  },
  {
    name: 'amount 0 in front of a good offer: clients sign it, and the seller earns nothing',
    answers: { '/weather': surroundOffer([{ ...offerOf(WEATHER), amount: '0' }], []) },
    moved: ['P3 warn unsound-offer'],
    says: { P3: '/accepts/0/amount: "0"' },
  },
  {
    name: 'another domain than the token has, in front of a good offer',
    answers: {
      '/weather': surroundOffer(
        [{ ...offerOf(WEATHER), extra: { name: 'USDC', version: '2' } }],
        [],
      ),
    },
    moved: ['P3 warn unsound-offer'],
  },
  {
    name: 'another domain than the token has, behind a good offer',
    answers: {
      '/weather': surroundOffer(
        [],
        [{ ...offerOf(WEATHER), extra: { name: 'USDC', version: '2' } }],
      ),
    },
    moved: [],
    says: { P3: '(wrong-domain)' },
  },
  {
    name: 'a network without a client here beside a good offer',
    answers: { '/weather': surroundOffer([{ ...offerOf(WEATHER), ...STELLAR }], []) },
    moved: [],
    says: { P3: '"exact" on "stellar:pubnet" is judged by' },
  },
  {
    name: 'an amount that is a number, behind a good offer',
    answers: { '/weather': surroundOffer([], [{ ...offerOf(WEATHER), amount: 10_000 }]) },
    moved: ['P3 warn clients-differ'],
    says: { P3: '/accepts/1/amount: 10000' },
  },
  {
    name: 'an extra that is null, which no client reads',
    answers: { '/weather': editOffer(WEATHER, { extra: null }) },
    moved: ['P3 fail no-domain'],
  },
  {
    name: 'null behind a good offer',
    answers: { '/weather': surroundOffer([], [null]) },
    moved: ['P3 warn unsound-offer'],
    says: { P3: 'Cannot read properties of null' },
  },
];
