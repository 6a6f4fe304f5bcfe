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

const undeclared = freeOperation({ security: undefined });
const DECLARES_402 = { responses: { '402': { description: 'Sign in' } } };
const SIGN_IN = challenge402(
  challengeV2({ accepts: [], extensions: { 'sign-in-with-x': { info: {}, schema: {} } } }),
);
const SCHEMES = {
  x402: { type: 'http', scheme: 'x402' },
  siwx: { type: 'http', scheme: 'siwx' },
  pay: { type: 'apiKey', in: 'header', name: 'X-PAYMENT' },
};

/** A document with one paid operation and these; `root` are members of its own. */
function paths(free: JsonObject, root: JsonObject = {}): CheckCase['seen'] {
  const document = openApiDocument({
    components: { securitySchemes: SCHEMES },
    paths: { '/weather': { get: paidOperation() }, ...free },
    ...root,
  });
  return { openapi: answer(200, document) };
}

const cases: readonly CheckCase[] = [
  {
    name: 'all operations are paid',
    seen: paths({}),
    expect: {
      status: 'pass',
      outcome: 'no-free-operations',
      basis: 'not_applicable',
      evidence: ['/openapi.json has 1 operations'],
    },
  },
  {
    name: 'an operation that answers 402 though nothing says so is not free',
    seen: {
      ...paths({ '/secret': { get: undeclared } }),
      resources: resources([
        resource({ path: '/secret', declaredPaid: false, sources: ['undeclared'] }),
      ]),
    },
    expect: { status: 'pass', outcome: 'no-free-operations', basis: 'not_applicable' },
  },
  {
    name: 'a sign-in is not a free operation',
    seen: {
      ...paths({
        '/profile': { get: freeOperation({ ...DECLARES_402, security: [{ siwx: [] }] }) },
        '/hidden': { get: undeclared },
      }),
      resources: resources([resource({ path: '/hidden', get: SIGN_IN, head: SIGN_IN })]),
    },
    expect: { status: 'pass', outcome: 'no-free-operations', basis: 'not_applicable' },
  },
  {
    name: 'HEAD and OPTIONS go with other operations',
    seen: paths({ '/weather': { get: paidOperation(), head: undeclared, options: undeclared } }),
    expect: { status: 'pass', outcome: 'no-free-operations', basis: 'not_applicable' },
  },
  {
    name: 'a stock FastAPI document says nothing of security',
    seen: paths({ '/health': { get: undeclared }, '/docs': { get: undeclared } }),
    expect: {
      status: 'fail',
      outcome: 'none-declared',
      evidence: ['2 of 2', 'GET /health', 'GET /docs'],
    },
  },
  {
    name: 'the payment scheme at the root covers the free operation too',
    seen: paths({ '/health': { get: undeclared } }, { security: [{ x402: [] }] }),
    expect: { status: 'fail', outcome: 'none-declared', evidence: ['1 of 1'] },
  },
  {
    name: 'an apiKey that means payment is not a login',
    seen: paths({ '/health': { get: freeOperation({ security: [{ pay: [] }] }) } }),
    expect: { status: 'fail', outcome: 'none-declared' },
  },
  {
    name: 'a scheme that is not defined is not a login',
    seen: paths({ '/health': { get: freeOperation({ security: [{ bearer: [] }] }) } }),
    expect: { status: 'fail', outcome: 'none-declared' },
  },
  {
    name: 'one of two operations has an empty security',
    seen: paths({ '/health': { get: freeOperation() }, '/prices': { post: undeclared } }),
    expect: { status: 'warn', outcome: 'some-undeclared', evidence: ['1 of 2', 'POST /prices'] },
  },
  {
    name: 'one path, a paid GET that answers 402 and a free POST that does not say so',
    seen: {
      ...paths({
        '/both': { get: undeclared, post: undeclared },
        '/health': { get: freeOperation() },
      }),
      resources: resources([resource({ path: '/both', get: challenge402() })]),
    },
    expect: { status: 'warn', outcome: 'some-undeclared', evidence: ['1 of 2', 'POST /both'] },
  },
  {
    name: 'an empty security at the root',
    seen: paths({ '/health': { get: undeclared } }, { security: [] }),
    expect: { status: 'pass', outcome: 'declared', evidence: ['all 1 free operations'] },
  },
  {
    name: 'the operation overrides the root',
    seen: paths({ '/health': { get: freeOperation() } }, { security: [{ x402: [] }] }),
    expect: { status: 'pass', outcome: 'declared' },
  },
  {
    name: 'real authentication',
    seen: paths({ '/account': { get: freeOperation({ security: [{ siwx: [] }] }) } }),
    expect: { status: 'pass', outcome: 'declared' },
  },
  {
    name: 'a login or nothing',
    seen: paths({ '/feed': { get: freeOperation({ security: [{ x402: [] }, {}] }) } }),
    expect: { status: 'pass', outcome: 'declared' },
  },
  {
    name: 'all right',
    seen: { resources: resources([resource(), postResource()]) },
    expect: { status: 'pass', outcome: 'declared', evidence: ['/openapi.json'] },
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
