import type { CheckCase } from '#check';
import type { HttpObservation, LinkSet } from '#model';
import type { JsonObject } from '#parse/json';
import {
  answer,
  at,
  challenge402,
  challengeV2,
  freeOperation,
  NOT_FOUND,
  ORIGIN,
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

const REDIRECT_TO_LOGIN = { url: `${ORIGIN}/health`, status: 302, location: '/login' };

/** Candidates that no document sells, and their answers to GET. */
function withCandidates(
  paths: readonly string[],
  get: HttpObservation = answer(200, { ok: true }),
): CheckCase['seen'] {
  return { resources: { ...resources([]), candidates: paths.map((path) => at(path, get)) } };
}

function withLink(path: string, answered: HttpObservation): LinkSet {
  const link = { url: ORIGIN + path, from: '/llms.txt', method: 'GET' as const, server: false };
  const checked = [{ ...link, answer: at(path, answered).answer }];
  return { checked, found: 1, otherHosts: 0, documents: 1 };
}

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
    name: 'another origin serves the operation whose path answers here',
    seen: {
      ...withPaths({
        '/health': { servers: [{ url: 'https://api.other.example' }], get: UNDECLARED },
      }),
      ...withCandidates(['/health']),
    },
    expect: { status: 'warn', outcome: 'unsaid', evidence: ['1 of 2 operations', 'GET /health'] },
  },
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
    name: 'two operations of a FastAPI document say nothing, and the scan asked neither',
    seen: withPaths({ '/health': { get: UNDECLARED }, '/sums': { post: UNDECLARED } }),
    expect: {
      status: 'warn',
      outcome: 'unsaid',
      evidence: [
        '2 of 3 operations',
        'GET /health, /openapi.json#"/paths/~1health/get"',
        'POST /sums',
      ],
    },
  },
  {
    name: 'two operations say nothing, and both answer 200 without a payment',
    seen: {
      ...withPaths({ '/health': { get: UNDECLARED }, '/docs': { get: UNDECLARED } }),
      ...withCandidates(['/health', '/docs']),
    },
    expect: {
      status: 'fail',
      outcome: 'none-declared',
      evidence: ['2 of 2 free operations', 'GET /health', 'GET /docs'],
    },
  },
  {
    name: 'an operation answers 200 without a payment, and two more are not known',
    seen: {
      ...withPaths({
        '/health': { get: UNDECLARED },
        '/deal': { post: UNDECLARED },
        '/preview': { get: UNDECLARED },
      }),
      ...withCandidates(['/health']),
    },
    expect: {
      status: 'fail',
      outcome: 'none-declared',
      evidence: ['1 of 1 free operations', 'GET /health', 'of 2 more, it is not known'],
    },
  },
  {
    name: 'an operation is asked as a link, and answers 200',
    seen: {
      ...withPaths({ '/docs': { get: UNDECLARED } }),
      resources: resources([]),
      links: withLink('/docs', answer(200)),
    },
    expect: { status: 'fail', outcome: 'none-declared', evidence: ['GET /docs'] },
  },
  {
    name: 'the document has the operation of a discovery document that the scan read',
    seen: withPaths({ '/llms.txt': { get: UNDECLARED } }),
    expect: { status: 'fail', outcome: 'none-declared', evidence: ['GET /llms.txt'] },
  },
  {
    name: 'an operation answers 200 with a challenge in the body',
    seen: {
      ...withPaths({ '/process': { get: UNDECLARED } }),
      ...withCandidates(['/process'], answer(200, { result: challengeV2() })),
    },
    expect: { status: 'warn', outcome: 'unsaid', evidence: ['GET /process'] },
  },
  {
    name: 'an operation answers 200 with PAYMENT-REQUIRED',
    seen: {
      ...withPaths({ '/process': { get: UNDECLARED } }),
      ...withCandidates(['/process'], answer(200, {}, { 'payment-required': 'e30=' })),
    },
    expect: { status: 'warn', outcome: 'unsaid' },
  },
  {
    name: 'an operation answers 200 with the challenge of another protocol',
    seen: {
      ...withPaths({ '/process': { get: UNDECLARED } }),
      ...withCandidates(
        ['/process'],
        answer(200, {}, { 'www-authenticate': 'Payment id="1", method="tempo"' }),
      ),
    },
    expect: { status: 'warn', outcome: 'unsaid' },
  },
  {
    name: 'an operation answers 200 with the page of the random path',
    seen: {
      ...withPaths({ '/health': { get: UNDECLARED } }),
      soft404: answer(200, 'Welcome to the shop'),
      ...withCandidates(['/health'], answer(200, 'Welcome to the shop')),
    },
    expect: { status: 'warn', outcome: 'unsaid' },
  },
  {
    name: 'an operation redirects to a page that answers 200',
    seen: {
      ...withPaths({ '/health': { get: UNDECLARED } }),
      ...withCandidates(['/health'], answer(200, 'Log in', {}, { redirects: [REDIRECT_TO_LOGIN] })),
    },
    expect: { status: 'warn', outcome: 'unsaid' },
  },
  {
    name: 'the manifest sells an operation that answers 200',
    seen: {
      ...withPaths({ '/weather2': { get: UNDECLARED } }),
      manifest: answer(200, { resources: [`${ORIGIN}/weather2`] }),
      ...withCandidates(['/weather2']),
    },
    expect: { status: 'warn', outcome: 'unsaid' },
  },
  {
    name: 'the manifest gives an operation that says nothing a price of 0',
    seen: {
      ...withPaths({ '/free': { post: UNDECLARED } }),
      manifest: answer(200, { resources: [{ resource: `${ORIGIN}/free`, price: 0 }] }),
    },
    expect: { status: 'pass', outcome: 'declared', evidence: ['1 of 1 free operations'] },
  },
  {
    name: 'the manifest gives one method of a path a price of 0, and sells the other',
    seen: {
      ...withPaths({ '/mixed': { get: UNDECLARED, post: UNDECLARED } }),
      manifest: answer(200, {
        resources: [
          { resource: `${ORIGIN}/mixed`, method: 'GET', price: 0 },
          { resource: `${ORIGIN}/mixed`, method: 'POST', price: '$1' },
        ],
      }),
    },
    expect: { status: 'warn', outcome: 'unsaid', evidence: ['1 of 3', 'POST /mixed'] },
  },
  {
    name: 'an operation has no security, and the root has the payment scheme',
    seen: {
      ...withPaths({ '/health': { get: UNDECLARED } }, { security: [{ x402: [] }] }),
      ...withCandidates(['/health']),
    },
    expect: { status: 'warn', outcome: 'unsaid', evidence: ['1 of 2'] },
  },
  {
    name: 'an operation without a price has an apiKey scheme for payment',
    seen: withPaths({ '/health': { get: freeOperation({ security: [{ pay: [] }] }) } }),
    expect: { status: 'warn', outcome: 'unsaid' },
  },
  {
    name: 'an operation names a scheme that is not defined',
    seen: withPaths({ '/health': { get: freeOperation({ security: [{ bearer: [] }] }) } }),
    expect: { status: 'warn', outcome: 'unsaid' },
  },
  {
    name: 'one of two free operations has an empty security, the other answers 200',
    seen: {
      ...withPaths({ '/health': { get: freeOperation() }, '/prices': { get: UNDECLARED } }),
      ...withCandidates(['/prices']),
    },
    expect: { status: 'warn', outcome: 'some-undeclared', evidence: ['1 of 2', 'GET /prices'] },
  },
  {
    name: 'one operation has an empty security, another says nothing and was not asked',
    seen: withPaths({ '/health': { get: freeOperation() }, '/prices': { post: UNDECLARED } }),
    expect: { status: 'warn', outcome: 'unsaid', evidence: ['1 of 3', 'POST /prices'] },
  },
  {
    name: 'one path has a GET that answers 402 and a POST that says nothing',
    seen: {
      ...withPaths({
        '/both': { get: UNDECLARED, post: UNDECLARED },
        '/health': { get: freeOperation() },
      }),
      resources: resources([resource({ path: '/both', get: challenge402() })]),
    },
    expect: { status: 'warn', outcome: 'unsaid', evidence: ['1 of 4', 'POST /both'] },
  },
  {
    name: 'an operation has a price of nothing',
    seen: withPaths({
      '/health': {
        get: freeOperation({
          security: undefined,
          'x-payment-info': { price: { mode: 'free' }, protocols: [{ x402: {} }] },
        }),
      },
    }),
    expect: { status: 'pass', outcome: 'declared', evidence: ['1 of 1 free operations'] },
  },
  {
    name: 'the root has an empty security',
    seen: withPaths({ '/health': { get: UNDECLARED } }, { security: [] }),
    expect: { status: 'pass', outcome: 'declared', evidence: ['1 of 1 free operations'] },
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
