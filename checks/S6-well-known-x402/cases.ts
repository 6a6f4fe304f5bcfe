import type { CheckCase } from '../../src/engine/define-check.ts';
import type { JsonObject, JsonValue } from '../../src/parse/json/json.ts';
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

function serving(document: JsonValue): CheckCase['seen'] {
  return { resources: resources([resource()]), manifest: answer(200, document) };
}

function listing(...entries: readonly JsonValue[]): CheckCase['seen'] {
  return serving({ x402Version: 2, resources: entries });
}

function weather(entry: JsonObject): CheckCase['seen'] {
  return listing({ resource: WEATHER, ...entry });
}

function complete(name: string, seen: CheckCase['seen']): CheckCase {
  return { name, seen, expect: { status: 'pass', outcome: 'complete' } };
}

const ODD_AMOUNTS = challenge402(
  challengeV2({
    accepts: [offer({ amount: [{ toString: 1 }] }), offer({ amount: { toString: 1 } })],
  }),
);

const cases: readonly CheckCase[] = [
  complete('the live amounts are objects, and the manifest has a price', {
    ...weather({ price: '$0.01' }),
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
  {
    name: 'the manifest is an HTML page',
    seen: { manifest: html(200, '<h1>We take x402</h1>') },
    expect: { status: 'fail', outcome: 'html', evidence: ['/.well-known/x402'] },
  },
  {
    name: 'the manifest is longer than the scan reads',
    seen: { manifest: answer(200, '{"resources":[', {}, { truncated: true }) },
    expect: { status: 'fail', outcome: 'oversize', evidence: ['/.well-known/x402'] },
  },
  {
    name: 'the manifest is text',
    seen: { manifest: answer(200, 'x402 spoken here') },
    expect: { status: 'fail', outcome: 'not-json', evidence: ['not JSON'] },
  },
  {
    name: 'the manifest is an object without a list',
    seen: serving({ x402Version: 2, payTo: PAY_TO }),
    expect: { status: 'fail', outcome: 'unknown-shape', evidence: ['/.well-known/x402'] },
  },
  {
    name: 'the manifest is a bare list',
    seen: serving([WEATHER]),
    expect: { status: 'fail', outcome: 'unknown-shape' },
  },
  {
    name: 'the list is empty',
    seen: listing(),
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
    seen: listing('http://seller.example/weather'),
    expect: {
      status: 'warn',
      outcome: 'http-entries',
      evidence: ['1 of 1', '#/resources/0', 'http://seller.example/weather'],
    },
  },
  {
    name: 'the only entry is on another origin',
    seen: listing('https://other.example/weather'),
    expect: {
      status: 'warn',
      outcome: 'no-own-entry',
      evidence: ['https://other.example/weather'],
    },
  },
  {
    name: 'one entry is on this origin, another is not',
    seen: listing(WEATHER, 'https://other.example/a'),
    expect: { status: 'warn', outcome: 'off-origin', evidence: ['1 of 2', '#/resources/1'] },
  },
  {
    name: 'the entry names another recipient',
    seen: weather({ payTo: OTHER_PAY_TO }),
    expect: {
      status: 'warn',
      outcome: 'recipient-differs',
      evidence: ['#/resources/0/payTo', OTHER_PAY_TO, 'GET /weather', PAY_TO],
    },
  },
  {
    name: 'the entry names another recipient and another price',
    seen: weather({ payTo: OTHER_PAY_TO, price: '$1' }),
    expect: { status: 'warn', outcome: 'recipient-differs' },
  },
  {
    name: 'the entry has another price',
    seen: weather({ price: '$0.02' }),
    expect: {
      status: 'warn',
      outcome: 'price-differs',
      evidence: ['#/resources/0', '"0.02"', '"10000"'],
    },
  },
  {
    name: 'the entry has another price on its second network',
    seen: weather({
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
    seen: weather({
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
  complete('the entry has a second price on one network', {
    ...weather({ accepts: [offer({}), offer({ amount: '20000' })] }),
  }),
  complete('the entry has the price with zeroes', weather({ price: '0.010000' })),
  complete('the entry has the price with a currency sign', weather({ price_usd: '$0.01' })),
  complete('the entry has the price as a number', weather({ priceUsd: 0.01 })),
  complete('two requests get two prices, and the entry has a third', {
    ...weather({ price: '$0.02' }),
    resources: resources([
      resource({
        get: ['10000', '12000'].map((amount) =>
          challenge402(challengeV2({ accepts: [offer({ amount })] })),
        ),
      }),
    ]),
  }),
  complete('the live amount is malformed', {
    ...weather({ price: '$0.02' }),
    resources: resources([
      resource({ get: challenge402(challengeV2({ accepts: [offer({ amount: '$0.01' })] })) }),
    ]),
  }),
  complete('the entries are texts with methods', listing('GET /weather', 'POST /summaries')),
  complete('the entry has its URL in an object', listing({ resource: { url: WEATHER } })),
  complete('the entry is a path template', listing(`${ORIGIN}/users/{id}`)),
  complete(
    'the list has the name endpoints',
    serving({ endpoints: [{ url: WEATHER, method: 'GET' }] }),
  ),
  complete(
    'the list has the name items',
    serving({ items: [{ resource: WEATHER }], pagination: { total: 1 } }),
  ),
  complete(
    'a discovery document has the paths as keys',
    serving({
      discoveryDocument: { x402Version: '2', resources: { '/weather': { accepts: [] } } },
    }),
  ),
  complete('nothing answers 402', {
    ...listing(WEATHER),
    resources: resources([]),
  }),
  {
    name: 'the origin is plain http, which the scan allows',
    seen: {
      ...listing('http://seller.example/weather'),
      origin: { ...perfectSeller().origin, url: 'http://seller.example', scheme: 'http', port: 80 },
    },
    expect: { status: 'pass', outcome: 'complete', evidence: ['1 entries'] },
  },
  {
    name: 'both entries are on this origin',
    seen: {},
    expect: { status: 'pass', outcome: 'complete', evidence: ['2 entries'] },
  },
];

export default cases;
