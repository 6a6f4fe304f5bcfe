/** Documents that cost more to read than to write, on a seller that is right in all else. */
import { gzipSync } from 'node:zlib';
import { SUMMARY, WEATHER } from '../sellers/seller-documents.ts';
import { challengeAnswer, challengeOf, offerOf } from './crafted-challenge.ts';
import type { Answering, CraftedAnswer, CraftedOptions } from './crafted-seller.ts';

const KIB = 1024;
const ZEROS_BYTES = 64 * KIB * KIB;

export type Bomb = NonNullable<CraftedOptions['answers']>;

function json(body: unknown): CraftedAnswer {
  return { status: 200, headers: { 'content-type': 'application/json' }, body };
}

/** 64 MiB that travel as 64 KiB, or as less where they are packed twice. */
function zipped(layers: 1 | 2): CraftedAnswer {
  const once = gzipSync(Buffer.alloc(ZEROS_BYTES, ' '));
  const encoding = layers === 1 ? 'gzip' : 'gzip, gzip';
  return {
    status: 200,
    headers: { 'content-type': 'application/json', 'content-encoding': encoding },
    body: layers === 1 ? once : gzipSync(once),
  };
}

/** Every operation's path item is a `$ref` that leads in a circle, or to one that is shared by all. */
function circles(): object {
  const paths = Object.fromEntries(
    Array.from({ length: 10_000 }, (_, index) => [
      `/o/${index}`,
      { $ref: index % 2 === 0 ? '#/components/pathItems/shared' : '#/components/pathItems/one' },
    ]),
  );
  return {
    openapi: '3.1.0',
    info: { title: 'Circles', version: '1' },
    paths,
    components: {
      pathItems: {
        one: { $ref: '#/components/pathItems/two' },
        two: { $ref: '#/components/pathItems/one' },
        shared: {
          parameters: Array.from({ length: 200 }, () => ({ $ref: '#/components/parameters/p' })),
          get: { 'x-payment-info': { price: '0.01' }, responses: { 402: { description: 'x' } } },
        },
      },
      parameters: { p: { $ref: '#/components/parameters/p' } },
    },
  };
}

function withBazaar(bazaar: object): Answering {
  return ({ method, origin }, usual) =>
    method === 'POST'
      ? challengeAnswer({ ...challengeOf(SUMMARY, origin), extensions: { bazaar } })
      : usual;
}

/** `$ref`s that double at each of forty steps. */
function doubling(): object {
  const steps = Array.from({ length: 40 }, (_, index) => [
    `s${index}`,
    { allOf: [{ $ref: `#/$defs/s${index + 1}` }, { $ref: `#/$defs/s${index + 1}` }] },
  ]);
  return { $ref: '#/$defs/s0', $defs: { ...Object.fromEntries(steps), s40: { type: 'object' } } };
}

const INPUT = { type: 'http', method: 'POST', bodyType: 'json' };

export const BOMBS: Readonly<Record<string, () => Bomb>> = {
  'OpenAPI packed to a thousandth': () => ({ '/openapi.json': zipped(1) }),
  'OpenAPI packed twice': () => ({ '/openapi.json': zipped(2) }),
  'a challenge body packed to a thousandth': () => ({
    'GET /weather': (_, usual) => {
      const { headers, body } = zipped(1);
      return { ...usual, headers: { ...usual.headers, ...headers }, body };
    },
  }),
  'five million arrays in one another': () => ({
    '/openapi.json': json('['.repeat(5_000_000)),
    '/.well-known/agent-card.json': json('['.repeat(200_000)),
  }),
  'arrays in one another, closed, under the cap': () => ({
    '/openapi.json': json('['.repeat(900_000) + ']'.repeat(900_000)),
  }),
  'JSON of more values than are read': () => ({
    '/openapi.json': json(`{"openapi":"3.1.0","x":[${'0,'.repeat(900_000)}0]}`),
    '/.well-known/x402': json({ resources: Array.from({ length: 60_000 }, () => 0) }),
  }),
  'a hundred thousand links': () => ({
    '/llms.txt': (_, usual) => ({ ...usual, body: `${usual.body}${links(100_000)}` }),
  }),
  'as many links as fit': () => ({
    '/llms.txt': (_, usual) => ({ ...usual, body: `${usual.body}${links(20_000)}` }),
  }),
  'brackets that never close': () => ({
    '/llms.txt': (_, usual) => ({ ...usual, body: `${usual.body}${'[('.repeat(120_000)}` }),
    '/': { status: 200, headers: { 'content-type': 'text/html' }, body: '<a href='.repeat(30_000) },
  }),
  'ten thousand operations and circles of references': () => ({
    '/openapi.json': json(circles()),
  }),
  'hundreds of offers': () => ({
    'GET /weather': ({ origin }) => {
      const offer = { ...offerOf(WEATHER), extra: {} };
      const challenge = challengeOf(WEATHER, origin);
      return { status: 402, body: { ...challenge, accepts: Array(300).fill(offer) } };
    },
  }),
  'a header of 60 KiB': () => ({
    'GET /weather': ({ origin }) =>
      challengeAnswer({ ...challengeOf(WEATHER, origin), x: 'x'.repeat(44_000) }),
  }),
  'a pattern that backtracks for ever': () => ({
    '/summaries': withBazaar({
      info: { input: { ...INPUT, body: { text: `${'a'.repeat(60)}!` } } },
      schema: {
        properties: {
          input: { properties: { body: { properties: { text: { pattern: '^(a+)+$' } } } } },
        },
      },
    }),
  }),
  'a schema that doubles at each step': () => ({
    '/summaries': withBazaar({ info: { input: { ...INPUT, body: {} } }, schema: doubling() }),
  }),
  'a schema that leads to itself': () => ({
    '/summaries': withBazaar({
      info: { input: { ...INPUT, body: {} } },
      schema: { $ref: '#' },
    }),
  }),
  'two thousand rules with a hundred stars': () => ({
    '/robots.txt': {
      status: 200,
      headers: { 'content-type': 'text/plain' },
      body: `User-agent: *\n${`Disallow: /${'*a'.repeat(100)}$\n`.repeat(2_000)}`,
    },
  }),
  'members that are JavaScript’s own': () => ({
    '/openapi.json': json('{"__proto__":{"openapi":"3.1.0"},"constructor":{"prototype":{}}}'),
    '/.well-known/x402': json('{"resources":{"__proto__":[],"length":4294967295}}'),
  }),
};

function links(count: number): string {
  return Array.from({ length: count }, (_, index) => `[](/${index})`).join('\n');
}
