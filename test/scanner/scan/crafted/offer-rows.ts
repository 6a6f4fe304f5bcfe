/** Faults of what a challenge says: amounts, addresses, domains, descriptions. */
import { offerOf, USDC } from '../../../fixtures/origins/crafted-challenge.ts';
import type { Answering } from '../../../fixtures/origins/crafted-seller.ts';
import { WEATHER } from '../../../fixtures/sellers/seller-documents.ts';
import { editChallenge, editOffer, type Row } from './row.ts';

const OTHER_PAYEE = '0x3333333333333333333333333333333333333333';
const WORDS = { description: WEATHER.about };
const SOLANA = {
  ...offerOf(WEATHER),
  network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
  asset: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  payTo: '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM',
  extra: { feePayer: '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM' },
};

export const OFFER_ROWS: readonly Row[] = [
  {
    name: 'the wrong EIP-712 name',
    answers: { '/weather': editOffer(WEATHER, { extra: { name: 'USDC', version: '2' } }) },
    moved: ['P3 fail wrong-domain'],
    says: { P3: 'GET /weather /accepts/0/extra/name: "USDC"' },
  },
  {
    name: 'no EIP-712 domain',
    answers: { '/weather': editOffer(WEATHER, { extra: {} }) },
    moved: ['P3 fail no-domain'],
  },
  {
    name: 'no EIP-712 domain of a token that nobody knows',
    answers: { '/weather': editOffer(WEATHER, { asset: OTHER_PAYEE, extra: {} }) },
    moved: ['P3 fail no-domain', 'P6 warn unknown-decimals'],
  },
  {
    name: 'an error that is not text',
    answers: { '/weather': editChallenge(WEATHER, (usual) => ({ ...usual, error: 402 })) },
    moved: ['P3 warn clients-differ'],
    says: { P3: '/error: 402' },
  },
  {
    name: 'an amount in dollars',
    answers: { '/weather': editOffer(WEATHER, { amount: '$0.05' }) },
    moved: ['P3 fail bad-field', 'P6 fail malformed-amount'],
    says: { P3: '"$0.05"', P6: '"$0.05"' },
  },
  {
    name: 'the asset by its symbol',
    answers: { '/weather': editOffer(WEATHER, { asset: 'USDC' }) },
    moved: ['P3 fail bad-field', 'P6 fail malformed-asset'],
  },
  {
    name: 'names of version 1 in a version 2 challenge',
    answers: {
      '/weather': editOffer(WEATHER, { amount: undefined, maxAmountRequired: '10000' }),
    },
    moved: ['P3 fail v1-names', 'P6 fail malformed-amount'],
  },
  {
    name: 'a scheme that nobody knows beside a good offer',
    answers: {
      '/weather': editChallenge(WEATHER, (usual) => ({
        ...usual,
        accepts: [...usual.accepts, { ...offerOf(WEATHER), scheme: 'barter' }],
      })),
    },
    moved: [],
    says: { P3: 'unknown to this catalog' },
  },
  {
    name: 'a relative resource.url',
    answers: {
      '/weather': editChallenge(WEATHER, (usual) => ({
        ...usual,
        resource: { ...usual.resource, url: '/weather' },
      })),
    },
    moved: ['P3 warn relative-url'],
  },
  ...['weather', './weather', '?city=Lisbon'].map((url) => ({
    name: `a resource.url of "${url}"`,
    answers: { '/weather': addressed(url) },
    moved: ['P3 warn relative-url'],
  })),
  {
    name: 'a resource.url of another host, without a scheme',
    answers: { '/weather': addressed('//shop.example/weather') },
    moved: ['P3 warn other-host'],
  },
  {
    name: 'a resource.url that is a sentence',
    answers: { '/weather': addressed('the weather of a city') },
    moved: ['P3 fail bad-resource-url'],
  },
  {
    name: 'no resource.url',
    answers: { '/weather': editChallenge(WEATHER, (usual) => ({ ...usual, resource: WORDS })) },
    moved: ['P3 fail bad-resource-url'],
  },
  {
    name: 'a network by its name of version 1',
    answers: { '/weather': editOffer(WEATHER, { network: 'base' }) },
    moved: ['P3 fail bad-field'],
    says: { P3: '/accepts/0/network' },
  },
  {
    name: 'a timeout that is not a whole number',
    answers: { '/weather': editOffer(WEATHER, { maxTimeoutSeconds: '60' }) },
    moved: ['P3 fail bad-field'],
  },
  {
    name: 'an amount that is a number',
    answers: { '/weather': editOffer(WEATHER, { amount: 10_000 }) },
    moved: ['P3 fail bad-field', 'P6 fail malformed-amount'],
  },
  {
    name: 'an offer on Solana beside the one on Base',
    answers: {
      '/weather': editChallenge(WEATHER, (usual) => ({
        ...usual,
        accepts: [...usual.accepts, SOLANA],
      })),
    },
    moved: [],
    says: { P7: '"solana ' },
  },
  {
    name: 'a token that nobody knows',
    answers: { '/weather': editOffer(WEATHER, { asset: OTHER_PAYEE }) },
    moved: ['P3 warn unusual-asset', 'P6 warn unknown-decimals'],
  },
  {
    name: 'a recipient with a wrong checksum',
    answers: {
      '/weather': editOffer(WEATHER, { payTo: '0xFB6916095ca1df60bB79Ce92cE3Ea74c37c5d359' }),
    },
    moved: ['P7 fail bad-checksum'],
  },
  {
    name: 'a zero recipient',
    answers: { '/weather': editOffer(WEATHER, { payTo: `0x${'0'.repeat(40)}` }) },
    moved: ['P3 fail bad-recipient', 'P7 fail zero-address'],
  },
  {
    name: 'the token as the recipient',
    answers: { '/weather': editOffer(WEATHER, { payTo: USDC }) },
    moved: ['P3 fail bad-recipient', 'P7 fail asset-as-recipient'],
  },
  {
    name: 'a recipient a resource',
    answers: { '/weather': editOffer(WEATHER, { payTo: OTHER_PAYEE }) },
    moved: ['P7 warn several-recipients'],
  },
  {
    name: 'a description of 501 characters',
    answers: { '/weather': describing('x'.repeat(501)) },
    moved: ['P8 fail too-long'],
    says: { P8: '501' },
  },
  {
    name: 'a description of 500 characters, two code units each',
    answers: { '/weather': describing('🌦'.repeat(500)) },
    moved: [],
  },
  {
    name: 'no description',
    answers: { '/weather': describing('') },
    moved: ['P8 warn missing'],
  },
];

function addressed(url: string): Answering {
  return editChallenge(WEATHER, (usual) => ({ ...usual, resource: { ...usual.resource, url } }));
}

function describing(description: string): Answering {
  return editChallenge(WEATHER, (usual) => ({
    ...usual,
    resource: { ...usual.resource, description },
  }));
}
