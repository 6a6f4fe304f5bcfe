import type { CheckCase } from '../../src/engine/define-check.ts';
import type { JsonObject } from '../../src/parse/json/json.ts';
import {
  answer,
  at,
  freeOperation,
  NOT_FOUND,
  openApiDocument,
  paidOperation,
} from '../../test/fixtures/observations/build-observations.ts';

function schemes(securitySchemes: JsonObject, changes: JsonObject = {}): CheckCase['seen'] {
  const document = openApiDocument({ components: { securitySchemes }, ...changes });
  return { openapi: answer(200, document) };
}

const silentPaths = {
  '/weather': { get: paidOperation({ 'x-payment-info': { price: '0.01' } }) },
  '/health': { get: freeOperation() },
};

const cases: readonly CheckCase[] = [
  {
    name: 'no scheme, no protocols',
    seen: schemes({}, { paths: silentPaths }),
    expect: {
      status: 'fail',
      outcome: 'not-declared',
      evidence: ['/openapi.json has no security schemes'],
    },
  },
  {
    name: 'only a bearer token',
    seen: schemes({ login: { type: 'http', scheme: 'bearer' } }, { paths: silentPaths }),
    expect: {
      status: 'fail',
      outcome: 'not-declared',
      evidence: ['none of the 1 security schemes'],
    },
  },
  {
    name: 'an apiKey in its own header is not a payment',
    seen: schemes(
      { key: { type: 'apiKey', in: 'header', name: 'X-API-Key' } },
      { paths: silentPaths },
    ),
    expect: { status: 'fail', outcome: 'not-declared' },
  },
  {
    name: 'an apiKey under the name x402',
    seen: schemes({ x402: { type: 'apiKey', in: 'header', name: 'X-Custom' } }),
    expect: { status: 'warn', outcome: 'api-key', evidence: ['"x402"', 'AgentCash misreads'] },
  },
  {
    name: 'an apiKey in PAYMENT-SIGNATURE',
    seen: schemes({ pay: { type: 'apiKey', in: 'header', name: 'PAYMENT-SIGNATURE' } }),
    expect: { status: 'warn', outcome: 'api-key', evidence: ['"pay"'] },
  },
  {
    name: 'an apiKey in X-PAYMENT, in another case',
    seen: schemes({ pay: { type: 'apiKey', in: 'header', name: 'x-payment' } }),
    expect: { status: 'warn', outcome: 'api-key' },
  },
  {
    name: 'x402 only among the protocols: AgentCash style',
    seen: schemes({}),
    expect: { status: 'warn', outcome: 'protocols-only', evidence: ['/paths/~1weather/get'] },
  },
  {
    name: 'the right scheme beside an apiKey',
    seen: schemes({
      key: { type: 'apiKey', in: 'header', name: 'X-PAYMENT' },
      pay: { type: 'http', scheme: 'X402' },
    }),
    expect: { status: 'pass', outcome: 'declared', evidence: ['"pay" of type "http"'] },
  },
  {
    name: 'another type under the name x402',
    seen: schemes({ x402: { type: 'http', scheme: 'payment' } }),
    expect: { status: 'pass', outcome: 'declared', evidence: ['"x402"'] },
  },
  {
    name: 'http with scheme x402',
    seen: {},
    expect: { status: 'pass', outcome: 'declared', evidence: ['"x402" of type "http"'] },
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
