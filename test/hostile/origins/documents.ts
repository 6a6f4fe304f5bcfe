/** Sellers whose documents cost more to read than to write, or name what they should not. */
import { BOMBS, type Bomb } from '../../fixtures/origins/bombs.ts';
import type { CraftedAnswer } from '../../fixtures/origins/crafted-answer.ts';
import { startCraftedSeller } from '../../fixtures/origins/crafted-seller.ts';
import type { FarmOrigin, FarmTools } from '../farm-origin.ts';

const KIB = 1_024;
const OPENAPI_BYTES = 2 * KIB * KIB - KIB;

/** The finding that each document must get. test/scanner/scan has the whole reports. */
const FINDS: Readonly<Record<keyof typeof BOMBS, string>> = {
  'OpenAPI packed to a thousandth': 'S1 warn over-limit',
  'OpenAPI packed twice': 'S1 fail unreadable',
  'a challenge body packed to a thousandth': 'P2 pass challenged',
  'five million arrays in one another': 'S1 warn over-limit',
  'arrays in one another, closed, under the cap': 'S1 warn over-limit',
  'JSON of more values than are read': 'S1 warn over-limit',
  'a hundred thousand links': 'S11 fail many-dead',
  'as many links as fit': 'S11 fail many-dead',
  'brackets that never close': 'S9 warn no-pointer',
  'ten thousand operations and circles of references': 'S1 warn no-contact',
  'hundreds of offers': 'P3 fail no-domain',
  'a header of 60 KiB': 'P4 fail long-head',
  'a pattern that backtracks for ever': 'S5 warn no-output-example',
  'a schema that doubles at each step': 'S5 fail limits',
  'a schema that leads to itself': 'S5 fail bad-schema',
  'two thousand rules with a hundred stars': 'S10 pass open',
  'members that are JavaScript’s own': 'S6 fail unknown-shape',
};

const bombs = Object.entries(BOMBS).map(
  ([name, make]): FarmOrigin => ({
    name: `sells with ${name}`,
    kind: 'document',
    finding: FINDS[name as keyof typeof BOMBS] ?? '', // a key of the table
    start: () => startCraftedSeller({ answers: make() }),
  }),
);

function seller(name: string, finding: string, answers: (tools: FarmTools) => Bomb): FarmOrigin {
  return {
    name,
    kind: 'document',
    finding,
    start: (tools) => startCraftedSeller({ answers: answers(tools) }),
  };
}

function json(body: unknown): CraftedAnswer {
  return { status: 200, headers: { 'content-type': 'application/json' }, body };
}

function plain(body: string | Buffer, type = 'text/plain'): CraftedAnswer {
  return { status: 200, headers: { 'content-type': type }, body };
}

const OPENAPI_PLACES = [
  '/openapi.json',
  '/.well-known/openapi.json',
  '/api/openapi.json',
  '/swagger.json',
  '/openapi.yaml',
  '/openapi.yml',
];

/** The same answer wherever OpenAPI is looked for. */
function everywhere(answer: CraftedAnswer): Bomb {
  return Object.fromEntries(OPENAPI_PLACES.map((path) => [path, answer]));
}

function named(internalHost: string): Bomb {
  const url = `http://${internalHost}/x`;
  return {
    '/openapi.json': json({
      openapi: '3.1.0',
      info: { title: 'Inside', version: '1', contact: { url } },
      servers: [{ url: `http://${internalHost}` }],
      externalDocs: { url },
      paths: { '/x': { $ref: url }, '/y': { get: { responses: { 402: { $ref: url } } } } },
    }),
    '/.well-known/x402': json({ resources: [url, `GET ${url}`, { resource: url, method: 'GET' }] }),
    '/llms.txt': plain(`# Inside\n\n> x\n\n## Links\n\n- [x](${url})\n- <${url}>\n`),
    '/.well-known/agent-card.json': json({ name: 'Inside', url, iconUrl: url }),
    '/': plain(`<link rel="icon" href="${url}"><a href="${url}">x</a>`, 'text/html'),
    '/robots.txt': plain(`Sitemap: ${url}\n`),
  };
}

const manyOperations = (): CraftedAnswer =>
  json({
    openapi: '3.1.0',
    info: { title: 'Many', version: '1' },
    paths: Object.fromEntries(
      Array.from({ length: 4_000 }, (_, i) => [
        `/o/{id}/${i}`,
        { get: { 'x-payment-info': { price: '0.01' }, responses: { 402: { description: '' } } } },
      ]),
    ),
  });

export const DOCUMENT_ORIGINS: readonly FarmOrigin[] = [
  ...bombs,
  seller('sends 2 MiB of text that takes two bytes a character', 'S1 fail not-json', () =>
    everywhere(plain(`界${'a'.repeat(OPENAPI_BYTES)}`, 'application/json')),
  ),
  seller('sends 2 MiB in another charset', 'S1 fail not-json', () =>
    everywhere(plain(Buffer.alloc(OPENAPI_BYTES, 0x81), 'application/json; charset=shift_jis')),
  ),
  seller('names a service inside wherever it can', 'S1 warn external-path', ({ internalHost }) =>
    named(internalHost),
  ),
  seller('repeats the path of any page in a page of 2 MiB', 'S1 fail soft-404', () => ({
    '*': ({ path }) => ({
      status: path.startsWith('/a') ? 200 : 302,
      headers: { location: `/ab${'a'.repeat(1_990)}`, 'content-type': 'application/json' },
      body: path.startsWith('/a') ? 'a'.repeat(OPENAPI_BYTES) : '',
    }),
  })),
  seller('declares 4,000 operations and 30,000 entries', 'P2 warn made-up', () => ({
    '/openapi.json': manyOperations(),
    '/.well-known/x402': json({
      resources: Array.from({ length: 12_000 }, (_, i) => `/o/${i}/${i % 4_000}`),
    }),
  })),
  seller('answers 402 to everything', 'S9 fail error', () => ({
    '*': { status: 402, headers: { 'content-type': 'application/json' }, body: '{}' },
  })),
  seller('answers 500 to everything', 'P1 fail only-5xx', () => ({
    '*': { status: 500, body: 'x'.repeat(60 * KIB) },
  })),
  seller('sends NUL bytes', 'S1 fail unreadable', () =>
    everywhere(plain(Buffer.alloc(64 * KIB), 'application/json')),
  ),
  seller('sends half of UTF-16', 'S1 fail not-json', () =>
    everywhere(plain(Buffer.from([0xff, 0xfe, 0x7b, 0x00, 0x00, 0xd8, 0x22]), 'application/json')),
  ),
  seller('sends a page of 256 KiB in headings', 'S7 warn no-summary', () => ({
    '/llms.txt': plain('# x\n'.repeat(60_000)),
  })),
];
