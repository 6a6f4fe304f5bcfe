import type { CheckCase } from '#check';
import type { JsonObject, JsonValue } from '#parse/json';
import {
  answer,
  challenge402,
  challengeV2,
  failure,
  html,
  manifestDocument,
  NOT_FOUND,
  ORIGIN,
  OTHER_PAY_TO,
  offer,
  PAY_TO,
  perfectSeller,
  resource,
  resources,
} from '../../test/fixtures/observations/build-observations.ts';

const CATCH_ALL_PAGE = html(200, '<!doctype html><title>Seller</title>');
const SOLANA = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp';
const SOLANA_USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const WEATHER = `${ORIGIN}/weather`;

function withManifest(document: JsonValue): CheckCase['seen'] {
  return { resources: resources([resource()]), manifest: answer(200, document) };
}

function withEntries(...entries: readonly JsonValue[]): CheckCase['seen'] {
  return withManifest({ x402Version: 2, resources: entries });
}

function withWeatherEntry(entry: JsonObject): CheckCase['seen'] {
  return withEntries({ resource: WEATHER, ...entry });
}

function completeCase(name: string, seen: CheckCase['seen']): CheckCase {
  return { name, seen, expect: { status: 'pass', outcome: 'complete' } };
}

const ODD_AMOUNTS = challenge402(
  challengeV2({
    accepts: [offer({ amount: [{ toString: 1 }] }), offer({ amount: { toString: 1 } })],
  }),
);

const cases: readonly CheckCase[] = [
  {
    name: 'the recipient of an entry is the text of a template',
    seen: withWeatherEntry({ accepts: [offer({ payTo: '0xYOUR_WALLET_ADDRESS_HERE' })] }),
    expect: {
      status: 'warn',
      outcome: 'recipient-differs',
      evidence: ['/resources/0 has the recipient "0xYOUR_WALLET_ADDRESS_HERE", which is not an'],
    },
  },
  {
    name: 'the recipient of the manifest is the text of a template',
    seen: withManifest({ payTo: 'YOUR_WALLET_ADDRESS', resources: [WEATHER] }),
    expect: { status: 'warn', outcome: 'recipient-differs' },
  },
  completeCase('the recipient of an entry is a name, which is not compared', {
    ...withWeatherEntry({ payTo: 'seller.eth' }),
  }),
  completeCase('the recipient of an entry is an address of Sui', {
    ...withWeatherEntry({ payTo: `0x${'ab'.repeat(32)}` }),
  }),
  completeCase('the live amounts are objects, and the manifest has a price', {
    ...withWeatherEntry({ price: '$0.01' }),
    resources: resources([resource({ get: [ODD_AMOUNTS, ODD_AMOUNTS] })]),
  }),
  {
    name: 'the manifest gets no answer',
    seen: { manifest: failure('reset') },
    expect: { status: 'fail', outcome: 'unreadable', evidence: ['/.well-known/x402: reset'] },
  },
  {
    name: 'the manifest answers 404',
    seen: { manifest: NOT_FOUND },
    expect: { status: 'fail', outcome: 'absent', evidence: ['GET /.well-known/x402: 404'] },
  },
  {
    name: 'the manifest and a random path have the same page',
    seen: { manifest: CATCH_ALL_PAGE, soft404: CATCH_ALL_PAGE },
    expect: { status: 'fail', outcome: 'soft-404', evidence: ['/.well-known/x402'] },
  },
  ...['path', 'endpoint', 'route', 'uri', 'resource_url'].map(
    (member): CheckCase => ({
      name: `the address of an entry is in "${member}"`,
      seen: withEntries({ [member]: '/weather', method: 'GET', price: '$0.01' }),
      expect: { status: 'warn', outcome: 'odd-address', evidence: [`/resources/0/${member}`] },
    }),
  ),
  {
    name: 'the entries are a map from a name to a request',
    seen: withManifest({ endpoints: { weather: 'GET /weather' } }),
    expect: { status: 'warn', outcome: 'odd-address', evidence: ['/endpoints/weather'] },
  },
  {
    name: 'the entries are in a list named apis',
    seen: withManifest({ apis: [{ url: WEATHER, price: 0.01 }] }),
    expect: { status: 'warn', outcome: 'odd-address', evidence: ['/apis/0'] },
  },
  {
    name: 'no entry has an address',
    seen: withManifest({ endpoints: [{ name: 'weather', price: '$0.01' }] }),
    expect: {
      status: 'fail',
      outcome: 'no-address',
      evidence: ['/endpoints/0 has no resource or url'],
    },
  },
  {
    name: 'the manifest is an HTML page',
    seen: { manifest: html(200, '<h1>We take x402</h1>') },
    expect: { status: 'fail', outcome: 'html', evidence: ['/.well-known/x402'] },
  },
  {
    name: 'the manifest is longer than the scan reads',
    seen: { manifest: answer(200, '{"resources":[', {}, { truncated: true }) },
    expect: { status: 'warn', outcome: 'over-limit', evidence: ['/.well-known/x402', '1 MiB'] },
  },
  {
    name: 'the manifest has more values than the scan reads',
    seen: { manifest: answer(200, `{"x":[${'0,'.repeat(50_000)}0]}`) },
    expect: { status: 'warn', outcome: 'over-limit', evidence: ['over 50000 nodes'] },
  },
  {
    name: 'the manifest answers 429',
    seen: { manifest: answer(429, {}) },
    expect: { status: 'warn', outcome: 'rate-limited', evidence: ['429'] },
  },
  {
    name: 'the manifest is text',
    seen: { manifest: answer(200, 'x402 spoken here') },
    expect: { status: 'fail', outcome: 'not-json', evidence: ['not JSON'] },
  },
  {
    name: 'the manifest is an object without a list',
    seen: withManifest({ x402Version: 2, payTo: PAY_TO }),
    expect: { status: 'fail', outcome: 'unknown-shape', evidence: ['/.well-known/x402'] },
  },
  {
    name: 'the endpoints of the manifest are a map of names without a method or a price',
    seen: withManifest({ x402Version: 2, endpoints: { health: '/health', data: '/data' } }),
    expect: {
      status: 'fail',
      outcome: 'unknown-shape',
      evidence: ['/.well-known/x402#/endpoints is not a list of addresses'],
    },
  },
  {
    name: 'the manifest is a bare list',
    seen: withManifest([WEATHER]),
    expect: { status: 'fail', outcome: 'unknown-shape' },
  },
  {
    name: 'the list is empty',
    seen: withEntries(),
    expect: { status: 'fail', outcome: 'no-entries', evidence: ['0 entries'] },
  },
  {
    name: 'only /.well-known/x402.json has the list',
    seen: { manifest: NOT_FOUND, manifestJson: answer(200, manifestDocument()) },
    expect: {
      status: 'warn',
      outcome: 'only-json',
      evidence: ['/.well-known/x402.json has 2 entries'],
    },
  },
  {
    name: '/.well-known/x402.json has the list, /.well-known/x402 other JSON',
    seen: {
      manifest: answer(200, { version: 1 }),
      manifestJson: answer(200, manifestDocument()),
    },
    expect: { status: 'warn', outcome: 'only-json', evidence: ['has no such list'] },
  },
  {
    name: 'the only entry has http and the own host',
    seen: withEntries('http://seller.example/weather'),
    expect: {
      status: 'warn',
      outcome: 'http-entries',
      evidence: ['1 of 1', '#/resources/0', 'http://seller.example/weather'],
    },
  },
  {
    name: 'the only entry is on another origin',
    seen: withEntries('https://other.example/weather'),
    expect: {
      status: 'warn',
      outcome: 'no-own-entry',
      evidence: ['https://other.example/weather'],
    },
  },
  {
    name: 'one entry is on this origin, another is not',
    seen: withEntries(WEATHER, 'https://other.example/a'),
    expect: { status: 'warn', outcome: 'off-origin', evidence: ['1 of 2', '#/resources/1'] },
  },
  {
    name: 'the entry names another recipient',
    seen: withWeatherEntry({ payTo: OTHER_PAY_TO }),
    expect: {
      status: 'warn',
      outcome: 'recipient-differs',
      evidence: ['#/resources/0/payTo', OTHER_PAY_TO, 'GET /weather', PAY_TO],
    },
  },
  {
    name: 'the entry names another recipient and another price',
    seen: withWeatherEntry({ payTo: OTHER_PAY_TO, price: '$1' }),
    expect: { status: 'warn', outcome: 'recipient-differs' },
  },
  {
    name: 'the entry has another price',
    seen: withWeatherEntry({ price: '$0.02' }),
    expect: {
      status: 'warn',
      outcome: 'price-differs',
      evidence: ['#/resources/0', '"0.02"', '"10000"'],
    },
  },
  {
    name: 'the entry has another price on its second network',
    seen: withWeatherEntry({
      accepts: [
        { ...offer({ network: SOLANA, asset: SOLANA_USDC }), payTo: SOLANA_USDC },
        offer({ amount: '20000' }),
      ],
    }),
    expect: {
      status: 'warn',
      outcome: 'price-differs',
      evidence: ['#/resources/0/accepts/1', '"20000"', '"10000"'],
    },
  },
  {
    name: 'the entry has another recipient on its second network',
    seen: withWeatherEntry({
      accepts: [
        { ...offer({ network: SOLANA, asset: SOLANA_USDC }), payTo: SOLANA_USDC },
        offer({ payTo: OTHER_PAY_TO }),
      ],
    }),
    expect: {
      status: 'warn',
      outcome: 'recipient-differs',
      evidence: ['#/resources/0/accepts/1/payTo', OTHER_PAY_TO],
    },
  },
  completeCase('the entry has a second price on one network', {
    ...withWeatherEntry({ accepts: [offer({}), offer({ amount: '20000' })] }),
  }),
  completeCase('the entry has the price with zeroes', withWeatherEntry({ price: '0.010000' })),
  completeCase(
    'the entry has the price with a currency sign',
    withWeatherEntry({ price_usd: '$0.01' }),
  ),
  completeCase('the entry has the price as a number', withWeatherEntry({ priceUsd: 0.01 })),
  completeCase('two requests get two prices, and the entry has a third', {
    ...withWeatherEntry({ price: '$0.02' }),
    resources: resources([
      resource({
        get: ['10000', '12000'].map((amount) =>
          challenge402(challengeV2({ accepts: [offer({ amount })] })),
        ),
      }),
    ]),
  }),
  completeCase('the live amount is malformed', {
    ...withWeatherEntry({ price: '$0.02' }),
    resources: resources([
      resource({ get: challenge402(challengeV2({ accepts: [offer({ amount: '$0.01' })] })) }),
    ]),
  }),
  completeCase(
    'the entries are texts with methods',
    withEntries('GET /weather', 'POST /summaries'),
  ),
  completeCase('the entry has its URL in an object', withEntries({ resource: { url: WEATHER } })),
  completeCase('the entry is a path template', withEntries(`${ORIGIN}/users/{id}`)),
  completeCase(
    'the list has the name endpoints',
    withManifest({ endpoints: [{ url: WEATHER, method: 'GET' }] }),
  ),
  completeCase(
    'the list has the name items',
    withManifest({ items: [{ resource: WEATHER }], pagination: { total: 1 } }),
  ),
  completeCase(
    'a discovery document has the paths as keys',
    withManifest({
      discoveryDocument: { x402Version: '2', resources: { '/weather': { accepts: [] } } },
    }),
  ),
  completeCase('nothing answers 402', {
    ...withEntries(WEATHER),
    resources: resources([]),
  }),
  {
    name: 'the origin is plain http, which the scan allows',
    seen: {
      ...withEntries('http://seller.example/weather'),
      origin: { ...perfectSeller().origin, url: 'http://seller.example', scheme: 'http', port: 80 },
    },
    expect: { status: 'pass', outcome: 'complete', evidence: ['1 entry on this'] },
  },
  {
    name: 'both entries are on this origin',
    seen: {},
    expect: { status: 'pass', outcome: 'complete', evidence: ['2 entries'] },
  },
];

export default cases;
