/** Faults of the challenge itself. */
import {
  bodyAnswer,
  challengeAnswer,
  challengeOf,
  headerAnswer,
  offerOf,
  type Sold,
  USDC,
  versionOne,
} from '../../origins/crafted-challenge.ts';
import type { Answering, CraftedAnswer } from '../../origins/crafted-seller.ts';
import { SUMMARY, WEATHER } from '../../sellers/seller-documents.ts';
import { challenging, NO_CHALLENGE, offering, type Row } from './row.ts';

const OTHER_PAYEE = '0x3333333333333333333333333333333333333333';

/** Both resources, each with an answer made of its challenge. */
function both(answer: (challenge: object, sold: Sold, origin: string) => CraftedAnswer) {
  const of =
    (sold: Sold): Answering =>
    ({ origin }, usual) =>
      usual.status === 402 ? answer(challengeOf(sold, origin), sold, origin) : usual;
  return { [WEATHER.path]: of(WEATHER), [SUMMARY.path]: of(SUMMARY) };
}

/** With "_" among its characters, wherever it falls: no strict reader takes it. */
function base64url(challenge: object): string {
  return Buffer.from(JSON.stringify({ ...challenge, error: '?????' })).toString('base64url');
}

const WORDS = { description: WEATHER.about };
const SOLANA = {
  ...offerOf(WEATHER),
  network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
  asset: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  payTo: '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM',
  extra: { feePayer: '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM' },
};

export const CHALLENGE_ROWS: readonly Row[] = [
  {
    name: 'a version 2 challenge in the body alone',
    answers: both(bodyAnswer),
    moved: ['P4 fail missing', 'S5 warn body-only'],
  },
  {
    name: 'a base64url header beside a good body',
    answers: both((challenge) => headerAnswer(base64url(challenge), challenge)),
    moved: ['P4 fail base64url', 'S5 warn body-only'],
  },
  {
    name: 'a base64url header and an empty body',
    answers: both((challenge) => headerAnswer(base64url(challenge))),
    moved: ['P2 fail undecodable', ...NO_CHALLENGE, 'S5 fail prerequisite-failed'],
  },
  {
    name: 'raw JSON in the header',
    answers: both((challenge) => headerAnswer(JSON.stringify(challenge), challenge)),
    moved: ['P4 fail raw-json', 'S5 warn body-only'],
  },
  {
    name: 'one resource right, one without the header',
    answers: {
      [WEATHER.path]: ({ origin }, usual) =>
        usual.status === 402 ? bodyAnswer(challengeOf(WEATHER, origin)) : usual,
    },
    moved: ['P4 fail missing'],
    says: { P4: '1 of 2: GET /weather' },
  },
  {
    name: 'version 1 alone',
    answers: both((_, sold, origin) => bodyAnswer(versionOne(sold, origin))),
    moved: ['P2 warn v1-only', 'P3 warn version-1', 'P4 fail v1-only', 'S5 fail absent'],
  },
  {
    name: 'the same terms by version 1 in the body',
    answers: both((challenge, sold, origin) =>
      headerAnswer(
        Buffer.from(JSON.stringify(challenge)).toString('base64'),
        versionOne(sold, origin),
      ),
    ),
    moved: [],
  },
  {
    name: 'another amount in the body',
    answers: {
      'GET /weather': ({ origin }) => {
        const challenge = challengeOf(WEATHER, origin);
        const cheap = { ...offerOf(WEATHER), amount: '1' };
        return { ...challengeAnswer(challenge), body: { ...challenge, accepts: [cheap] } };
      },
    },
    moved: ['P4 fail terms-differ'],
  },
  {
    name: 'another recipient in the body',
    answers: {
      'GET /weather': ({ origin }) => {
        const challenge = challengeOf(WEATHER, origin);
        const other = { ...offerOf(WEATHER), payTo: OTHER_PAYEE };
        return { ...challengeAnswer(challenge), body: { ...challenge, accepts: [other] } };
      },
    },
    moved: ['P4 fail terms-differ', 'P7 fail body-differs'],
  },
  {
    name: 'a challenge that caches may keep',
    answers: {
      'GET /weather': (_, usual) => ({
        ...usual,
        headers: { ...usual.headers, 'cache-control': 'public, max-age=60' },
      }),
    },
    moved: ['P4 warn cacheable'],
  },
  {
    name: 'a header of more than 8,192 characters',
    answers: {
      '/weather': challenging(WEATHER, (usual) => ({ ...usual, padding: 'x'.repeat(7_000) })),
    },
    moved: ['P4 warn too-long'],
  },
  {
    name: 'the wrong EIP-712 name',
    answers: { '/weather': offering(WEATHER, { extra: { name: 'USDC', version: '2' } }) },
    moved: ['P3 fail wrong-domain'],
    says: { P3: 'GET /weather /accepts/0/extra/name: "USDC"' },
  },
  {
    name: 'no EIP-712 domain',
    answers: { '/weather': offering(WEATHER, { extra: {} }) },
    moved: ['P3 fail no-domain'],
  },
  {
    name: 'an amount in dollars',
    answers: { '/weather': offering(WEATHER, { amount: '$0.05' }) },
    moved: ['P3 fail bad-field', 'P6 fail malformed-amount'],
    says: { P3: '"$0.05"', P6: '"$0.05"' },
  },
  {
    name: 'the asset by its symbol',
    answers: { '/weather': offering(WEATHER, { asset: 'USDC' }) },
    moved: ['P3 fail bad-field', 'P6 fail malformed-asset'],
  },
  {
    name: 'names of version 1 in a version 2 challenge',
    answers: {
      '/weather': offering(WEATHER, { amount: undefined, maxAmountRequired: '10000' }),
    },
    moved: ['P3 fail v1-names', 'P6 fail malformed-amount'],
  },
  {
    name: 'a scheme that nobody knows beside a good offer',
    answers: {
      '/weather': challenging(WEATHER, (usual) => ({
        ...usual,
        accepts: [...usual.accepts, { ...offerOf(WEATHER), scheme: 'barter' }],
      })),
    },
    moved: ['P3 warn unknown-scheme'],
  },
  {
    name: 'a relative resource.url',
    answers: {
      '/weather': challenging(WEATHER, (usual) => ({
        ...usual,
        resource: { ...usual.resource, url: '/weather' },
      })),
    },
    moved: ['P3 warn relative-url'],
  },
  {
    name: 'no resource.url',
    answers: { '/weather': challenging(WEATHER, (usual) => ({ ...usual, resource: WORDS })) },
    moved: ['P3 fail bad-resource-url'],
  },
  {
    name: 'a network by its name of version 1',
    answers: { '/weather': offering(WEATHER, { network: 'base' }) },
    moved: ['P3 fail bad-field'],
    says: { P3: '/accepts/0/network' },
  },
  {
    name: 'a timeout that is no whole number',
    answers: { '/weather': offering(WEATHER, { maxTimeoutSeconds: '60' }) },
    moved: ['P3 fail bad-field'],
  },
  {
    name: 'an amount that is a number',
    answers: { '/weather': offering(WEATHER, { amount: 10_000 }) },
    moved: ['P3 fail bad-field', 'P6 fail malformed-amount'],
  },
  {
    name: 'an offer on Solana beside the one on Base',
    answers: {
      '/weather': challenging(WEATHER, (usual) => ({
        ...usual,
        accepts: [...usual.accepts, SOLANA],
      })),
    },
    moved: [],
    says: { P7: '"solana ' },
  },
  {
    name: 'a token that nobody knows',
    answers: { '/weather': offering(WEATHER, { asset: OTHER_PAYEE }) },
    moved: ['P6 warn unknown-decimals'],
  },
  {
    name: 'headers in capitals, in another order, with a fresh WWW-Authenticate and two types',
    answers: {
      'GET /weather': ({ number }, usual) => ({
        ...usual,
        headers: {
          'WWW-Authenticate': `Payment id="${number}"`,
          'Content-Type': ['application/json', 'application/json; charset=utf-8'],
          'PAYMENT-REQUIRED': usual.headers?.['payment-required'] ?? '',
          'Cache-Control': 'private',
        },
      }),
    },
    moved: [],
  },
  {
    name: 'a recipient with a wrong checksum',
    answers: {
      '/weather': offering(WEATHER, { payTo: '0xFB6916095ca1df60bB79Ce92cE3Ea74c37c5d359' }),
    },
    moved: ['P7 fail bad-checksum'],
  },
  {
    name: 'a recipient that is nobody',
    answers: { '/weather': offering(WEATHER, { payTo: `0x${'0'.repeat(40)}` }) },
    moved: ['P7 fail zero-address'],
  },
  {
    name: 'the token as the recipient',
    answers: { '/weather': offering(WEATHER, { payTo: USDC }) },
    moved: ['P7 fail asset-as-recipient'],
  },
  {
    name: 'a recipient a resource',
    answers: { '/weather': offering(WEATHER, { payTo: OTHER_PAYEE }) },
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

function describing(description: string): Answering {
  return challenging(WEATHER, (usual) => ({
    ...usual,
    resource: { ...usual.resource, description },
  }));
}
