import type { CheckCase } from '../../src/engine/define-check.ts';
import type { JsonObject } from '../../src/parse/json/json.ts';
import {
  answer,
  at,
  challenge402,
  challengeV2,
  freeOperation,
  NOT_FOUND,
  openApiDocument,
  paidOperation,
  postResource,
  resource,
  resources,
} from '../../test/fixtures/observations/build-observations.ts';

const UNDECLARED = freeOperation({ security: undefined });
const DECLARES_402 = { responses: { '402': { description: 'Sign in' } } };
const SIGN_IN = challenge402(
  challengeV2({ accepts: [], extensions: { 'sign-in-with-x': { info: {}, schema: {} } } }),
);
const SCHEMES = {
  x402: { type: 'http', scheme: 'x402' },
  siwx: { type: 'http', scheme: 'siwx' },
  pay: { type: 'apiKey', in: 'header', name: 'X-PAYMENT' },
};

/** The document has one paid operation, the paths of `free`, and the members of `root` at its root. */
function withPaths(free: JsonObject, root: JsonObject = {}): CheckCase['seen'] {
  const document = openApiDocument({
    components: { securitySchemes: SCHEMES },
    paths: { '/weather': { get: paidOperation() }, ...free },
    ...root,
  });
  return { openapi: answer(200, document) };
}

const cases: readonly CheckCase[] = [
  {
    name: 'every operation is paid',
    seen: withPaths({}),
    expect: {
      status: 'pass',
      outcome: 'no-free-operations',
      basis: 'not_applicable',
      evidence: ['/openapi.json has 1 operations'],
    },
  },
  {
    name: 'an operation answers 402 and declares nothing',
    seen: {
      ...withPaths({ '/secret': { get: UNDECLARED } }),
      resources: resources([
        resource({ path: '/secret', declaredPaid: false, sources: ['undeclared'] }),
      ]),
    },
    expect: { status: 'pass', outcome: 'no-free-operations', basis: 'not_applicable' },
  },
  {
    name: 'two operations ask for a sign-in',
    seen: {
      ...withPaths({
        '/profile': { get: freeOperation({ ...DECLARES_402, security: [{ siwx: [] }] }) },
        '/hidden': { get: UNDECLARED },
      }),
      resources: resources([resource({ path: '/hidden', get: SIGN_IN, head: SIGN_IN })]),
    },
    expect: { status: 'pass', outcome: 'no-free-operations', basis: 'not_applicable' },
  },
  {
    name: 'a paid path has HEAD and OPTIONS too',
    seen: withPaths({
      '/weather': { get: paidOperation(), head: UNDECLARED, options: UNDECLARED },
    }),
    expect: { status: 'pass', outcome: 'no-free-operations', basis: 'not_applicable' },
  },
  {
    name: 'two free operations of a FastAPI document have no security',
    seen: withPaths({ '/health': { get: UNDECLARED }, '/docs': { get: UNDECLARED } }),
    expect: {
      status: 'fail',
      outcome: 'none-declared',
      evidence: ['2 of 2', 'GET /health', 'GET /docs'],
    },
  },
  {
    name: 'a free operation has no security, and the root has the payment scheme',
    seen: withPaths({ '/health': { get: UNDECLARED } }, { security: [{ x402: [] }] }),
    expect: { status: 'fail', outcome: 'none-declared', evidence: ['1 of 1'] },
  },
  {
    name: 'a free operation has an apiKey scheme for payment',
    seen: withPaths({ '/health': { get: freeOperation({ security: [{ pay: [] }] }) } }),
    expect: { status: 'fail', outcome: 'none-declared' },
  },
  {
    name: 'a free operation names a scheme that is not defined',
    seen: withPaths({ '/health': { get: freeOperation({ security: [{ bearer: [] }] }) } }),
    expect: { status: 'fail', outcome: 'none-declared' },
  },
  {
    name: 'one of two free operations has an empty security',
    seen: withPaths({ '/health': { get: freeOperation() }, '/prices': { post: UNDECLARED } }),
    expect: { status: 'warn', outcome: 'some-undeclared', evidence: ['1 of 2', 'POST /prices'] },
  },
  {
    name: 'one path has a GET that answers 402 and a free POST without security',
    seen: {
      ...withPaths({
        '/both': { get: UNDECLARED, post: UNDECLARED },
        '/health': { get: freeOperation() },
      }),
      resources: resources([resource({ path: '/both', get: challenge402() })]),
    },
    expect: { status: 'warn', outcome: 'some-undeclared', evidence: ['1 of 2', 'POST /both'] },
  },
  {
    name: 'the root has an empty security',
    seen: withPaths({ '/health': { get: UNDECLARED } }, { security: [] }),
    expect: { status: 'pass', outcome: 'declared', evidence: ['all 1 free operations'] },
  },
  {
    name: 'a free operation has an empty security, and the root has the payment scheme',
    seen: withPaths({ '/health': { get: freeOperation() } }, { security: [{ x402: [] }] }),
    expect: { status: 'pass', outcome: 'declared' },
  },
  {
    name: 'a free operation asks for a sign-in scheme',
    seen: withPaths({ '/account': { get: freeOperation({ security: [{ siwx: [] }] }) } }),
    expect: { status: 'pass', outcome: 'declared' },
  },
  {
    name: 'a free operation has an alternative without requirements',
    seen: withPaths({ '/feed': { get: freeOperation({ security: [{ x402: [] }, {}] }) } }),
    expect: { status: 'pass', outcome: 'declared' },
  },
  {
    name: 'every free operation has an empty security',
    seen: { resources: resources([resource(), postResource()]) },
    expect: { status: 'pass', outcome: 'declared', evidence: ['/openapi.json'] },
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
