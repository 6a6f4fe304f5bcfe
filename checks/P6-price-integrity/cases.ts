import type { CheckCase } from '../../src/engine/define-check.ts';
import type { JsonObject, JsonValue } from '../../src/parse/json/json.ts';
import {
  answer,
  bodyChallenge402,
  challenge402,
  challengeV1,
  challengeV2,
  manifestDocument,
  NOT_FOUND,
  ORIGIN,
  offer,
  offerV1,
  openApiDocument,
  PAY_TO,
  paidOperation,
  resource,
  resources,
  toolResource,
  USDC_BASE_SEPOLIA,
} from '../../test/fixtures/observations/build-observations.ts';
import { offering } from '../../test/fixtures/observations/seen-challenges.ts';

const SUI = { network: 'sui:mainnet', asset: '0x2::sui::SUI', payTo: '0x1eb7', extra: {} };

const UNKNOWN_TOKEN = `0x${'ab'.repeat(20)}`;
const noManifest = { manifest: NOT_FOUND };
const nothingDeclared = { openapi: NOT_FOUND, manifest: NOT_FOUND };

/** The offers of GET /weather, for each of its probes. */
function asking(...probes: readonly (readonly JsonObject[])[]): CheckCase['seen'] {
  const get = probes.map((accepts) => challenge402(challengeV2({ accepts })));
  return { resources: resources([resource({ get })]) };
}

/** The declared `x-payment-info` of GET /weather; the live price is 10000 base units. */
function declaring(info: JsonValue): CheckCase['seen'] {
  const paths = { '/weather': { get: paidOperation({ 'x-payment-info': info }) } };
  return { openapi: answer(200, openApiDocument({ paths })), ...noManifest };
}

function fixed(amount: string, currency = 'USD'): JsonObject {
  return { price: { mode: 'fixed', currency, amount }, protocols: [{ x402: {} }] };
}

function dynamic(min: string | undefined, max: string | undefined): JsonObject {
  return { price: { mode: 'dynamic', currency: 'USD', min, max }, protocols: [{ x402: {} }] };
}

function manifestPrice(entry: JsonObject): CheckCase['seen'] {
  const endpoints = [{ resource: `${ORIGIN}/weather`, method: 'GET', ...entry }];
  const only = { resources: resources([resource()]) };
  return { ...only, openapi: NOT_FOUND, manifest: answer(200, manifestDocument({ endpoints })) };
}

/** Only the manifest declares anything of GET /weather. */
function manifestEntry(entry: JsonObject): CheckCase['seen'] {
  const { openapi, manifest } = manifestPrice(entry);
  return { ...(openapi && { openapi }), ...(manifest && { manifest }) };
}

function upto(amount: string): JsonObject {
  return offer({ scheme: 'upto', amount, extra: { facilitatorAddress: PAY_TO } });
}

function agrees(name: string, seen: CheckCase['seen']): CheckCase {
  return {
    name,
    seen: { ...asking([offer()]), ...seen },
    expect: { status: 'pass', outcome: 'agrees' },
  };
}

function malformed(name: string, amount: JsonValue | undefined, evidence: string): CheckCase {
  return {
    name,
    seen: asking([offer({ amount })]),
    expect: { status: 'fail', outcome: 'malformed-amount', evidence: ['GET /weather', evidence] },
  };
}

const cases: readonly CheckCase[] = [
  malformed('zero', '0', '/accepts/0 asks "0"'),
  malformed('negative', '-10000', '"-10000"'),
  malformed('a decimal', '0.01', '"0.01"'),
  malformed('missing', undefined, 'missing'),
  malformed('a number', 10_000, '10000'),
  malformed('79 digits', '1'.repeat(79), '111'),
  {
    name: 'no offer at all',
    seen: asking([]),
    expect: { status: 'fail', outcome: 'malformed-amount', evidence: ['/accepts'] },
  },
  {
    name: 'version 1 without maxAmountRequired',
    seen: {
      resources: resources([
        resource({
          get: bodyChallenge402(
            challengeV1({ accepts: [offerV1({ maxAmountRequired: undefined, amount: '10000' })] }),
          ),
        }),
      ]),
    },
    expect: { status: 'fail', outcome: 'malformed-amount', evidence: ['missing'] },
  },
  {
    name: 'the second probe is malformed',
    seen: asking([offer()], [offer({ amount: 'free' })]),
    expect: { status: 'fail', outcome: 'malformed-amount', evidence: ['"free"'] },
  },
  {
    name: 'a malformed amount beside a sound offer is the finding of P3',
    seen: asking([offer(), offer({ amount: '$0.01' })]),
    expect: { status: 'pass', outcome: 'agrees' },
  },
  {
    name: 'another price by a scheme that nobody knows is the finding of P3',
    seen: asking([offer(), offer({ scheme: 'barter', amount: '99' })]),
    expect: { status: 'pass', outcome: 'agrees' },
  },
  {
    name: 'another price of an offer that nobody can sign is the finding of P3',
    seen: asking([offer(), offer({ extra: {}, amount: '99' })]),
    expect: { status: 'pass', outcome: 'agrees' },
  },
  {
    name: 'an asset by its symbol, beside a sound offer',
    seen: asking([offer({ asset: 'USDC' }), offer()]),
    expect: { status: 'pass', outcome: 'agrees' },
  },
  {
    name: 'values of every other type than text',
    seen: asking([offer({ network: { toString: 1 }, amount: { toString: 1 } })]),
    expect: { status: 'fail', outcome: 'malformed-amount', evidence: ['/accepts/0'] },
  },
  {
    name: 'a ceiling beside the declared price',
    seen: asking([offer(), upto('50000')]),
    expect: { status: 'pass', outcome: 'ceiling', evidence: ['/accepts/1', '"50000"'] },
  },
  {
    name: 'only a ceiling is not compared with a fixed price',
    seen: asking([upto('50000')]),
    expect: { status: 'pass', outcome: 'ceiling', evidence: ['/accepts/0'] },
  },
  {
    name: 'a ceiling beside a price that nobody declares',
    seen: { ...asking([offer(), upto('50000')]), ...nothingDeclared },
    expect: { status: 'warn', outcome: 'undeclared' },
  },
  {
    name: 'a ceiling below the declared min: less may be paid anyway',
    seen: { ...asking([upto('9999')]), ...declaring(dynamic('0.01', '0.05')) },
    expect: { status: 'pass', outcome: 'ceiling' },
  },
  {
    name: 'a ceiling at the declared max',
    seen: { ...asking([upto('50000')]), ...declaring(dynamic('0.01', '0.05')) },
    expect: { status: 'pass', outcome: 'ceiling' },
  },
  {
    name: 'a ceiling one base unit above the declared max',
    seen: { ...asking([upto('50001')]), ...declaring(dynamic('0.01', '0.05')) },
    expect: { status: 'warn', outcome: 'out-of-range', evidence: ['50001', '0 to 50000'] },
  },
  {
    name: 'the manifest states ceiling and price: the price is compared',
    seen: {
      ...asking([offer(), upto('50000')]),
      ...manifestEntry({ accepts: [upto('50000'), offer()] }),
    },
    expect: { status: 'pass', outcome: 'ceiling' },
  },
  {
    name: 'an asset by its symbol',
    seen: asking([offer({ asset: 'USDC' })]),
    expect: {
      status: 'fail',
      outcome: 'malformed-asset',
      evidence: ['/accepts/0/asset is "USDC"'],
    },
  },
  {
    name: 'an asset at the zero address',
    seen: asking([offer({ asset: `0x${'0'.repeat(40)}` })]),
    expect: { status: 'fail', outcome: 'malformed-asset', evidence: ['0x0000'] },
  },
  {
    name: 'two probes, two prices, no range',
    seen: asking([offer()], [offer({ amount: '12000' })]),
    expect: { status: 'fail', outcome: 'probes-differ', evidence: ['"10000"', '"12000"'] },
  },
  {
    name: 'two probes differ, and the dynamic price has no bounds',
    seen: {
      ...asking([offer()], [offer({ amount: '12000' })]),
      ...declaring(dynamic(undefined, undefined)),
    },
    expect: { status: 'fail', outcome: 'probes-differ' },
  },
  {
    name: 'OpenAPI says 0.05, the challenge 0.01',
    seen: { ...asking([offer()]), ...declaring(fixed('0.05')) },
    expect: {
      status: 'fail',
      outcome: 'mismatch',
      evidence: ['asks 10000 base units', '/openapi.json#/paths/~1weather/get', 'declares 50000'],
    },
  },
  {
    name: 'one base unit too much',
    seen: { ...asking([offer({ amount: '10001' })]), ...declaring(fixed('0.010000')) },
    expect: { status: 'fail', outcome: 'mismatch', evidence: ['10001', '10000'] },
  },
  {
    name: 'the second offer asks for more',
    seen: asking([
      offer(),
      offer({
        network: 'eip155:84532',
        asset: USDC_BASE_SEPOLIA,
        amount: '20000',
        extra: { name: 'USDC', version: '2' },
      }),
    ]),
    expect: { status: 'fail', outcome: 'mismatch', evidence: ['20000'] },
  },
  {
    name: 'the manifest says $0.02',
    seen: manifestPrice({ price: '$0.02' }),
    expect: {
      status: 'fail',
      outcome: 'mismatch',
      evidence: ['asks 10000 base units', 'manifest at /endpoints/0', '"0.02"'],
    },
  },
  {
    name: 'the manifest has base units that differ',
    seen: manifestPrice({ accepts: [offer({ amount: '999' })] }),
    expect: { status: 'fail', outcome: 'mismatch', evidence: ['"999"'] },
  },
  {
    name: 'OpenAPI agrees, the manifest does not',
    seen: { ...manifestPrice({ price: 0.5 }), openapi: answer(200, openApiDocument()) },
    expect: { status: 'fail', outcome: 'mismatch', evidence: ['"0.5"'] },
  },
  {
    name: 'version 1 is compared by its own names',
    seen: {
      resources: resources([resource({ get: bodyChallenge402() })]),
      ...declaring(fixed('0.02')),
    },
    expect: { status: 'fail', outcome: 'mismatch', evidence: ['declares 20000'] },
  },
  {
    name: 'MPP amounts are base units',
    seen: {
      ...asking([offer()]),
      ...declaring({ offers: [{ intent: 'charge', amount: '20000', currency: 'USDC.e' }] }),
    },
    expect: { status: 'fail', outcome: 'mismatch', evidence: ['declares 20000'] },
  },
  {
    name: 'above the declared range',
    seen: {
      ...asking([offer()], [offer({ amount: '50001' })]),
      ...declaring(dynamic('0.01', '0.05')),
    },
    expect: { status: 'warn', outcome: 'out-of-range', evidence: ['50001', '10000 to 50000'] },
  },
  {
    name: 'below the declared range',
    seen: { ...asking([offer({ amount: '9999' })]), ...declaring(dynamic('0.01', undefined)) },
    expect: { status: 'warn', outcome: 'out-of-range', evidence: ['9999', '10000 to any'] },
  },
  {
    name: 'a token whose decimals are unknown',
    seen: asking([offer({ asset: UNKNOWN_TOKEN })]),
    expect: { status: 'warn', outcome: 'unknown-decimals', evidence: [UNKNOWN_TOKEN] },
  },
  {
    name: 'nothing is declared',
    seen: { ...asking([offer()]), ...nothingDeclared },
    expect: { status: 'warn', outcome: 'undeclared', evidence: ['GET /weather'] },
  },
  {
    name: 'a price in another currency',
    seen: { ...asking([offer()]), ...declaring(fixed('0.01', 'EUR')) },
    expect: { status: 'warn', outcome: 'undeclared' },
  },
  {
    name: 'a declared price that is not a number',
    seen: { ...asking([offer()]), ...declaring(fixed('one cent')) },
    expect: { status: 'warn', outcome: 'undeclared' },
  },
  {
    name: 'one of two resources declares no price',
    seen: { resources: resources([resource(), resource({ path: '/b' })]) },
    expect: { status: 'warn', outcome: 'undeclared', evidence: ['GET /b'] },
  },
  {
    name: 'OpenAPI has the price of another method',
    seen: { resources: resources([resource({ method: 'POST', path: '/weather' })]), ...noManifest },
    expect: { status: 'warn', outcome: 'undeclared', evidence: ['POST /weather'] },
  },
  agrees('within the range at both ends', {
    ...asking([offer()], [offer({ amount: '50000' })]),
    ...declaring(dynamic('0.01', '0.05')),
  }),
  agrees('a legacy flat price', declaring({ price: '0.01' })),
  agrees('a legacy range', declaring({ pricingMode: 'range', minPrice: '0.01', maxPrice: '0.02' })),
  agrees(
    'MPP base units',
    declaring({ offers: [{ intent: 'charge', amount: '10000', currency: 'USDC.e' }] }),
  ),
  agrees('only a manifest, with zeroes', manifestPrice({ price: '$0.010000' })),
  agrees('a manifest with a number', manifestPrice({ price_usd: 0.01 })),
  agrees('a manifest with base units', manifestPrice({ accepts: [offer()] })),
  agrees('a manifest whose POST costs more than its GET', {
    openapi: NOT_FOUND,
    manifest: answer(200, {
      resources: [
        { url: `${ORIGIN}/weather`, method: 'POST', price: '$0.05' },
        { url: `${ORIGIN}/weather`, method: 'GET', price: '$0.01' },
      ],
    }),
  }),
  agrees(
    'offers in another order on the second probe',
    asking(
      [offer(), offer({ network: 'eip155:84532', asset: USDC_BASE_SEPOLIA })],
      [offer({ network: 'eip155:84532', asset: USDC_BASE_SEPOLIA }), offer()],
    ),
  ),
  {
    name: 'a fresh authentication id beside the challenge is not a difference',
    seen: {
      resources: resources([
        resource({
          get: ['a', 'b'].map((id) =>
            challenge402(challengeV2(), { headers: { 'www-authenticate': `Payment id="${id}"` } }),
          ),
        }),
      ]),
    },
    expect: { status: 'pass', outcome: 'agrees', evidence: ['1 of 1'] },
  },
  {
    name: 'a path template is compared by its operation',
    seen: {
      resources: resources([resource({ path: '/users/1', template: '/users/{id}' })]),
      openapi: answer(200, openApiDocument({ paths: { '/users/{id}': { get: paidOperation() } } })),
    },
    expect: { status: 'pass', outcome: 'agrees' },
  },
  {
    name: 'all right',
    seen: {},
    expect: { status: 'pass', outcome: 'agrees', evidence: ['2 of 2 resources'] },
  },
  {
    name: 'a tool asks what tools/list states in dollars',
    seen: {
      resources: resources([toolResource({ price: { dollars: '0.01', member: '/_meta/p' } })]),
    },
    expect: { status: 'pass', outcome: 'agrees', evidence: ['1 of 1'] },
  },
  {
    name: 'a tool asks for more than tools/list states',
    seen: {
      resources: resources([toolResource({ price: { dollars: '0.001', member: '/_meta/p' } })]),
    },
    expect: { status: 'fail', outcome: 'mismatch', evidence: ['tools/list', '0.001', '10000'] },
  },
  {
    name: 'a tool without a stated price',
    seen: { resources: resources([toolResource()]) },
    expect: { status: 'warn', outcome: 'undeclared', evidence: ['tools/list'] },
  },
  {
    name: 'no challenge was seen, and P2 did not fail',
    seen: { resources: resources([resource({ method: 'POST', post: answer(422) })]) },
    expect: { status: 'warn', outcome: 'unseen', basis: 'not_determined', evidence: ['0 of 1'] },
  },
  {
    name: 'only an offer that is known and not judged',
    seen: offering(SUI),
    expect: {
      status: 'warn',
      outcome: 'named',
      basis: 'not_determined',
      evidence: ['"exact" on "sui:mainnet" is known, not judged here'],
    },
  },
  {
    name: 'an offer that is known and not judged, beside a judged one',
    seen: offering(SUI, {}),
    expect: { status: 'pass', outcome: 'agrees' },
  },
];

export default cases;
