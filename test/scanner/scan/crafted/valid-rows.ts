/** Sellers do this and the specification allows it, so no grade may fall. */
import type { JsonObject } from '../../../../src/scanner/parse/json/json.ts';
import {
  challengeAnswer,
  challengeOf,
  offerOf,
} from '../../../fixtures/origins/crafted-challenge.ts';
import type { Answering } from '../../../fixtures/origins/crafted-seller.ts';
import { SUMMARY, WEATHER } from '../../../fixtures/sellers/seller-documents.ts';
import {
  editChallenge,
  editDocument,
  NO_CHALLENGE_CELLS,
  NOT_FOUND_ANSWER,
  PAID_BY_DEFAULT,
  type Row,
} from './row.ts';

const FACILITATOR = '0x2222222222222222222222222222222222222222';
const UPTO = {
  ...offerOf(WEATHER),
  scheme: 'upto',
  amount: '50000',
  extra: { name: 'USD Coin', version: '2', facilitatorAddress: FACILITATOR },
};
const SIGN_IN = {
  'sign-in-with-x': { info: { statement: 'Sign in' }, schema: { type: 'object' } },
};

/** The usual challenge without Cache-Control, with another body. */
function uncached(body: string, type: string | null = 'application/json'): Answering {
  return ({ method, path, origin }, usual) => {
    if (usual.status !== 402 && method !== 'POST') return null;
    const challenge = challengeOf(path === SUMMARY.path ? SUMMARY : WEATHER, origin);
    const value = Buffer.from(JSON.stringify(challenge)).toString('base64');
    const headers = { 'payment-required': value, ...(type && { 'content-type': type }) };
    return { status: 402, headers, body };
  };
}

/** Each answer pays to another address, as payment processors do. */
const depositing: Answering = (request, usual) => {
  const digit = (request.number % 9) + 1;
  const payTo = `0x${String(digit).repeat(40)}`;
  return editChallenge(WEATHER, (challenge) => ({
    ...challenge,
    accepts: challenge.accepts.map((offer) => ({ ...offer, payTo })),
  }))(request, usual);
};

const MPP = {
  status: 402,
  headers: { 'www-authenticate': 'Payment id="d41d8cd9", method="tempo", intent="charge"' },
  body: { type: 'about:blank', title: 'Payment Required', status: 402 },
};

const TOOL = {
  info: {
    input: {
      type: 'mcp',
      toolName: 'financial_analysis',
      inputSchema: { type: 'object', properties: { ticker: { type: 'string' } } },
      example: { ticker: 'AAPL' },
    },
    output: { type: 'json', example: { summary: 'Strong fundamentals' } },
  },
  schema: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    required: ['input'],
    properties: {
      input: { type: 'object', required: ['type', 'toolName', 'inputSchema'] },
    },
  },
};

export const VALID_ROWS: readonly Row[] = [
  {
    name: 'a route that asks for a sign-in beside a paid one',
    result: PAID_BY_DEFAULT,
    answers: {
      '/openapi.json': editDocument(({ paths, ...rest }) => ({
        ...rest,
        paths: {
          ...(paths as JsonObject),
          '/profile': { get: { security: [{ siwx: [] }], responses: { 200: {}, 402: {} } } },
        },
      })),
      '/profile': ({ origin }) =>
        challengeAnswer({ ...challengeOf(WEATHER, origin), accepts: [], extensions: SIGN_IN }),
    },
    moved: [],
    says: { P2: '1 ask for a sign-in' },
  },
  {
    name: 'documents here, the API on another origin',
    result: { grade: 'F', payableBy: undefined, advice: [] },
    answers: {
      '/openapi.json': editDocument((document) => ({
        ...document,
        servers: [{ url: 'https://api.other.example' }],
      })),
      '/.well-known/x402': NOT_FOUND_ANSWER,
      '/weather': NOT_FOUND_ANSWER,
      '/summaries': NOT_FOUND_ANSWER,
    },
    moved: [
      'P2 fail none-found',
      ...NO_CHALLENGE_CELLS,
      'S5 pass no-post-resource',
      'S6 fail absent',
    ],
    says: { P2: 'https://api.other.example' },
  },
  {
    name: 'documents here, the API on another origin, and a manifest that says otherwise',
    result: { grade: 'F', payableBy: 'nobody', advice: [] },
    answers: {
      '/openapi.json': editDocument((document) => ({
        ...document,
        servers: [{ url: 'https://api.other.example' }],
      })),
      '/weather': NOT_FOUND_ANSWER,
      '/summaries': NOT_FOUND_ANSWER,
    },
    moved: [
      'P2 fail no-402',
      ...NO_CHALLENGE_CELLS,
      'S5 fail prerequisite-failed',
      'S11 warn some-dead',
    ],
    says: { P2: 'https://api.other.example' },
  },
  {
    name: 'a fresh recipient for each request',
    result: PAID_BY_DEFAULT,
    answers: {
      '/weather': depositing,
      '/.well-known/x402': editDocument(({ payTo: _, ...rest }) => rest),
    },
    moved: ['P7 warn fresh-recipient'],
    says: { P7: 'when asked again' },
  },
  {
    name: 'upto beside exact',
    result: PAID_BY_DEFAULT,
    answers: {
      '/weather': editChallenge(WEATHER, (usual) => ({
        ...usual,
        accepts: [...usual.accepts, UPTO],
      })),
    },
    moved: ['P6 pass ceiling'],
  },
  {
    name: 'bazaar over MCP',
    result: PAID_BY_DEFAULT,
    answers: {
      '/summaries': editChallenge(SUMMARY, (usual) => ({ ...usual, extensions: { bazaar: TOOL } })),
    },
    moved: [],
  },
  {
    name: 'only MPP',
    result: { grade: 'F', payableBy: 'nobody', advice: [] },
    answers: { '/weather': MPP, '/summaries': MPP },
    moved: ['P2 fail other-protocol', ...NO_CHALLENGE_CELLS, 'S5 fail prerequisite-failed'],
    says: { P2: 'the 402 asks over MPP, not over x402' },
  },
];

/** Middlewares of other languages, as they were seen to answer. */
export const STACK_ROWS: readonly Row[] = [
  {
    name: 'Go: no Cache-Control, and null as the body',
    answers: { '/weather': uncached('null'), '/summaries': uncached('null') },
    moved: ['P4 warn cacheable'],
    says: { P4: '2 of 2' },
  },
  {
    name: 'Rust: no Cache-Control, an empty body without a type',
    answers: { '/weather': uncached('', null), '/summaries': uncached('', null) },
    moved: ['P4 warn cacheable'],
  },
  {
    name: 'every method is challenged, on paths that do not exist too',
    answers: {
      '/weather': ({ origin }) => challengeAnswer(challengeOf(WEATHER, origin)),
      '/summaries': ({ origin }) => challengeAnswer(challengeOf(SUMMARY, origin)),
      '*': ({ origin }, usual) =>
        usual.status === 404 ? challengeAnswer(challengeOf(WEATHER, origin)) : null,
    },
    moved: [],
  },
  {
    name: 'a facilitator that is away, of one route',
    answers: { '/weather': { status: 500, body: { error: 'facilitator unavailable' } } },
    moved: ['P2 warn some-missing', 'S11 warn failing'],
    says: { P2: 'GET /weather: 500' },
  },
  {
    name: 'Java: a facilitator that is down, and a challenge in the place of receipts',
    answers: {
      '/weather': ({ origin }) => {
        const challenge = JSON.stringify(challengeOf(WEATHER, origin));
        const headers = { 'payment-response': Buffer.from(challenge).toString('base64') };
        return { status: 500, headers, body: '' };
      },
    },
    moved: ['P2 warn some-missing', 'S11 warn failing'],
    says: { P2: 'GET /weather: 500' },
  },
  {
    name: 'Java: the asset by its symbol, an old network name, a path as resource',
    answers: {
      '/weather': editChallenge(WEATHER, (usual) => ({
        ...usual,
        resource: { ...usual.resource, url: WEATHER.path },
        accepts: [{ ...offerOf(WEATHER), network: 'base-sepolia', asset: 'USDC' }],
      })),
    },
    moved: ['P3 fail bad-field', 'P6 fail malformed-asset'],
    says: { P3: '/accepts/0/network: "base-sepolia"' },
  },
];
