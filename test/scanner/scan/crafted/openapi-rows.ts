/** Faults of the OpenAPI document. */
import type { JsonObject } from '../../../../src/scanner/parse/json/json.ts';
import { challengeAnswer, challengeOf } from '../../../fixtures/origins/crafted-challenge.ts';
import type { Answering } from '../../../fixtures/origins/crafted-seller.ts';
import { openApiDocument, SUMMARY, WEATHER } from '../../../fixtures/sellers/seller-documents.ts';
import {
  editDocument,
  json,
  NO_OPENAPI_CELLS,
  NOT_FOUND_ANSWER,
  type Row,
  UNREAD_OPENAPI_CELLS,
  UNSEEN_CELLS,
} from './row.ts';

const at =
  (path: string): Answering =>
  ({ origin }) => ({
    status: 200,
    headers: { 'content-type': path.endsWith('.yaml') ? 'application/yaml' : 'application/json' },
    // The comment makes YAML of it, which JSON is otherwise too.
    body: `${path.endsWith('.yaml') ? '# The API\n' : ''}${openApiDocument(origin).body}`,
  });

/** The OpenAPI document without what the pattern names. */
function openApiWithout(part: RegExp): Answering {
  return (_, usual) => ({ ...usual, body: String(usual.body).replaceAll(part, '') });
}

function paths(edit: (usual: JsonObject) => object): Answering {
  return editDocument(({ paths: usual, ...rest }) => ({
    ...rest,
    paths: edit(usual as JsonObject),
  }));
}

function manifest(make: (origin: string) => unknown): Answering {
  return ({ origin }) => json(make(origin));
}

const paidOf = (usual: JsonObject) => (usual[WEATHER.path] as JsonObject)['get'];
const ITEMS = Array.from({ length: 41 }, (_, index) => `/items/${index}`);

export const OPENAPI_ROWS: readonly Row[] = [
  {
    name: 'OpenAPI only at /.well-known/openapi.json',
    answers: {
      '/openapi.json': NOT_FOUND_ANSWER,
      '/.well-known/openapi.json': at('/openapi.json'),
    },
    moved: ['S1 warn elsewhere', 'S11 warn some-dead'],
  },
  {
    name: 'OpenAPI only as YAML',
    answers: { '/openapi.json': NOT_FOUND_ANSWER, '/openapi.yaml': at('/openapi.yaml') },
    moved: ['S1 warn yaml-only', 'S11 warn some-dead'],
  },
  {
    name: 'no OpenAPI document',
    answers: { '/openapi.json': NOT_FOUND_ANSWER },
    moved: ['P6 warn undeclared', 'S1 fail absent', ...NO_OPENAPI_CELLS, 'S11 warn some-dead'],
  },
  {
    name: 'Swagger 2',
    answers: {
      '/openapi.json': editDocument(({ openapi: _, ...rest }) => ({ ...rest, swagger: '2.0' })),
    },
    moved: ['S1 fail not-openapi-3', ...NO_OPENAPI_CELLS],
  },
  {
    name: 'no x402 security scheme',
    answers: { '/openapi.json': openApiWithout(/"x402":\{"type":"http","scheme":"x402"\}/g) },
    moved: ['S2 warn protocols-only', 'S4 warn no-security'],
  },
  {
    name: 'an operation that does not say if it is paid or free',
    answers: { '/openapi.json': openApiWithout(/"security":\[\],/g) },
    moved: ['S3 warn unsaid'],
  },
  {
    name: 'paid operations without security',
    answers: { '/openapi.json': openApiWithout(/"security":\[\{"x402":\[\]\}\],/g) },
    moved: ['S4 warn no-security'],
  },
  {
    name: 'paid operations without a 402 response',
    answers: { '/openapi.json': openApiWithout(/,"402":\{"description":"Payment required"\}/g) },
    moved: ['S4 fail no-402'],
  },
  {
    name: 'a path template with an example',
    answers: {
      '/openapi.json': paths((usual) => ({
        ...usual,
        '/cities/{id}': {
          parameters: [{ name: 'id', in: 'path', required: true, example: 'lisbon' }],
          get: paidOf(usual),
        },
      })),
      '/cities/lisbon': ({ origin }) => challengeAnswer(challengeOf(WEATHER, origin)),
    },
    moved: [],
    says: { P2: '3 of 3 paid resources asked for payment' },
  },
  {
    name: '41 declared resources',
    answers: {
      '/openapi.json': paths((usual) =>
        Object.fromEntries(ITEMS.map((path) => [path, { get: paidOf(usual) }])),
      ),
      '/.well-known/x402': manifest(() => ({ resources: ITEMS })),
      '*': ({ path, origin }) =>
        path.startsWith('/items/') ? challengeAnswer(challengeOf(WEATHER, origin)) : null,
    },
    moved: ['S3 pass no-free-operations', 'S5 pass no-post-resource'],
    says: { P2: '6 of 41' },
  },
  {
    name: 'paid operations only by PUT',
    answers: {
      '/openapi.json': paths((usual) => ({ '/weather': { put: paidOf(usual) } })),
      '/.well-known/x402': NOT_FOUND_ANSWER,
      '/weather': { status: 405 },
    },
    moved: [
      'P2 warn other-methods',
      ...UNSEEN_CELLS,
      'S3 pass no-free-operations',
      'S5 pass no-post-resource',
      'S6 fail absent',
    ],
  },
  {
    name: 'a base path in servers',
    answers: {
      '/openapi.json': (request, usual) => ({
        ...usual,
        body: String(usual.body).replace(`"url":"${request.origin}"`, '"url":"/v1"'),
      }),
      '/.well-known/x402': json({ resources: ['/v1/weather', '/v1/summaries'] }),
      '/v1/weather': ({ origin }) => challengeAnswer(challengeOf(WEATHER, origin)),
      'POST /v1/summaries': ({ origin }) => challengeAnswer(challengeOf(SUMMARY, origin)),
      '*': ({ path }) => (/^\/(?:weather|summaries)/.test(path) ? NOT_FOUND_ANSWER : null),
    },
    moved: [],
    says: { P2: '2 of 2 paid resources asked for payment' },
  },
  {
    name: 'an OpenAPI document of more than 8 MiB',
    answers: {
      '/openapi.json': editDocument((document) => ({
        ...document,
        padding: 'x'.repeat(8_400_000),
      })),
    },
    moved: ['P6 warn undeclared', 'S1 warn over-limit', ...UNREAD_OPENAPI_CELLS],
  },
  {
    name: 'an OpenAPI document that breaks off',
    answers: {
      '/openapi.json': (_, usual) => ({ ...usual, body: String(usual.body).slice(0, 500) }),
    },
    moved: ['P6 warn undeclared', 'S1 fail not-json', ...NO_OPENAPI_CELLS],
  },
];
