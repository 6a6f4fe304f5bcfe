/** Faults of how paid resources answer: methods, prices that move, validation before payment. */
import {
  challengeAnswer,
  challengeOf,
  offerOf,
} from '../../../fixtures/origins/crafted-challenge.ts';
import { SUMMARY, WEATHER } from '../../../fixtures/sellers/seller-documents.ts';
import {
  editDocument,
  editOffer,
  json,
  NO_CHALLENGE_CELLS,
  NOT_FOUND_ANSWER,
  type Row,
  UNSEEN_CELLS,
} from './row.ts';

const HEALTH = { get: { security: [], responses: { 200: { description: 'Well' } } } };
const OTHER_PAYEE = '0x3333333333333333333333333333333333333333';
/** EIP-55, of an account that no test holds a key of. */
const MIXED_CASE = '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359';
const FAILING = { status: 500, body: { error: 'facilitator away' } };
const INVALID = { status: 400, body: { error: 'text is required' } };

/** The n-th GET asks for n cents. */
const rising = ({ method, number, origin }: { method: string; number: number; origin: string }) => {
  const challenge = challengeOf(WEATHER, origin);
  const amount = String((method === 'GET' ? number : 1) * 10_000);
  return challengeAnswer({ ...challenge, accepts: [{ ...offerOf(WEATHER), amount }] });
};

const onlySummaries = {
  '/weather': NOT_FOUND_ANSWER,
  '/openapi.json': editDocument(({ paths, ...rest }) => {
    const { '/weather': _, ...others } = { ...(paths as object) } as Record<string, unknown>;
    return { ...rest, paths: others };
  }),
  '/.well-known/x402': editDocument(() => ({ resources: ['/summaries'] })),
};

export const BEHAVIOUR_ROWS: readonly Row[] = [
  {
    name: 'HEAD that runs the paid handler',
    answers: { 'HEAD /weather': { status: 200 } },
    moved: ['P5 fail head-served'],
    says: { P5: 'HEAD /weather: 200' },
  },
  {
    name: 'HEAD that is served on a POST resource',
    answers: { 'HEAD /summaries': { status: 200 } },
    moved: ['P5 warn head-served-on-post'],
  },
  {
    name: 'HEAD that breaks',
    answers: { 'HEAD /weather': { status: 500 } },
    moved: ['P5 warn head-odd'],
  },
  {
    name: 'HEAD and GET that a POST resource answers with 404',
    answers: { 'HEAD /summaries': { status: 404 }, 'GET /summaries': NOT_FOUND_ANSWER },
    moved: [],
  },
  {
    name: 'a receipt without a payment',
    answers: {
      'GET /weather': (_, usual) => ({
        ...usual,
        headers: { ...usual.headers, 'X-Payment-Response': 'e30=' },
      }),
    },
    moved: ['P5 fail settled-unpaid'],
  },
  {
    name: 'a receipt with an unpaid document',
    answers: {
      '/llms.txt': (_, usual) => ({
        ...usual,
        headers: { ...usual.headers, 'PAYMENT-RESPONSE': 'eyJzdWNjZXNzIjp0cnVlfQ==' },
      }),
    },
    moved: ['P5 fail settled-unpaid'],
    says: { P5: 'GET /llms.txt: 200 with PAYMENT-RESPONSE' },
  },
  {
    name: 'another price than OpenAPI declares',
    answers: { '/weather': editOffer(WEATHER, { amount: '50000' }) },
    moved: ['P6 fail mismatch'],
    says: { P6: '50000' },
  },
  {
    name: 'another price than the manifest states',
    answers: {
      '/.well-known/x402': editDocument(() => ({
        resources: [{ resource: '/weather', price: '$0.05' }, { resource: '/summaries' }],
      })),
    },
    moved: ['P6 fail mismatch', 'S6 warn price-differs'],
  },
  {
    name: 'a price that differs from one request to the next',
    answers: { '/weather': rising },
    moved: ['P6 fail probes-differ'],
  },
  {
    name: 'a price that moves within its declared range',
    answers: { '/weather': rising, '/openapi.json': pricing({ min: '0.01', max: '0.02' }) },
    moved: [],
  },
  {
    name: 'a price that leaves its declared range',
    answers: { '/weather': rising, '/openapi.json': pricing({ min: '0.01', max: '0.015' }) },
    moved: ['P6 warn out-of-range'],
  },
  {
    name: 'another recipient in the manifest',
    answers: {
      '/.well-known/x402': editDocument((manifest) => ({ ...manifest, payTo: OTHER_PAYEE })),
    },
    moved: ['P7 fail manifest-differs', 'S6 warn recipient-differs'],
  },
  {
    name: 'the same recipient in the manifest, in other letters',
    answers: {
      '/weather': editOffer(WEATHER, { payTo: MIXED_CASE }),
      '/summaries': editOffer(SUMMARY, { payTo: MIXED_CASE.toLowerCase() }),
      '/.well-known/x402': editDocument((manifest) => ({
        ...manifest,
        payTo: MIXED_CASE.toLowerCase(),
      })),
    },
    moved: [],
  },
  {
    name: 'validation before payment on POST',
    answers: { 'POST /summaries': INVALID },
    moved: ['P2 warn validates-first', 'S5 warn unseen'],
    says: { P2: 'POST /summaries: 400' },
  },
  {
    name: 'validation before payment, and nothing else for sale',
    answers: { ...onlySummaries, 'POST /summaries': INVALID },
    moved: ['P2 warn validates-only', ...UNSEEN_CELLS, 'S5 warn unseen'],
  },
  {
    name: '500 on every paid route',
    answers: { '/weather': FAILING, '/summaries': FAILING },
    moved: [
      'P2 fail no-402',
      ...NO_CHALLENGE_CELLS,
      'S5 fail prerequisite-failed',
      'S11 warn failing',
    ],
    says: { P2: 'GET /weather: 500' },
  },
  {
    name: 'a GET that documents sell over x402, and that asks only over another protocol',
    answers: {
      '/weather': { status: 402, headers: { 'www-authenticate': 'Payment id="1"' }, body: '' },
    },
    moved: ['P2 warn some-missing'],
    says: { P2: '1 of 2 paid resources asked for payment; GET /weather: 402 (MPP)' },
  },
  {
    name: 'a paid GET that is served for free',
    answers: { '/weather': json({ sky: 'clear' }) },
    moved: ['P2 warn some-missing'],
    says: { P2: '1 of 2 paid resources asked for payment' },
  },
  {
    name: 'a declared GET that challenges only POST',
    answers: {
      'GET /weather': { status: 405 },
      'HEAD /weather': { status: 405 },
      'POST /weather': ({ origin }) => challengeAnswer(challengeOf(WEATHER, origin)),
    },
    moved: ['P2 warn some-missing'],
  },
  {
    name: 'a paid GET behind a redirect of its own host',
    answers: {
      '/weather': { status: 308, headers: { location: '/weather/' } },
      '/weather/': ({ origin }) => challengeAnswer(challengeOf(WEATHER, origin)),
    },
    moved: [],
  },
  {
    name: 'a POST resource only in the manifest, with 404 to all else',
    answers: {
      ...onlySummaries,
      '/openapi.json': editDocument(({ paths: _, ...rest }) => ({
        ...rest,
        paths: { '/health': HEALTH },
      })),
      'GET /summaries': NOT_FOUND_ANSWER,
      'HEAD /summaries': { status: 404 },
    },
    moved: ['P6 warn undeclared', 'S4 fail nothing-declared'],
    says: { P2: '1 of 1 paid resources asked for payment' },
  },
  {
    name: 'paid resources that only llms.txt links to',
    answers: {
      '/openapi.json': editDocument(({ paths: _, ...rest }) => ({
        ...rest,
        paths: { '/health': HEALTH },
      })),
      '/.well-known/x402': NOT_FOUND_ANSWER,
      '/llms.txt': (_, usual) => ({ ...usual, body: `${usual.body}- [Weather](/weather): paid\n` }),
    },
    moved: [
      'P6 warn undeclared',
      'S4 fail nothing-declared',
      'S5 pass no-post-resource',
      'S6 fail absent',
    ],
  },
  {
    name: 'a document whose security holds for all it lists, and that says nothing of a price',
    answers: {
      '/openapi.json': editDocument(({ paths: _, ...rest }) => ({
        ...rest,
        security: [{ x402: [] }],
        paths: { '/weather': { get: { responses: { 200: { description: 'The sky' } } } } },
      })),
      '/.well-known/x402': NOT_FOUND_ANSWER,
    },
    moved: [
      'P6 warn undeclared',
      'S3 pass no-free-operations',
      'S4 fail nothing-declared',
      'S5 pass no-post-resource',
      'S6 fail absent',
    ],
    says: { P2: '1 of 1 paid resources asked for payment' },
  },
  {
    name: 'a paid document that only llms.txt links to',
    answers: {
      '/openapi.json': editDocument(({ paths: _, ...rest }) => ({
        ...rest,
        paths: { '/health': HEALTH },
      })),
      '/.well-known/x402': NOT_FOUND_ANSWER,
      '/llms.txt': (_, usual) => ({ ...usual, body: `${usual.body}- [All](/all.json): paid\n` }),
      '/all.json': ({ origin }) => {
        const challenge = challengeOf(WEATHER, origin);
        const resource = { ...challenge.resource, url: `${origin}/all.json` };
        return challengeAnswer({ ...challenge, resource });
      },
    },
    moved: [
      'P6 warn undeclared',
      'S4 fail nothing-declared',
      'S5 pass no-post-resource',
      'S6 fail absent',
    ],
    says: { P2: '1 of 1 paid resources asked for payment' },
  },
  {
    name: 'bazaar without an input example',
    answers: {
      'POST /summaries': ({ origin }) => {
        const challenge = challengeOf(SUMMARY, origin);
        const bazaar = { info: { input: { type: 'http', method: 'POST', bodyType: 'json' } } };
        return challengeAnswer({ ...challenge, extensions: { bazaar } });
      },
    },
    moved: ['S5 fail bad-input'],
  },
  {
    name: 'no bazaar extension',
    answers: {
      'POST /summaries': ({ origin }) =>
        challengeAnswer({ ...challengeOf(SUMMARY, origin), extensions: {} }),
    },
    moved: ['S5 fail absent'],
  },
];

function pricing(range: { min: string; max: string }) {
  return editDocument((document) => {
    const text = JSON.stringify(document);
    const dynamic = JSON.stringify({ mode: 'dynamic', currency: 'USD', ...range });
    return text.replace('{"mode":"fixed","currency":"USD","amount":"0.01"}', dynamic);
  });
}
