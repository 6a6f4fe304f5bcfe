/** GET and POST on one path are two resources; sign-ins and other origins sell nothing here. */
import type { JsonObject } from '../../../../src/scanner/parse/json/json.ts';
import {
  challengeAnswer,
  challengeOf,
  headerAnswer,
  offerOf,
  type Sold,
} from '../../../fixtures/origins/crafted-challenge.ts';
import type { Answering } from '../../../fixtures/origins/crafted-seller.ts';
import { SUMMARY, WEATHER } from '../../../fixtures/sellers/seller-documents.ts';
import { editDocument, NO_CHALLENGE_CELLS, type Row } from './row.ts';

const POSTED_PRICE = '0.02';
/** A name of version 1: no client knows it in version 2. */
const UNPAYABLE = { network: 'base' };
const HEALTH = { get: { security: [], responses: { 200: { description: 'Well' } } } };

/** The usual document with POST /weather at two cents beside GET /weather at one. */
const BOTH_METHODS = editDocument(({ paths, ...rest }) => {
  const usual = paths as Record<string, JsonObject>;
  const post = { ...(usual[SUMMARY.path]?.['post'] as JsonObject), operationId: 'post-weather' };
  const weather = { ...usual[WEATHER.path], post };
  return { ...rest, paths: { ...usual, [WEATHER.path]: weather } };
});

/** The challenge to POST /weather, with its offer changed. */
function posted(edit: object): Answering {
  return ({ origin }) => {
    const challenge = challengeOf(SUMMARY, origin);
    const resource = { ...challenge.resource, url: `${origin}${WEATHER.path}` };
    const accepts = [{ ...offerOf({ price: POSTED_PRICE }), ...edit }];
    return challengeAnswer({ ...challenge, resource, accepts });
  };
}

const profile = (security: object) =>
  editDocument(({ paths, ...rest }) => ({
    ...rest,
    paths: {
      ...(paths as JsonObject),
      '/profile': { get: { security: [security], responses: { 200: {}, 402: {} } } },
    },
  }));

const SIGN_IN = headerAnswer(
  Buffer.from(
    JSON.stringify({
      x402Version: 2,
      resource: { url: '/profile' },
      accepts: [],
      extensions: { 'sign-in-with-x': { info: {}, schema: {} } },
    }),
  ).toString('base64'),
);

/** Documents that name a path and no method of it. */
const METHODLESS = {
  '/openapi.json': editDocument((document) => ({ ...document, paths: { '/health': HEALTH } })),
  '/.well-known/x402': { status: 200, body: { resources: ['/both'] } },
};
/** Findings for a seller that declares no price. */
const UNDECLARED = ['P6 warn undeclared', 'S4 fail nothing-declared'];

/** The challenge to any method of /both, at a price of its own. */
function both(price: Sold['price'], edit: object = {}): Answering {
  return ({ origin }) => {
    const { extensions: _, ...challenge } = challengeOf(SUMMARY, origin);
    const resource = { ...challenge.resource, url: `${origin}/both` };
    return challengeAnswer({
      ...challenge,
      resource,
      accepts: [{ ...offerOf({ price }), ...edit }],
    });
  };
}

export const METHODLESS_ROWS: readonly Row[] = [
  {
    name: 'two methods of a path at two prices',
    answers: { ...METHODLESS, 'POST /both': both('0.02'), '/both': both('0.01') },
    moved: [...UNDECLARED, 'S5 fail absent'],
    says: { P3: '2 of 2 resources' },
  },
  {
    name: 'a POST that nobody can pay behind a good GET',
    answers: { ...METHODLESS, 'POST /both': both('0.02', UNPAYABLE), '/both': both('0.01') },
    moved: ['P3 fail bad-field', ...UNDECLARED, 'S5 fail absent'],
    says: { P3: '1 of 2: POST /both' },
  },
  {
    name: 'two prices, and a manifest that states the one of GET',
    answers: {
      ...METHODLESS,
      '/.well-known/x402': {
        status: 200,
        body: { resources: [{ resource: '/both', price: '$0.01' }] },
      },
      'POST /both': both('0.02'),
      '/both': both('0.01'),
    },
    moved: [...UNDECLARED, 'S5 fail absent'],
    says: { P6: '1 of 2: POST /both' },
  },
  {
    name: 'every method at the same terms, which count once',
    answers: { ...METHODLESS, '/both': both('0.01') },
    moved: [...UNDECLARED, 'S5 pass no-post-resource'],
    says: { P3: '1 of 1 resources' },
  },
  {
    name: 'a free POST beside a paid GET, which is not asked',
    answers: {
      ...METHODLESS,
      '/openapi.json': editDocument((document) => ({
        ...document,
        paths: { '/both': { post: { security: [], responses: { 200: {} } } } },
      })),
      '/both': both('0.01'),
    },
    moved: [...UNDECLARED, 'S5 pass no-post-resource'],
  },
];

export const METHOD_ROWS: readonly Row[] = [
  {
    name: 'GET and POST of one path at two prices',
    answers: { '/openapi.json': BOTH_METHODS, 'POST /weather': posted({}) },
    moved: [],
  },
  {
    name: 'a POST that nobody can pay behind a good GET',
    answers: { '/openapi.json': BOTH_METHODS, 'POST /weather': posted(UNPAYABLE) },
    moved: ['P3 fail bad-field'],
    says: { P3: 'POST /weather' },
  },
  {
    name: 'a POST dearer than declared behind a good GET',
    answers: { '/openapi.json': BOTH_METHODS, 'POST /weather': posted({ amount: '900000' }) },
    moved: ['P6 fail mismatch'],
    says: { P6: 'POST /weather' },
  },
  {
    name: 'a POST without a challenge behind a good GET',
    answers: { '/openapi.json': BOTH_METHODS, 'POST /weather': { status: 402, body: 'pay me' } },
    moved: ['P2 warn some-missing'],
    says: { P2: 'POST /weather: 402' },
  },
  {
    name: 'the paid operations of another origin',
    answers: {
      '/openapi.json': editDocument((document) => ({
        ...document,
        servers: [{ url: 'https://api.other.example' }],
      })),
      '/.well-known/x402': { status: 404, body: {} },
    },
    moved: [
      'P2 fail none-found',
      ...NO_CHALLENGE_CELLS,
      'S5 pass no-post-resource',
      'S6 fail absent',
    ],
  },
];

export const SIGN_IN_ROWS: readonly Row[] = [
  {
    name: 'an operation that asks for a sign-in',
    answers: { '/openapi.json': profile({ siwx: [] }), '/profile': SIGN_IN },
    moved: [],
  },
  {
    name: 'an operation that asks for a sign-in by 401',
    answers: { '/openapi.json': profile({ siwx: [] }), '/profile': { status: 401, body: {} } },
    moved: [],
  },
];
