import type { CheckCase } from '#check';
import type { JsonObject, JsonValue } from '#parse/json';
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
import { CONTRADICTION_CASES } from '../../test/fixtures/observations/contradiction-cases.ts';
import { offering } from '../../test/fixtures/observations/seen-challenges.ts';
import { UNIT_CASES } from '../../test/fixtures/observations/unit-cases.ts';

const SUI = { network: 'sui:mainnet', asset: '0x2::sui::SUI', payTo: '0x1eb7', extra: {} };

const UNKNOWN_TOKEN = `0x${'ab'.repeat(20)}`;
const WALLET = '0x77777777Dcc4d5A8B6E418Fd04D8997ef11000eE';
const GATEWAY = {
  amount: '100',
  extra: { name: 'GatewayWalletBatched', version: '1', verifyingContract: WALLET },
};
const ENTRIES_AS_TEXTS = { accepts: ['exact'] };
const NOT_JUDGED = { status: 'warn', basis: 'not_determined' } as const;
const NO_MANIFEST = { manifest: NOT_FOUND };
const NO_DOCUMENTS = { openapi: NOT_FOUND, manifest: NOT_FOUND };

/** GET /weather answers each request with the next list of offers. */
function withOffers(...probes: readonly (readonly JsonObject[])[]): CheckCase['seen'] {
  const get = probes.map((accepts) => challenge402(challengeV2({ accepts })));
  return { resources: resources([resource({ get })]) };
}

/** OpenAPI declares this `x-payment-info` for GET /weather. The live price is 10000 base units. */
function withInfo(info: JsonValue): CheckCase['seen'] {
  const paths = { '/weather': { get: paidOperation({ 'x-payment-info': info }) } };
  return { openapi: answer(200, openApiDocument({ paths })), ...NO_MANIFEST };
}

function fixedPrice(amount: string, currency = 'USD'): JsonObject {
  return { price: { mode: 'fixed', currency, amount }, protocols: [{ x402: {} }] };
}

function dynamicPrice(min: string | undefined, max: string | undefined): JsonObject {
  return { price: { mode: 'dynamic', currency: 'USD', min, max }, protocols: [{ x402: {} }] };
}

/** Only the manifest declares a price of GET /weather. */
function withManifestEntry(entry: JsonObject): CheckCase['seen'] {
  const endpoints = [{ resource: `${ORIGIN}/weather`, method: 'GET', ...entry }];
  return { openapi: NOT_FOUND, manifest: answer(200, manifestDocument({ endpoints })) };
}

/** The only resource is GET /weather, and only the manifest declares its price. */
function withManifestOnly(entry: JsonObject): CheckCase['seen'] {
  return { resources: resources([resource()]), ...withManifestEntry(entry) };
}

function uptoOffer(amount: string): JsonObject {
  return offer({ scheme: 'upto', amount, extra: { facilitatorAddress: PAY_TO } });
}

function agrees(name: string, seen: CheckCase['seen']): CheckCase {
  return {
    name,
    seen: { ...withOffers([offer()]), ...seen },
    expect: { status: 'pass', outcome: 'agrees' },
  };
}

function badAmount(name: string, amount: JsonValue | undefined, evidence: string): CheckCase {
  return {
    name,
    seen: withOffers([offer({ amount })]),
    expect: { status: 'fail', outcome: 'malformed-amount', evidence: ['GET /weather', evidence] },
  };
}

const cases: readonly CheckCase[] = [
  {
    name: 'the OpenAPI document is over our limits, and the manifest declares the price',
    seen: { openapi: answer(200, '{"openapi":"3.1.0",', {}, { truncated: true }) },
    expect: { status: 'pass', outcome: 'agrees', evidence: ['not compared: GET /openapi.json'] },
  },
  ...CONTRADICTION_CASES,
  badAmount('the amount is zero', '0', '/accepts/0/amount is "0"'),
  badAmount('the amount is negative', '-10000', '"-10000"'),
  badAmount('the amount is a decimal', '0.01', '"0.01"'),
  badAmount('the amount is missing', undefined, 'missing'),
  badAmount('the amount is a number', 10_000, '10000'),
  badAmount('the amount has 79 digits', '1'.repeat(79), '111'),
  {
    name: 'accepts is empty',
    seen: withOffers([]),
    expect: { ...NOT_JUDGED, outcome: 'no-offer', evidence: ['/accepts: [] (see P3)'] },
  },
  {
    name: 'the entries of accepts are texts',
    seen: {
      resources: resources([resource({ get: challenge402(challengeV2(ENTRIES_AS_TEXTS)) })]),
    },
    expect: { ...NOT_JUDGED, outcome: 'no-offer', evidence: ['/accepts: ["exact"]'] },
  },
  {
    name: 'the only offer has an unknown scheme',
    seen: withOffers([{ scheme: 'nvm:erc4337', network: 'eip155:8453' }]),
    expect: { ...NOT_JUDGED, outcome: 'unknown', evidence: ['"nvm:erc4337" on "eip155:8453"'] },
  },
  {
    name: 'the only offer is signed for another contract',
    seen: withOffers([offer(GATEWAY)]),
    expect: { ...NOT_JUDGED, outcome: 'unknown', evidence: ['"GatewayWalletBatched"'] },
  },
  {
    name: 'a cheaper offer for another contract stands beside one with the declared price',
    seen: withOffers([offer(GATEWAY), offer()]),
    expect: { status: 'pass', outcome: 'agrees' },
  },
  {
    name: 'a version 1 offer has no maxAmountRequired',
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
    name: 'the second request gets a malformed amount',
    seen: withOffers([offer()], [offer({ amount: 'free' })]),
    expect: { status: 'fail', outcome: 'malformed-amount', evidence: ['"free"'] },
  },
  {
    name: 'one offer is sound, another has a malformed amount',
    seen: withOffers([offer(), offer({ amount: '$0.01' })]),
    expect: { status: 'pass', outcome: 'agrees' },
  },
  {
    name: 'one offer is sound, another has another price and an unknown scheme',
    seen: withOffers([offer(), offer({ scheme: 'barter', amount: '99' })]),
    expect: { status: 'pass', outcome: 'agrees' },
  },
  {
    name: 'one offer is sound, another has another price and no domain',
    seen: withOffers([offer(), offer({ extra: {}, amount: '99' })]),
    expect: { status: 'pass', outcome: 'agrees' },
  },
  {
    name: 'one offer is sound, another has the symbol of its asset',
    seen: withOffers([offer({ asset: 'USDC' }), offer()]),
    expect: { status: 'pass', outcome: 'agrees' },
  },
  {
    name: 'network and amount are objects',
    seen: withOffers([offer({ network: { toString: 1 }, amount: { toString: 1 } })]),
    expect: { status: 'fail', outcome: 'malformed-amount', evidence: ['/accepts/0'] },
  },
  {
    name: 'one offer has the declared price, another is a ceiling',
    seen: withOffers([offer(), uptoOffer('50000')]),
    expect: { status: 'pass', outcome: 'ceiling', evidence: ['/accepts/1', '"50000"'] },
  },
  {
    name: 'the only offer is a ceiling above the declared price',
    seen: withOffers([uptoOffer('50000')]),
    expect: { status: 'pass', outcome: 'ceiling', evidence: ['/accepts/0'] },
  },
  {
    name: 'one offer has an undeclared price, another is a ceiling',
    seen: { ...withOffers([offer(), uptoOffer('50000')]), ...NO_DOCUMENTS },
    expect: { status: 'warn', outcome: 'undeclared' },
  },
  {
    name: 'the ceiling is below the declared min',
    seen: { ...withOffers([uptoOffer('9999')]), ...withInfo(dynamicPrice('0.01', '0.05')) },
    expect: { status: 'pass', outcome: 'ceiling' },
  },
  {
    name: 'the ceiling equals the declared max',
    seen: { ...withOffers([uptoOffer('50000')]), ...withInfo(dynamicPrice('0.01', '0.05')) },
    expect: { status: 'pass', outcome: 'ceiling' },
  },
  {
    name: 'the ceiling is one base unit above the declared max',
    seen: { ...withOffers([uptoOffer('50001')]), ...withInfo(dynamicPrice('0.01', '0.05')) },
    expect: { status: 'warn', outcome: 'out-of-range', evidence: ['50001', '0 to 50000'] },
  },
  {
    name: 'the manifest declares the ceiling and the price of both offers',
    seen: {
      ...withOffers([offer(), uptoOffer('50000')]),
      ...withManifestEntry({ accepts: [uptoOffer('50000'), offer()] }),
    },
    expect: { status: 'pass', outcome: 'ceiling' },
  },
  {
    name: 'the only offer has the symbol of its asset',
    seen: withOffers([offer({ asset: 'USDC' })]),
    expect: {
      status: 'fail',
      outcome: 'malformed-asset',
      evidence: ['/accepts/0/asset is "USDC"'],
    },
  },
  {
    name: 'the asset is the zero address',
    seen: withOffers([offer({ asset: `0x${'0'.repeat(40)}` })]),
    expect: { status: 'fail', outcome: 'malformed-asset', evidence: ['0x0000'] },
  },
  {
    name: 'two requests get two prices, and no range is declared',
    seen: withOffers([offer()], [offer({ amount: '12000' })]),
    expect: { status: 'fail', outcome: 'probes-differ', evidence: ['"10000"', '"12000"'] },
  },
  {
    name: 'two requests get two prices, and the declared range has no bounds',
    seen: {
      ...withOffers([offer()], [offer({ amount: '12000' })]),
      ...withInfo(dynamicPrice(undefined, undefined)),
    },
    expect: { status: 'fail', outcome: 'probes-differ' },
  },
  {
    name: 'OpenAPI declares 0.05, and the challenge asks for 0.01',
    seen: { ...withOffers([offer()]), ...withInfo(fixedPrice('0.05')) },
    expect: {
      status: 'fail',
      outcome: 'mismatch',
      evidence: ['asks 10000 base units', '/openapi.json#/paths/~1weather/get', 'declares 50000'],
    },
  },
  {
    name: 'the challenge asks for one base unit more than declared',
    seen: {
      ...withOffers([offer({ amount: '10001' })]),
      ...withInfo(fixedPrice('0.010000')),
    },
    expect: { status: 'fail', outcome: 'mismatch', evidence: ['10001', '10000'] },
  },
  {
    name: 'the second offer asks for more than declared',
    seen: withOffers([
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
    name: 'the manifest declares $0.02, and the challenge asks for 0.01',
    seen: withManifestOnly({ price: '$0.02' }),
    expect: {
      status: 'fail',
      outcome: 'mismatch',
      evidence: ['asks 10000 base units', 'manifest at /endpoints/0', '"0.02"'],
    },
  },
  {
    name: 'the manifest declares other base units',
    seen: withManifestOnly({ accepts: [offer({ amount: '999' })] }),
    expect: { status: 'fail', outcome: 'mismatch', evidence: ['"999"'] },
  },
  {
    name: 'OpenAPI declares the live price, and the manifest another one',
    seen: { ...withManifestOnly({ price: 0.5 }), openapi: answer(200, openApiDocument()) },
    expect: { status: 'fail', outcome: 'mismatch', evidence: ['"0.5"'] },
  },
  {
    name: 'a version 1 challenge asks for another price than OpenAPI declares',
    seen: {
      resources: resources([resource({ get: bodyChallenge402() })]),
      ...withInfo(fixedPrice('0.02')),
    },
    expect: { status: 'fail', outcome: 'mismatch', evidence: ['declares 20000'] },
  },
  {
    name: 'OpenAPI declares another MPP amount in base units',
    seen: {
      ...withOffers([offer()]),
      ...withInfo({ offers: [{ intent: 'charge', amount: '20000', currency: 'USDC.e' }] }),
    },
    expect: { status: 'fail', outcome: 'mismatch', evidence: ['declares 20000'] },
  },
  {
    name: 'the second request gets a price above the declared range',
    seen: {
      ...withOffers([offer()], [offer({ amount: '50001' })]),
      ...withInfo(dynamicPrice('0.01', '0.05')),
    },
    expect: { status: 'warn', outcome: 'out-of-range', evidence: ['50001', '10000 to 50000'] },
  },
  {
    name: 'the price is below the declared range',
    seen: {
      ...withOffers([offer({ amount: '9999' })]),
      ...withInfo(dynamicPrice('0.01', undefined)),
    },
    expect: { status: 'warn', outcome: 'out-of-range', evidence: ['9999', '10000 to any'] },
  },
  {
    name: 'the offer asks for a token with unknown decimals',
    seen: withOffers([offer({ asset: UNKNOWN_TOKEN })]),
    expect: { status: 'warn', outcome: 'unknown-decimals', evidence: [UNKNOWN_TOKEN] },
  },
  {
    name: 'one offer has the declared price, another is in a token with unknown decimals',
    seen: withOffers([offer(), offer({ amount: '10000000000000000', asset: UNKNOWN_TOKEN })]),
    expect: {
      status: 'pass',
      outcome: 'agrees',
      evidence: ['not compared: /accepts/1', 'decimals are unknown'],
    },
  },
  {
    name: 'one offer has another price than declared, another is in a token with unknown decimals',
    seen: withOffers([offer({ amount: '20000' }), offer({ asset: UNKNOWN_TOKEN })]),
    expect: { status: 'fail', outcome: 'mismatch', evidence: ['asks 20000 base units'] },
  },
  ...UNIT_CASES,
  {
    name: 'the seller has neither OpenAPI nor a manifest',
    seen: { ...withOffers([offer()]), ...NO_DOCUMENTS },
    expect: { status: 'warn', outcome: 'undeclared', evidence: ['GET /weather'] },
  },
  {
    name: 'OpenAPI declares a price in euros',
    seen: { ...withOffers([offer()]), ...withInfo(fixedPrice('0.01', 'EUR')) },
    expect: { status: 'warn', outcome: 'undeclared' },
  },
  {
    name: 'OpenAPI declares the price "one cent"',
    seen: { ...withOffers([offer()]), ...withInfo(fixedPrice('one cent')) },
    expect: { status: 'warn', outcome: 'undeclared' },
  },
  {
    name: 'one of two resources has no declared price',
    seen: { resources: resources([resource(), resource({ path: '/b' })]) },
    expect: { status: 'warn', outcome: 'undeclared', evidence: ['GET /b'] },
  },
  {
    name: 'OpenAPI declares only the price of another method',
    seen: {
      resources: resources([resource({ method: 'POST', path: '/weather' })]),
      ...NO_MANIFEST,
    },
    expect: { status: 'warn', outcome: 'undeclared', evidence: ['POST /weather'] },
  },
  agrees('two requests get the min and the max of the declared range', {
    ...withOffers([offer()], [offer({ amount: '50000' })]),
    ...withInfo(dynamicPrice('0.01', '0.05')),
  }),
  agrees('OpenAPI declares a legacy flat price', withInfo({ price: '0.01' })),
  agrees(
    'OpenAPI declares a legacy range',
    withInfo({ pricingMode: 'range', minPrice: '0.01', maxPrice: '0.02' }),
  ),
  agrees(
    'OpenAPI declares the MPP amount in base units',
    withInfo({ offers: [{ intent: 'charge', amount: '10000', currency: 'USDC.e' }] }),
  ),
  agrees(
    'only a manifest declares the price, with zeroes at its end',
    withManifestOnly({ price: '$0.010000' }),
  ),
  agrees('only a manifest declares the price, as a number', withManifestOnly({ price_usd: 0.01 })),
  agrees(
    'only a manifest declares the price, in base units',
    withManifestOnly({ accepts: [offer()] }),
  ),
  agrees('a manifest declares a higher price for POST than for GET', {
    openapi: NOT_FOUND,
    manifest: answer(200, {
      resources: [
        { url: `${ORIGIN}/weather`, method: 'POST', price: '$0.05' },
        { url: `${ORIGIN}/weather`, method: 'GET', price: '$0.01' },
      ],
    }),
  }),
  agrees(
    'the second request gets the offers in another order',
    withOffers(
      [offer(), offer({ network: 'eip155:84532', asset: USDC_BASE_SEPOLIA })],
      [offer({ network: 'eip155:84532', asset: USDC_BASE_SEPOLIA }), offer()],
    ),
  ),
  {
    name: 'each answer has another id in WWW-Authenticate',
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
  // OpenAPI has GET /users/{id} behind the base path /v1.
  ...(['/v1/users/:id', '/v1/users/{user_id}', '/v1/users/[id]', '/v2/users/:id'] as const).map(
    (address): CheckCase => ({
      name: `a manifest states another price of ${address}`,
      seen: {
        ...withManifestEntry({ resource: `${ORIGIN}${address}`, price: '$0.02' }),
        resources: resources([resource({ path: '/v1/users/1?full=1', template: '/users/{id}' })]),
      },
      expect: address.startsWith('/v2')
        ? { status: 'warn', outcome: 'undeclared' }
        : { status: 'fail', outcome: 'mismatch', evidence: ['/endpoints/0', '"0.02"'] },
    }),
  ),
  {
    name: 'OpenAPI declares the price for a path template',
    seen: {
      resources: resources([resource({ path: '/users/1', template: '/users/{id}' })]),
      openapi: answer(200, openApiDocument({ paths: { '/users/{id}': { get: paidOperation() } } })),
    },
    expect: { status: 'pass', outcome: 'agrees' },
  },
  {
    name: 'the manifest declares another price for a path in the notation of routers',
    seen: {
      resources: resources([resource({ path: '/users/1', template: '/users/{id}' })]),
      openapi: NOT_FOUND,
      manifest: answer(
        200,
        manifestDocument({ endpoints: [{ path: '/users/:id', method: 'GET', price: '$0.07' }] }),
      ),
    },
    expect: { status: 'fail', outcome: 'mismatch', evidence: ['GET /users/1', '0.07'] },
  },
  {
    name: 'both resources ask for the declared price',
    seen: {},
    expect: { status: 'pass', outcome: 'agrees', evidence: ['2 of 2 resources'] },
  },
  {
    name: 'a tool asks for the price that tools/list declares',
    seen: {
      resources: resources([toolResource({ price: { dollars: '0.01', member: '/_meta/p' } })]),
    },
    expect: { status: 'pass', outcome: 'agrees', evidence: ['1 of 1'] },
  },
  {
    name: 'a tool asks for more than tools/list declares',
    seen: {
      resources: resources([toolResource({ price: { dollars: '0.001', member: '/_meta/p' } })]),
    },
    expect: { status: 'fail', outcome: 'mismatch', evidence: ['tools/list', '0.001', '10000'] },
  },
  {
    name: 'tools/list declares no price for a tool',
    seen: { resources: resources([toolResource()]) },
    expect: { status: 'warn', outcome: 'undeclared', evidence: ['tools/list'] },
  },
  {
    name: 'the only POST answers 422, without a challenge',
    seen: { resources: resources([resource({ method: 'POST', post: answer(422) })]) },
    expect: { status: 'warn', outcome: 'unseen', basis: 'not_determined', evidence: ['0 of 1'] },
  },
  {
    name: 'the only offer is on Sui, which is not judged',
    seen: offering(SUI),
    expect: {
      status: 'warn',
      outcome: 'named',
      basis: 'not_determined',
      evidence: ['"exact" on "sui:mainnet" is known, not judged here'],
    },
  },
  {
    name: 'one offer is on Sui, which is not judged, another on Base',
    seen: offering(SUI, {}),
    expect: { status: 'pass', outcome: 'agrees' },
  },
];

export default cases;
