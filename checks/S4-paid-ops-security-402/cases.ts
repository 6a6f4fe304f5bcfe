import type { CheckCase } from '../../src/engine/define-check.ts';
import type { JsonObject, JsonValue } from '../../src/parse/json/json.ts';
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
const only = { resources: resources([resource()]) };

function paths(paths: JsonObject, changes: JsonObject = {}): CheckCase['seen'] {
  return { ...only, openapi: answer(200, openApiDocument({ paths, ...changes })) };
}

function weather(changes: JsonObject): CheckCase['seen'] {
  return paths({ '/weather': { get: paidOperation(changes) } });
}

function info(info: JsonValue): CheckCase['seen'] {
  return weather({ 'x-payment-info': info });
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
const declaredSignIn = freeOperation({
  security: [{ siwx: [] }],
  responses: { '402': { description: 'Sign in' } },
});
const without402 = { responses: { '200': { description: 'OK' } } };
const silent = freeOperation({ security: undefined });

const cases: readonly CheckCase[] = [
  {
    name: 'a stock FastAPI document, and the origin answers 402',
    seen: paths({ '/weather': { get: silent } }),
    expect: {
      status: 'fail',
      outcome: 'nothing-declared',
      evidence: ['0 of 1 operations', 'GET /weather: 402'],
    },
  },
  {
    name: 'nothing is declared, and what answers 402 is in no document',
    seen: paths({ '/health': { get: silent } }),
    expect: { status: 'fail', outcome: 'nothing-declared', evidence: ['GET /weather: 402'] },
  },
  {
    name: 'one operation is declared, another answers 402 all the same',
    seen: {
      ...paths({ '/a': { get: paidOperation() }, '/weather': { get: silent } }),
      resources: resources([resource({ path: '/a' }), resource()]),
    },
    expect: { status: 'fail', outcome: 'undeclared-402', evidence: ['GET /weather'] },
  },
  {
    name: 'a sign-in beside a paid operation, declared as one',
    seen: {
      ...paths({ '/weather': { get: paidOperation() }, '/profile': { get: declaredSignIn } }, SIWX),
      resources: resources([resource(), resource({ path: '/profile', get: SIGN_IN })]),
    },
    expect: { status: 'pass', outcome: 'declared', evidence: ['all 1 paid operations'] },
  },
  {
    name: 'a sign-in that nothing declares',
    seen: {
      ...paths({ '/weather': { get: paidOperation() }, '/profile': { get: silent } }),
      resources: resources([resource(), resource({ path: '/profile', get: SIGN_IN })]),
    },
    expect: { status: 'pass', outcome: 'declared' },
  },
  {
    name: 'an operation that looks like a sign-in, and sells',
    seen: {
      ...paths({ '/weather': { get: paidOperation() }, '/profile': { get: declaredSignIn } }, SIWX),
      resources: resources([resource(), resource({ path: '/profile' })]),
    },
    expect: { status: 'warn', outcome: 'no-security', evidence: ['1 of 2', 'GET /profile'] },
  },
  {
    name: 'a price without 402',
    seen: weather(without402),
    expect: { status: 'fail', outcome: 'no-402', evidence: ['1 of 1', 'GET /weather'] },
  },
  {
    name: 'one of two without 402',
    seen: paths({
      '/weather': { get: paidOperation() },
      '/b': { post: paidOperation(without402) },
    }),
    expect: { status: 'fail', outcome: 'no-402', evidence: ['1 of 2', 'POST /b'] },
  },
  {
    name: 'a paid PUT counts, though nobody probes it',
    seen: paths({ '/weather': { get: paidOperation(), put: paidOperation(without402) } }),
    expect: { status: 'fail', outcome: 'no-402', evidence: ['PUT /weather'] },
  },
  {
    name: 'AgentCash style: an empty security',
    seen: weather({ security: [] }),
    expect: { status: 'warn', outcome: 'no-security', evidence: ['GET /weather'] },
  },
  {
    name: 'no security at all',
    seen: weather({ security: undefined }),
    expect: { status: 'warn', outcome: 'no-security', evidence: ['/paths/~1weather/get'] },
  },
  {
    name: 'only an apiKey scheme',
    seen: paths(
      { '/weather': { get: paidOperation({ security: [{ key: [] }] }) } },
      {
        components: {
          securitySchemes: {
            x402: { type: 'http', scheme: 'x402' },
            key: { type: 'apiKey', in: 'header', name: 'X-PAYMENT' },
          },
        },
      },
    ),
    expect: { status: 'warn', outcome: 'no-security' },
  },
  {
    name: 'security names a scheme that the document does not have',
    seen: paths({ '/weather': { get: paidOperation() } }, { components: {} }),
    expect: { status: 'warn', outcome: 'no-security' },
  },
  {
    name: 'MPP offers',
    seen: info({ offers: [{ intent: 'charge', amount: '10000', currency: 'USDC.e' }] }),
    expect: { status: 'warn', outcome: 'mpp-offers', evidence: ['GET /weather'] },
  },
  {
    name: 'a 402 response and no price',
    seen: weather({ 'x-payment-info': undefined }),
    expect: { status: 'warn', outcome: 'no-price', evidence: ['GET /weather'] },
  },
  {
    name: 'protocols and no price',
    seen: info({ protocols: [{ x402: {} }] }),
    expect: { status: 'warn', outcome: 'no-price' },
  },
  {
    name: 'a flat price',
    seen: info({ price: '0.01', protocols: [{ x402: {} }] }),
    expect: { status: 'warn', outcome: 'legacy-form' },
  },
  {
    name: 'protocols as texts',
    seen: info({ price: PRICE, protocols: ['x402'] }),
    expect: { status: 'warn', outcome: 'legacy-form' },
  },
  {
    name: 'no protocols',
    seen: info({ price: PRICE }),
    expect: { status: 'warn', outcome: 'no-protocols' },
  },
  {
    name: 'only another protocol',
    seen: info({ price: PRICE, protocols: [{ mpp: {} }] }),
    expect: { status: 'warn', outcome: 'no-protocols' },
  },
  {
    name: 'security of the root counts, and so does one of two protocols',
    seen: paths(
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
    name: 'a dynamic price',
    seen: info({
      price: { mode: 'dynamic', currency: 'USD', min: '0.01', max: '0.05' },
      protocols: [{ x402: {} }],
    }),
    expect: { status: 'pass', outcome: 'declared' },
  },
  {
    name: 'a challenge on a path that is in no document, beside declared operations',
    seen: {
      resources: resources([resource(), resource({ path: '/hidden', sources: ['manifest'] })]),
    },
    expect: { status: 'pass', outcome: 'declared' },
  },
  {
    name: 'all right',
    seen: {},
    expect: { status: 'pass', outcome: 'declared', evidence: ['all 2 paid operations'] },
  },
  {
    name: 'nothing is declared, and no challenge was seen',
    seen: {
      ...paths({ '/health': { get: silent } }),
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
    name: 'a document that declares nothing paid, beside paid tools',
    seen: {
      openapi: answer(200, openApiDocument({ paths: { '/health': { get: freeOperation() } } })),
      resources: resources([toolResource()]),
    },
    expect: { status: 'pass', outcome: 'only-tools', basis: 'not_applicable' },
  },
  {
    name: 'YAML only',
    seen: {
      openapi: NOT_FOUND,
      openapiAlternates: [at('/openapi.yaml', answer(200, 'openapi: 3.1.0\n'))],
    },
    expect: {
      status: 'fail',
      outcome: 'prerequisite-failed',
      basis: 'not_evaluated',
      evidence: ['see S1', '/openapi.yaml'],
    },
  },
];

export default cases;
