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

const catchAll = html(200, '<!doctype html><title>Seller</title>');
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

const odd = challenge402(
  challengeV2({
    accepts: [offer({ amount: [{ toString: 1 }] }), offer({ amount: { toString: 1 } })],
  }),
);

const cases: readonly CheckCase[] = [
  complete('amounts that have no text are the finding of P6', {
    ...weather({ price: '$0.01' }),
    resources: resources([resource({ get: [odd, odd] })]),
  }),
  {
    name: 'no answer',
    seen: { manifest: failure('reset') },
    expect: { status: 'fail', outcome: 'unreadable', evidence: ['/.well-known/x402: reset'] },
  },
  {
    name: '404',
    seen: { manifest: NOT_FOUND },
    expect: { status: 'fail', outcome: 'absent', evidence: ['GET /.well-known/x402: 404'] },
  },
  {
    name: 'the same page as everywhere',
    seen: { manifest: catchAll, soft404: catchAll },
    expect: { status: 'fail', outcome: 'soft-404', evidence: ['/.well-known/x402'] },
  },
  {
    name: 'a page for people',
    seen: { manifest: html(200, '<h1>We take x402</h1>') },
    expect: { status: 'fail', outcome: 'html', evidence: ['/.well-known/x402'] },
  },
  {
    name: 'longer than the read limit',
    seen: { manifest: answer(200, '{"resources":[', {}, { truncated: true }) },
    expect: { status: 'fail', outcome: 'oversize', evidence: ['/.well-known/x402'] },
  },
  {
    name: 'text',
    seen: { manifest: answer(200, 'x402 spoken here') },
    expect: { status: 'fail', outcome: 'not-json', evidence: ['not JSON'] },
  },
  {
    name: 'an object without a list',
    seen: serving({ x402Version: 2, payTo: PAY_TO }),
    expect: { status: 'fail', outcome: 'unknown-shape', evidence: ['/.well-known/x402'] },
  },
  {
    name: 'a bare list',
    seen: serving([WEATHER]),
    expect: { status: 'fail', outcome: 'unknown-shape' },
  },
  {
    name: 'an empty list',
    seen: listing(),
    expect: { status: 'fail', outcome: 'no-entries', evidence: ['0 entries'] },
  },
  {
    name: 'only with .json',
    seen: { manifest: NOT_FOUND, manifestJson: answer(200, manifestDocument()) },
    expect: {
      status: 'warn',
      outcome: 'only-json',
      evidence: ['/.well-known/x402.json has 2 entries'],
    },
  },
  {
    name: 'with .json, and JSON of no known shape without',
    seen: {
      manifest: answer(200, { version: 1 }),
      manifestJson: answer(200, manifestDocument()),
    },
    expect: { status: 'warn', outcome: 'only-json', evidence: ['has no such list'] },
  },
  {
    name: 'http with the own host, behind a proxy',
    seen: listing('http://seller.example/weather'),
    expect: {
      status: 'warn',
      outcome: 'http-entries',
      evidence: ['1 of 1', '#/resources/0', 'http://seller.example/weather'],
    },
  },
  {
    name: 'only resources of others',
    seen: listing('https://other.example/weather'),
    expect: {
      status: 'warn',
      outcome: 'no-own-entry',
      evidence: ['https://other.example/weather'],
    },
  },
  {
    name: 'resources of others beside its own',
    seen: listing(WEATHER, 'https://other.example/a'),
    expect: { status: 'warn', outcome: 'off-origin', evidence: ['1 of 2', '#/resources/1'] },
  },
  {
    name: 'another recipient',
    seen: weather({ payTo: OTHER_PAY_TO }),
    expect: {
      status: 'warn',
      outcome: 'recipient-differs',
      evidence: ['#/resources/0/payTo', OTHER_PAY_TO, 'GET /weather', PAY_TO],
    },
  },
  {
    name: 'another recipient and another price',
    seen: weather({ payTo: OTHER_PAY_TO, price: '$1' }),
    expect: { status: 'warn', outcome: 'recipient-differs' },
  },
  {
    name: 'another price',
    seen: weather({ price: '$0.02' }),
    expect: {
      status: 'warn',
      outcome: 'price-differs',
      evidence: ['#/resources/0', '"0.02"', '"10000"'],
    },
  },
  {
    name: 'another price on the second network of accepts',
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
    name: 'another recipient on the second network of accepts',
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
  complete('a second price on one network is another tier', {
    ...weather({ accepts: [offer({}), offer({ amount: '20000' })] }),
  }),
  complete('the price with zeroes', weather({ price: '0.010000' })),
  complete('the price with a currency sign', weather({ price_usd: '$0.01' })),
  complete('the price as a number', weather({ priceUsd: 0.01 })),
  complete('the price of a resource that changes its mind is for P6', {
    ...weather({ price: '$0.02' }),
    resources: resources([
      resource({
        get: ['10000', '12000'].map((amount) =>
          challenge402(challengeV2({ accepts: [offer({ amount })] })),
        ),
      }),
    ]),
  }),
  complete('a live amount that is none is for P6', {
    ...weather({ price: '$0.02' }),
    resources: resources([
      resource({ get: challenge402(challengeV2({ accepts: [offer({ amount: '$0.01' })] })) }),
    ]),
  }),
  complete('a list of texts, with methods', listing('GET /weather', 'POST /summaries')),
  complete('objects with an address inside', listing({ resource: { url: WEATHER } })),
  complete('a path template', listing(`${ORIGIN}/users/{id}`)),
  complete('endpoints', serving({ endpoints: [{ url: WEATHER, method: 'GET' }] })),
  complete('items', serving({ items: [{ resource: WEATHER }], pagination: { total: 1 } })),
  complete(
    'a discovery document by paths, its version as text',
    serving({
      discoveryDocument: { x402Version: '2', resources: { '/weather': { accepts: [] } } },
    }),
  ),
  complete('no challenge was seen: nothing to hold it against', {
    ...listing(WEATHER),
    resources: resources([]),
  }),
  {
    name: 'an http origin that is allowed',
    seen: {
      ...listing('http://seller.example/weather'),
      origin: { ...perfectSeller().origin, url: 'http://seller.example', scheme: 'http', port: 80 },
    },
    expect: { status: 'pass', outcome: 'complete', evidence: ['1 entries'] },
  },
  {
    name: 'all right',
    seen: {},
    expect: { status: 'pass', outcome: 'complete', evidence: ['2 entries'] },
  },
];

export default cases;
