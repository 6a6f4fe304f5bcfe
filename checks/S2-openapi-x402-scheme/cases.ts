import type { CheckCase } from '#check';
import type { JsonObject } from '#parse/json';
import {
  answer,
  at,
  freeOperation,
  NOT_FOUND,
  openApiDocument,
  paidOperation,
} from '../../test/fixtures/observations/build-observations.ts';

function withSchemes(securitySchemes: JsonObject, changes: JsonObject = {}): CheckCase['seen'] {
  const document = openApiDocument({ components: { securitySchemes }, ...changes });
  return { openapi: answer(200, document) };
}

const PATHS_WITHOUT_PROTOCOLS = {
  '/weather': { get: paidOperation({ 'x-payment-info': { price: '0.01' } }) },
  '/health': { get: freeOperation() },
};

const cases: readonly CheckCase[] = [
  {
    name: 'the document has no scheme and no protocols',
    seen: withSchemes({}, { paths: PATHS_WITHOUT_PROTOCOLS }),
    expect: {
      status: 'fail',
      outcome: 'not-declared',
      evidence: ['/openapi.json#/components/securitySchemes is missing'],
    },
  },
  {
    name: 'the only scheme is a bearer token',
    seen: withSchemes(
      { login: { type: 'http', scheme: 'bearer' } },
      { paths: PATHS_WITHOUT_PROTOCOLS },
    ),
    expect: {
      status: 'fail',
      outcome: 'not-declared',
      evidence: ['1 schemes, none of them for x402'],
    },
  },
  {
    name: 'the only scheme is an apiKey in X-API-Key',
    seen: withSchemes(
      { key: { type: 'apiKey', in: 'header', name: 'X-API-Key' } },
      { paths: PATHS_WITHOUT_PROTOCOLS },
    ),
    expect: { status: 'fail', outcome: 'not-declared' },
  },
  {
    name: 'an apiKey scheme has the name x402',
    seen: withSchemes({ x402: { type: 'apiKey', in: 'header', name: 'X-Custom' } }),
    expect: {
      status: 'warn',
      outcome: 'api-key',
      evidence: ['#"/components/securitySchemes/x402"', 'AgentCash misreads'],
    },
  },
  {
    name: 'an apiKey scheme uses PAYMENT-SIGNATURE',
    seen: withSchemes({ pay: { type: 'apiKey', in: 'header', name: 'PAYMENT-SIGNATURE' } }),
    expect: { status: 'warn', outcome: 'api-key', evidence: ['securitySchemes/pay"'] },
  },
  {
    name: 'an apiKey scheme uses x-payment in lower case',
    seen: withSchemes({ pay: { type: 'apiKey', in: 'header', name: 'x-payment' } }),
    expect: { status: 'warn', outcome: 'api-key' },
  },
  {
    name: 'only the protocols of an operation name x402',
    seen: withSchemes({}),
    expect: { status: 'warn', outcome: 'protocols-only', evidence: ['/paths/~1weather/get'] },
  },
  {
    name: 'one scheme is for x402, another is an apiKey in X-PAYMENT',
    seen: withSchemes({
      key: { type: 'apiKey', in: 'header', name: 'X-PAYMENT' },
      pay: { type: 'http', scheme: 'X402' },
    }),
    expect: { status: 'pass', outcome: 'declared', evidence: ['"pay" of type "http"'] },
  },
  {
    name: 'the scheme x402 has type http and scheme payment',
    seen: withSchemes({ x402: { type: 'http', scheme: 'payment' } }),
    expect: { status: 'pass', outcome: 'declared', evidence: ['"x402"'] },
  },
  {
    name: 'the scheme x402 has type http and scheme x402',
    seen: {},
    expect: { status: 'pass', outcome: 'declared', evidence: ['"x402" of type "http"'] },
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
    expect: { status: 'pass', outcome: 'declared', evidence: ['/openapi.yaml#/components'] },
  },
];

export default cases;
