/** Faults of the documents: OpenAPI, manifest, llms.txt, agent card, robots.txt, icon. */
import type { JsonObject } from '../../../src/formats/json.ts';
import { challengeAnswer, challengeOf } from '../../origins/crafted-challenge.ts';
import type { Answering } from '../../origins/crafted-seller.ts';
import { openApiDocument, SUMMARY, WEATHER } from '../../sellers/seller-documents.ts';
import {
  ABSENT,
  edited,
  json,
  NO_CHALLENGE,
  NO_OPENAPI,
  page,
  plain,
  type Row,
  UNSEEN,
} from './row.ts';

const at =
  (path: string): Answering =>
  ({ origin }) => ({
    status: 200,
    headers: { 'content-type': path.endsWith('.yaml') ? 'application/yaml' : 'application/json' },
    body: path.endsWith('.yaml')
      ? 'openapi: 3.1.0\ninfo:\n  title: Weather\n'
      : openApiDocument(origin).body,
  });

/** The OpenAPI document without what the pattern names. */
function openApiWithout(part: RegExp): Answering {
  return (_, usual) => ({ ...usual, body: String(usual.body).replaceAll(part, '') });
}

function paths(edit: (usual: JsonObject) => object): Answering {
  return edited(({ paths: usual, ...rest }) => ({ ...rest, paths: edit(usual as JsonObject) }));
}

function manifest(make: (origin: string) => unknown): Answering {
  return ({ origin }) => json(make(origin));
}

const paidOf = (usual: JsonObject) => (usual[WEATHER.path] as JsonObject)['get'];
const ITEMS = Array.from({ length: 41 }, (_, index) => `/items/${index}`);

export const DOCUMENT_ROWS: readonly Row[] = [
  {
    name: 'OpenAPI only at /.well-known/openapi.json',
    answers: { '/openapi.json': ABSENT, '/.well-known/openapi.json': at('/openapi.json') },
    moved: ['S1 warn elsewhere', 'S11 warn some-dead'],
  },
  {
    name: 'OpenAPI only as YAML',
    answers: { '/openapi.json': ABSENT, '/openapi.yaml': at('/openapi.yaml') },
    moved: ['P6 warn undeclared', 'S1 warn yaml-only', ...NO_OPENAPI, 'S11 warn some-dead'],
  },
  {
    name: 'no OpenAPI document',
    answers: { '/openapi.json': ABSENT },
    moved: ['P6 warn undeclared', 'S1 fail absent', ...NO_OPENAPI, 'S11 warn some-dead'],
  },
  {
    name: 'Swagger 2',
    answers: {
      '/openapi.json': edited(({ openapi: _, ...rest }) => ({ ...rest, swagger: '2.0' })),
    },
    moved: ['S1 fail not-openapi-3', ...NO_OPENAPI],
  },
  {
    name: 'no x402 security scheme',
    answers: { '/openapi.json': openApiWithout(/"x402":\{"type":"http","scheme":"x402"\}/g) },
    moved: ['S2 warn protocols-only', 'S4 warn no-security'],
  },
  {
    name: 'a free operation that does not say so',
    answers: { '/openapi.json': openApiWithout(/"security":\[\],/g) },
    moved: ['S3 fail none-declared'],
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
    says: { P2: '3 of 3 challenge' },
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
    name: 'paid operations by PUT alone',
    answers: {
      '/openapi.json': paths((usual) => ({ '/weather': { put: paidOf(usual) } })),
      '/.well-known/x402': ABSENT,
      '/weather': { status: 405 },
    },
    moved: [
      'P2 warn other-methods',
      ...UNSEEN,
      'S3 pass no-free-operations',
      'S5 pass no-post-resource',
      'S6 fail absent',
    ],
  },
  {
    name: 'a manifest of another shape',
    answers: { '/.well-known/x402': json({ hello: 'world' }) },
    moved: ['S6 fail unknown-shape'],
  },
  {
    name: 'a manifest with no entries',
    answers: { '/.well-known/x402': json({ resources: [] }) },
    moved: ['S6 fail no-entries'],
  },
  {
    name: 'a manifest only at /.well-known/x402.json',
    answers: {
      '/.well-known/x402': ABSENT,
      '/.well-known/x402.json': manifest((origin) => ({ resources: [`${origin}/weather`] })),
    },
    moved: ['S6 warn only-json'],
  },
  {
    name: 'a manifest that also names another origin',
    answers: {
      '/.well-known/x402': manifest((origin) => ({
        resources: [`${origin}/weather`, 'https://elsewhere.example/weather'],
      })),
    },
    moved: ['S6 warn off-origin'],
  },
  {
    name: 'only agent.json',
    answers: {
      '/.well-known/agent-card.json': ABSENT,
      '/.well-known/agent.json': json({ name: 'Weather' }),
    },
    moved: ['S8 warn old-path'],
  },
  {
    name: 'an agent card without skills',
    answers: { '/.well-known/agent-card.json': edited(({ skills: _, ...rest }) => rest) },
    moved: ['S8 warn partial'],
  },
  {
    name: 'robots.txt that denies everything',
    answers: { '/robots.txt': plain('User-agent: *\nDisallow: /\n') },
    moved: ['S10 fail all-denied'],
  },
  {
    name: 'robots.txt that breaks',
    answers: { '/robots.txt': { status: 503 } },
    moved: ['S10 fail server-error'],
  },
  {
    name: 'three dead links',
    answers: { '/llms.txt': linking('/gone/1', '/gone/2', '/gone/3') },
    moved: ['S11 fail many-dead'],
    says: { S11: '/gone/3: 404' },
  },
  {
    name: 'a link that needs a login, one by another method, one to another host',
    answers: {
      '/llms.txt': linking('/account', '/write', 'https://elsewhere.invalid/'),
      '/account': { status: 401 },
      '/write': { status: 405 },
    },
    moved: [],
    says: { S11: '1 on other hosts not contacted' },
  },
  {
    name: 'robots.txt that shuts out crawlers for training alone',
    answers: {
      '/robots.txt': plain('User-agent: GPTBot\nDisallow: /\n\nUser-agent: *\nAllow: /\n'),
    },
    moved: [],
    says: { S10: 'training crawlers denied: 1' },
  },
  {
    name: 'robots.txt that denies the OpenAPI document',
    answers: { '/robots.txt': plain('User-agent: *\nDisallow: /openapi.json\n') },
    moved: ['S10 warn some-denied'],
  },
  {
    name: 'llms.txt without a heading',
    answers: { '/llms.txt': plain('We sell the weather.\n') },
    moved: ['S7 fail no-h1'],
  },
  {
    name: 'llms.txt without a summary',
    answers: { '/llms.txt': plain('# Weather\n\n## Documents\n\n- [API](/openapi.json)\n') },
    moved: ['S7 warn no-summary'],
  },
  {
    name: 'an agent card of another host',
    answers: {
      '/.well-known/agent-card.json': edited((card) => ({
        ...card,
        url: 'https://elsewhere.invalid',
      })),
    },
    moved: ['S8 warn other-host'],
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
      '*': ({ path }) => (/^\/(?:weather|summaries)/.test(path) ? ABSENT : null),
    },
    moved: [],
    says: { P2: '2 of 2 challenge' },
  },
  {
    name: 'an OpenAPI document of more than 2 MiB',
    answers: {
      '/openapi.json': edited((document) => ({ ...document, padding: 'x'.repeat(2_200_000) })),
    },
    moved: ['P6 warn undeclared', 'S1 fail oversize', ...NO_OPENAPI],
  },
  {
    name: 'an OpenAPI document that breaks off',
    answers: {
      '/openapi.json': (_, usual) => ({ ...usual, body: String(usual.body).slice(0, 500) }),
    },
    moved: ['P6 warn undeclared', 'S1 fail not-json', ...NO_OPENAPI],
  },
  {
    name: 'an icon of another host alone',
    answers: {
      '/': page(
        '<link rel="icon" href="https://elsewhere.invalid/i.png"><a href="/openapi.json">API</a>',
      ),
      '/favicon.svg': ABSENT,
    },
    moved: ['S12 warn other-host'],
  },
  {
    name: 'an icon of another type',
    answers: { '/favicon.svg': plain('<svg/>') },
    moved: ['S12 warn wrong-type'],
  },
  {
    name: 'no document and nothing for sale',
    answers: {
      '*': ({ path }) => (path === '/' ? plain('Hello') : ABSENT),
    },
    moved: [
      'P2 fail none-found',
      ...NO_CHALLENGE,
      'S1 fail absent',
      ...NO_OPENAPI,
      'S5 pass no-post-resource',
      'S6 fail absent',
      'S7 fail absent',
      'S8 fail absent',
      'S9 warn no-pointer',
      'S10 pass no-robots',
      'S11 pass no-documents',
      'S12 fail no-icon',
    ],
  },
];

/** Each shape of the manifest that is in use; none of them moves a cell. */
export const MANIFEST_ROWS: readonly Row[] = [
  ['paths', () => ({ resources: ['/weather', '/summaries'] })],
  ['methods before paths', () => ({ resources: ['GET /weather', 'POST /summaries'] })],
  [
    'endpoints with prices',
    (origin: string) => ({
      endpoints: [
        { url: `${origin}/weather`, method: 'GET', price_usd: '0.010000' },
        { url: `${origin}/summaries`, method: 'POST', priceUsd: 0.02 },
      ],
    }),
  ],
  [
    'items with accepts',
    (origin: string) => ({
      items: [
        { resource: `${origin}/weather`, accepts: challengeOf(WEATHER, origin).accepts },
        { resource: { url: `${origin}/summaries` } },
      ],
    }),
  ],
  [
    'a discovery document',
    (origin: string) => ({
      discoveryDocument: {
        x402Version: '2',
        resources: {
          '/weather': { accepts: challengeOf(WEATHER, origin).accepts },
          '/summaries': {},
        },
      },
    }),
  ],
].map(([name, make]) => ({
  name: `a manifest of ${name}`,
  answers: { '/.well-known/x402': manifest(make as (origin: string) => unknown) },
  moved: [],
}));

function linking(...targets: readonly string[]): Answering {
  const list = targets.map((target) => `- [x](${target}): y\n`).join('');
  return (_, usual) => ({ ...usual, body: `${usual.body}${list}` });
}
