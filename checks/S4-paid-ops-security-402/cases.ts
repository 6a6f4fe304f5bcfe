import type { CheckCase } from '#check';
import type { JsonObject, JsonValue } from '#parse/json';
import {
  answer,
  at,
  challenge402,
  challengeV2,
  freeOperation,
  NOT_FOUND,
  openApiDocument,
  paidOperation,
  resource,
  resources,
  toolResource,
} from '../../test/fixtures/observations/build-observations.ts';

const PRICE = { mode: 'fixed', currency: 'USD', amount: '0.01' };
const ONE_RESOURCE = { resources: resources([resource()]) };

function withPaths(paths: JsonObject, changes: JsonObject = {}): CheckCase['seen'] {
  return { ...ONE_RESOURCE, openapi: answer(200, openApiDocument({ paths, ...changes })) };
}

function withPaidWeather(changes: JsonObject): CheckCase['seen'] {
  return withPaths({ '/weather': { get: paidOperation(changes) } });
}

function withSchemes(securitySchemes: JsonObject): JsonObject {
  return { components: { securitySchemes } };
}

function withPaymentInfo(info: JsonValue): CheckCase['seen'] {
  return withPaidWeather({ 'x-payment-info': info });
}

const SIWX = {
  components: {
    securitySchemes: {
      x402: { type: 'http', scheme: 'x402' },
      siwx: { type: 'http', scheme: 'siwx' },
    },
  },
};
const SIGN_IN = challenge402(
  challengeV2({ accepts: [], extensions: { 'sign-in-with-x': { info: {}, schema: {} } } }),
);
const DECLARED_SIGN_IN = freeOperation({
  security: [{ siwx: [] }],
  responses: { '402': { description: 'Sign in' } },
});
const LONG_PATH = `/v1/${'catalog/'.repeat(12)}report.json`;
const WITHOUT_402 = { responses: { '200': { description: 'OK' } } };
/** FastAPI writes paid operations like this one, without `security`, a price or a 402. */
const UNDECLARED_OPERATION = freeOperation({ security: undefined });

const cases: readonly CheckCase[] = [
  {
    name: 'an operation answers 402, and a FastAPI document declares nothing',
    seen: withPaths({ '/weather': { get: UNDECLARED_OPERATION } }),
    expect: {
      status: 'fail',
      outcome: 'nothing-declared',
      evidence: ['0 of 1 operations', 'GET /weather: 402'],
    },
  },
  {
    name: 'nothing is declared, and POST answers 402 where GET answers 404',
    seen: {
      ...withPaths({ '/weather': { post: UNDECLARED_OPERATION } }),
      resources: resources([resource({ get: NOT_FOUND, post: challenge402(challengeV2()) })]),
    },
    expect: {
      status: 'fail',
      outcome: 'nothing-declared',
      evidence: ['paid, but POST /weather: 402'],
    },
  },
  {
    name: 'nothing is declared, and a path that is in no document answers 402',
    seen: withPaths({ '/health': { get: UNDECLARED_OPERATION } }),
    expect: { status: 'fail', outcome: 'nothing-declared', evidence: ['GET /weather: 402'] },
  },
  {
    name: 'one operation is declared paid, and another answers 402 without a declaration',
    seen: {
      ...withPaths({ '/a': { get: paidOperation() }, '/weather': { get: UNDECLARED_OPERATION } }),
      resources: resources([resource({ path: '/a' }), resource()]),
    },
    expect: { status: 'fail', outcome: 'undeclared-402', evidence: ['GET /weather'] },
  },
  {
    name: 'one operation is declared paid, another answers 402 to callers without credits',
    seen: {
      ...withPaths({ '/a': { get: paidOperation() }, '/usage': { get: UNDECLARED_OPERATION } }),
      resources: resources([
        resource({ path: '/a' }),
        resource({ path: '/usage', declaredPaid: false, get: answer(402, 'Out of credits') }),
      ]),
    },
    expect: { status: 'pass', outcome: 'declared' },
  },
  {
    name: 'one operation is declared paid, and another asks for MPP without a declaration',
    seen: {
      ...withPaths({ '/a': { get: paidOperation() }, '/b': { get: UNDECLARED_OPERATION } }),
      resources: resources([
        resource({ path: '/a' }),
        resource({
          path: '/b',
          declaredPaid: false,
          get: answer(402, '', { 'www-authenticate': 'Payment id="1", method="tempo"' }),
        }),
      ]),
    },
    expect: { status: 'fail', outcome: 'undeclared-402', evidence: ['GET /b'] },
  },
  {
    name: 'one operation is paid, another is a declared sign-in',
    seen: {
      ...withPaths(
        { '/weather': { get: paidOperation() }, '/profile': { get: DECLARED_SIGN_IN } },
        SIWX,
      ),
      resources: resources([resource(), resource({ path: '/profile', get: SIGN_IN })]),
    },
    expect: { status: 'pass', outcome: 'declared', evidence: ['1 of 1 paid operations'] },
  },
  {
    name: 'one operation is paid, another is an undeclared sign-in',
    seen: {
      ...withPaths({
        '/weather': { get: paidOperation() },
        '/profile': { get: UNDECLARED_OPERATION },
      }),
      resources: resources([resource(), resource({ path: '/profile', get: SIGN_IN })]),
    },
    expect: { status: 'pass', outcome: 'declared' },
  },
  {
    name: 'an operation is declared as a sign-in, and its answer has a price',
    seen: {
      ...withPaths(
        { '/weather': { get: paidOperation() }, '/profile': { get: DECLARED_SIGN_IN } },
        SIWX,
      ),
      resources: resources([resource(), resource({ path: '/profile' })]),
    },
    expect: { status: 'warn', outcome: 'no-security', evidence: ['1 of 2', 'GET /profile'] },
  },
  {
    name: 'a paid operation has a price and no 402 response',
    seen: withPaidWeather(WITHOUT_402),
    expect: {
      status: 'fail',
      outcome: 'no-402',
      evidence: ['1 of 1: GET /weather has no 402 response, /openapi.json#"/paths/'],
    },
  },
  {
    name: 'one of two paid operations has no 402 response',
    seen: withPaths({
      '/weather': { get: paidOperation() },
      '/b': { post: paidOperation(WITHOUT_402) },
    }),
    expect: { status: 'fail', outcome: 'no-402', evidence: ['1 of 2', 'POST /b'] },
  },
  {
    name: 'a paid PUT has no 402 response',
    seen: withPaths({ '/weather': { get: paidOperation(), put: paidOperation(WITHOUT_402) } }),
    expect: { status: 'fail', outcome: 'no-402', evidence: ['PUT /weather'] },
  },
  {
    name: 'the pointer of an operation is long',
    seen: withPaths({ [LONG_PATH]: { get: paidOperation(WITHOUT_402) } }),
    expect: {
      status: 'fail',
      outcome: 'no-402',
      evidence: [`${LONG_PATH.replaceAll('/', '~1')}/get"`],
    },
  },
  {
    name: 'a paid operation has an empty security',
    seen: withPaidWeather({ security: [] }),
    expect: {
      status: 'warn',
      outcome: 'no-security',
      evidence: ['/weather has an empty security'],
    },
  },
  {
    name: 'a paid operation has no security',
    seen: withPaidWeather({ security: undefined }),
    expect: {
      status: 'warn',
      outcome: 'no-security',
      evidence: ['GET /weather has no security', '/paths/~1weather/get'],
    },
  },
  {
    name: 'the security of a paid operation is an object, not a list',
    seen: withPaidWeather({ security: { x402: [] } }),
    expect: { status: 'warn', outcome: 'no-security', evidence: ['security that is not a list'] },
  },
  {
    name: 'the only scheme is an apiKey named x402, and a paid operation names it',
    seen: withPaths(
      { '/weather': { get: paidOperation() } },
      withSchemes({ x402: { type: 'apiKey', in: 'header', name: 'X-PAYMENT' } }),
    ),
    expect: { status: 'pass', outcome: 'declared' },
  },
  {
    name: 'the only scheme is an apiKey in PAYMENT-SIGNATURE, and a paid operation names it',
    seen: withPaths(
      { '/weather': { get: paidOperation({ security: [{ pay: [] }] }) } },
      withSchemes({ pay: { type: 'apiKey', in: 'header', name: 'Payment-Signature' } }),
    ),
    expect: { status: 'pass', outcome: 'declared' },
  },
  {
    name: 'the only scheme is an apiKey that carries no payment, and a paid operation names it',
    seen: withPaths(
      { '/weather': { get: paidOperation({ security: [{ key: [] }] }) } },
      withSchemes({ key: { type: 'apiKey', in: 'header', name: 'X-API-Key' } }),
    ),
    expect: { status: 'warn', outcome: 'no-security', evidence: ['has the security "key"'] },
  },
  {
    name: 'the only scheme is an apiKey that carries the payment, and a paid operation does not name it',
    seen: withPaths(
      { '/weather': { get: paidOperation({ security: [] }) } },
      withSchemes({ x402: { type: 'apiKey', in: 'header', name: 'X-PAYMENT' } }),
    ),
    expect: { status: 'warn', outcome: 'no-security' },
  },
  {
    name: 'the document has a scheme for x402, and a paid operation names only an apiKey scheme',
    seen: withPaths(
      { '/weather': { get: paidOperation({ security: [{ key: [] }] }) } },
      withSchemes({
        x402: { type: 'http', scheme: 'x402' },
        key: { type: 'apiKey', in: 'header', name: 'X-PAYMENT' },
      }),
    ),
    expect: { status: 'warn', outcome: 'no-security' },
  },
  {
    name: 'a paid operation names a scheme that the document does not have',
    seen: withPaths({ '/weather': { get: paidOperation() } }, { components: {} }),
    expect: { status: 'warn', outcome: 'no-security' },
  },
  {
    name: 'a paid operation has MPP offers',
    seen: withPaymentInfo({ offers: [{ intent: 'charge', amount: '10000', currency: 'USDC.e' }] }),
    expect: { status: 'warn', outcome: 'mpp-offers', evidence: ['GET /weather'] },
  },
  {
    name: 'a paid operation has a 402 response and no x-payment-info',
    seen: withPaidWeather({ 'x-payment-info': undefined }),
    expect: {
      status: 'warn',
      outcome: 'no-price',
      evidence: ['GET /weather has no x-payment-info,'],
    },
  },
  {
    name: 'the price of a paid operation stands in another member',
    seen: withPaidWeather({ 'x-payment-info': undefined, 'x-price-usd': '$0.01' }),
    expect: {
      status: 'warn',
      outcome: 'no-price',
      evidence: [
        'GET /weather has its price at "/paths/~1weather/get/x-price-usd", where indexes do not read it',
      ],
    },
  },
  {
    name: 'an operation states a price in another member and has no 402 response',
    seen: withPaidWeather({ 'x-payment-info': undefined, 'x-price': 0.01, ...WITHOUT_402 }),
    expect: { status: 'fail', outcome: 'no-402' },
  },
  {
    name: 'x-payment-info stands in the path item',
    seen: withPaths({
      '/weather': {
        get: paidOperation({ 'x-payment-info': undefined }),
        'x-payment-info': { price: PRICE, protocols: [{ x402: {} }] },
      },
    }),
    expect: {
      status: 'warn',
      outcome: 'no-price',
      evidence: ['GET /weather has its price at "/paths/~1weather/x-payment-info/price"'],
    },
  },
  {
    name: 'a paid operation has protocols and no price',
    seen: withPaymentInfo({ protocols: [{ x402: {} }] }),
    expect: { status: 'warn', outcome: 'no-price', evidence: ['has no x-payment-info.price'] },
  },
  {
    name: 'the price of a paid operation is a text',
    seen: withPaymentInfo({ price: '0.01', protocols: [{ x402: {} }] }),
    expect: {
      status: 'warn',
      outcome: 'legacy-form',
      evidence: ['has a price in an earlier form'],
    },
  },
  {
    name: 'a paid operation has its protocols as texts',
    seen: withPaymentInfo({ price: PRICE, protocols: ['x402'] }),
    expect: { status: 'warn', outcome: 'legacy-form', evidence: ['has protocols as texts'] },
  },
  {
    name: 'a paid operation has no protocols',
    seen: withPaymentInfo({ price: PRICE }),
    expect: { status: 'warn', outcome: 'no-protocols', evidence: ['has no protocols'] },
  },
  {
    name: 'a paid operation names only MPP as its protocol',
    seen: withPaymentInfo({ price: PRICE, protocols: [{ mpp: {} }] }),
    expect: { status: 'warn', outcome: 'no-protocols', evidence: ['has protocols without x402'] },
  },
  {
    name: 'the root has the security, and x402 is the second protocol',
    seen: withPaths(
      {
        '/weather': {
          get: paidOperation({
            security: undefined,
            'x-payment-info': { price: PRICE, protocols: [{ mpp: {} }, { x402: {} }] },
          }),
        },
      },
      { security: [{ x402: [] }] },
    ),
    expect: { status: 'pass', outcome: 'declared' },
  },
  {
    name: 'a paid operation has a dynamic price',
    seen: withPaymentInfo({
      price: { mode: 'dynamic', currency: 'USD', min: '0.01', max: '0.05' },
      protocols: [{ x402: {} }],
    }),
    expect: { status: 'pass', outcome: 'declared' },
  },
  {
    name: 'every paid operation is declared, and a path that is in no document challenges',
    seen: {
      resources: resources([resource(), resource({ path: '/hidden', sources: ['manifest'] })]),
    },
    expect: { status: 'pass', outcome: 'declared' },
  },
  {
    name: 'every paid operation is declared',
    seen: {},
    expect: { status: 'pass', outcome: 'declared', evidence: ['2 of 2 paid operations'] },
  },
  {
    name: 'nothing is declared, and nothing answers 402',
    seen: {
      ...withPaths({ '/health': { get: UNDECLARED_OPERATION } }),
      resources: resources([]),
    },
    expect: {
      status: 'fail',
      outcome: 'prerequisite-failed',
      basis: 'not_evaluated',
      evidence: ['see P2', '0 of 1 operations'],
    },
  },
  {
    name: 'nothing is declared, and only a tool asks for payment',
    seen: {
      openapi: answer(200, openApiDocument({ paths: { '/health': { get: freeOperation() } } })),
      resources: resources([toolResource()]),
    },
    expect: { status: 'pass', outcome: 'only-tools', basis: 'not_applicable' },
  },
  {
    name: '/openapi.json is longer than the scan reads',
    seen: { openapi: answer(200, '{"openapi":"3.1.0",', {}, { truncated: true }) },
    expect: { status: 'warn', outcome: 'over-limit', evidence: ['8 MiB'] },
  },
  {
    name: '/openapi.json answers 429',
    seen: { openapi: answer(429, {}) },
    expect: { status: 'warn', outcome: 'rate-limited', evidence: ['GET /openapi.json: 429'] },
  },
  {
    name: 'the only document is YAML',
    seen: {
      openapi: NOT_FOUND,
      openapiAlternates: [
        {
          ...at('/openapi.yaml', answer(200, 'openapi: 3.1.0\n')),
          yaml: { json: JSON.stringify(openApiDocument()) },
        },
      ],
    },
    expect: { status: 'pass', outcome: 'declared', evidence: ['/openapi.yaml'] },
  },
];

export default cases;
