/** The plan turns the documents of an origin into requests. */
import { describe, expect, test } from 'vitest';
import type { Observations } from '../../../src/scanner/model/observations.ts';
import type { JsonObject } from '../../../src/scanner/parse/json/json.ts';
import { createKit } from '../../../src/scanner/parse/kit/kit.ts';
import { makePlan } from '../../../src/scanner/probe/plan/plan.ts';
import {
  answer,
  challenge402,
  NOT_FOUND,
  ORIGIN,
  openApiDocument,
  paidOperation,
  perfectSeller,
  toLookup,
} from '../../fixtures/observations/build-observations.ts';

const CITY: JsonObject = { in: 'query', name: 'city', required: true, example: 'Paris' };

describe('a resource', () => {
  test('is requested with the declared values of its parameters', () => {
    const paths = { '/weather': { get: paidOperation({ parameters: [CITY] }) } };
    expect(planFor({ openapi: toOpenApi(paths) })).toEqual([
      { path: '/weather?city=Paris', template: '/weather', madeUp: false },
    ]);
  });

  test('in three documents is planned once, with the values of OpenAPI', () => {
    const paths = { '/weather': { get: paidOperation({ parameters: [CITY] }) } };
    const plan = planFor({
      openapi: toOpenApi(paths),
      manifest: answer(200, { x402Version: 2, resources: ['GET /weather'] }),
      x402scan: toIndexEntry('/weather'),
      llmsTxt: answer(200, `# Seller\n\n> Sells.\n\n## API\n\n- [Weather](${ORIGIN}/weather)\n`),
    });
    expect(plan).toEqual([{ path: '/weather?city=Paris', template: '/weather', madeUp: false }]);
  });

  test.each([
    ['/users/{id}', '/users/example'],
    ['/users/:id', '/users/example'],
    ['/files/*', '/files/*'],
    ['/blog/[slug]/text', '/blog/example/text'],
    ['/users/<int:id>', '/users/example'],
  ])('as %s of a manifest is requested with a made-up value', (address, path) => {
    const manifest = answer(200, { x402Version: 2, resources: [`GET ${address}`] });
    const template = address.replace('<', '%3C').replace('>', '%3E');
    expect(planFor({ manifest })).toEqual([{ path, template, madeUp: true }]);
  });

  test.each(['/users/:id', '/users/[id]', '/users/{user_id}', '/users/<name>'])(
    'as %s of a manifest is the operation /users/{id} of OpenAPI',
    (template) => {
      const id = { in: 'path', name: 'id', required: true, example: 'ada' };
      const paths = { '/users/{id}': { get: paidOperation({ parameters: [id] }) } };
      const manifest = answer(200, { x402Version: 2, resources: [`GET ${template}`] });
      expect(planFor({ openapi: toOpenApi(paths), manifest })).toEqual([
        { path: '/users/ada', template: '/users/{id}', madeUp: false },
      ]);
    },
  );

  test('as a query without a value in llms.txt takes the value of OpenAPI', () => {
    const paths = { '/weather': { get: paidOperation({ parameters: [CITY] }) } };
    const llmsTxt = answer(200, '# Seller\n\n> Sells.\n\n- GET /weather?city=  $0.01\n');
    expect(planFor({ openapi: toOpenApi(paths), llmsTxt })).toEqual([
      { path: '/weather?city=Paris', template: '/weather', madeUp: false },
    ]);
  });

  test.each(['/time/10:30', '/models/one:predict', '/math/2*3', '/find?path=/:id'])(
    'as %s is requested as it is, because it is not a pattern of a router',
    (path) => {
      const manifest = answer(200, { x402Version: 2, resources: [`GET ${path}`] });
      expect(planFor({ manifest })).toEqual([{ path, template: path, madeUp: false }]);
    },
  );

  test('of an index keeps its own value if OpenAPI declares none', () => {
    const paths = { '/users/{id}': { get: paidOperation() } };
    const plan = planFor({ openapi: toOpenApi(paths), x402scan: toIndexEntry('/users/example') });
    expect(plan).toEqual([{ path: '/users/example', template: '/users/{id}', madeUp: false }]);
  });
});

describe('a resource is sold over x402', () => {
  const operationWith = (changes: JsonObject) => ({
    openapi: toOpenApi({ '/weather': { get: paidOperation(changes) } }),
  });
  const overMpp = { 'x-payment-info': { amount: '1', currency: 'usd', method: 'tempo' } };

  test.each<readonly [string, Partial<Observations>, boolean]>([
    ['the manifest lists it', { manifest: answer(200, { resources: ['GET /weather'] }) }, true],
    ['OpenAPI names the protocol x402', operationWith({ security: [] }), true],
    ['OpenAPI names the scheme x402', operationWith(overMpp), true],
    ['OpenAPI names MPP only', operationWith({ ...overMpp, security: [] }), false],
    ['an index lists it', { x402scan: toIndexEntry('/weather') }, false],
  ])('if %s', (_, documents, isSoldOverX402) => {
    const [resource] = planWith(documents).resources;
    expect(resource?.declaredX402 ?? false).toBe(isSoldOverX402);
  });
});

test('if a random path answers 402, only what documents declare is planned', () => {
  const documents = {
    manifest: answer(200, { x402Version: 2, resources: ['GET /weather'] }),
    llmsTxt: answer(200, `# Seller\n\n> Sells.\n\n## API\n\n- [News](${ORIGIN}/news)\n`),
    root: challenge402(),
    x402scan: toIndexEntry('/listed'),
  };
  const pathsWith = (soft404: Observations['soft404']) =>
    planWith({ ...documents, soft404 }).resources.map(({ path }) => path);
  expect(pathsWith(NOT_FOUND)).toEqual(['/weather', '/', '/news', '/listed']);
  expect(pathsWith(challenge402())).toEqual(['/weather']);
});

function toOpenApi(paths: JsonObject) {
  return answer(200, openApiDocument({ paths }));
}

function toIndexEntry(path: string): Observations['x402scan'] {
  const resource = { resource: ORIGIN + path, method: 'GET', lastUpdated: null, accepts: 1 };
  return toLookup({ resources: [{ ...resource, deprecated: false }], ownershipVerified: null });
}

function planFor(documents: Partial<Observations>) {
  return planWith(documents).resources.map(({ path, template, madeUp }) => ({
    path,
    template,
    madeUp,
  }));
}

/** The plan for a seller that has only these documents. */
function planWith(documents: Partial<Observations>) {
  const noDocuments = { openapi: NOT_FOUND, manifest: NOT_FOUND, manifestJson: NOT_FOUND };
  const empty = toLookup({ resources: [], ownershipVerified: null });
  const base = { ...perfectSeller(), ...noDocuments, llmsTxt: NOT_FOUND, x402scan: empty };
  return makePlan({ ...base, openapiAlternates: [], ...documents }, createKit());
}

describe('what only the root, llms.txt or an index names', () => {
  const root = answer(200, {
    paid_routes: [{ path: '/fact/:slug', price: '$0.01', example: '/fact/water' }, '/digest'],
    free_routes: ['/list'],
    pricing: { '/by-map': '0.001 USDC', 'POST /run': '$1' },
  });
  const llmsTxt = answer(200, '# Seller\n\n- `GET /line` $0.01\nPOST /write $0.02\n');

  test('is a candidate by GET, with the example beside it', () => {
    const { resources, unsent } = planWith({ root, llmsTxt });
    expect(resources.map(({ path }) => path)).toEqual([
      ...['/fact/water', '/digest', '/by-map', '/line'],
    ]);
    expect(resources).toEqual(
      resources.map((each) => ({ ...each, method: 'GET', declaredPaid: false, post: 'never' })),
    );
    expect(unsent.map(({ method, template }) => `${method} ${template}`)).toEqual([
      'POST /run',
      'POST /write',
    ]);
  });

  test('takes no place of a declared resource and gets no POST', () => {
    const x402scan = toLookup({
      resources: ['/a', '/b', '/weather'].map((path) => ({
        ...{ resource: ORIGIN + path, method: 'POST', lastUpdated: null, accepts: 1 },
        deprecated: false,
      })),
      ownershipVerified: null,
    });
    const paths = Object.fromEntries(
      ['/weather', '/1', '/2', '/3', '/4', '/5'].map((path) => [path, { get: paidOperation() }]),
    );
    const { resources, unsent } = planWith({ openapi: toOpenApi(paths), x402scan });
    expect(resources.every(({ declaredPaid, post }) => declaredPaid && post === 'never')).toBe(
      true,
    );
    expect(unsent.map(({ template }) => template)).toEqual(['/a', '/b', '/weather']);
  });
});

describe('an entry of the manifest', () => {
  const FREE = { security: [], responses: { 200: {} } };
  const SILENT = { responses: { 200: {} } };

  test.each([
    ['sells GET and POST without a method', '/x', {}, {}, ['null true sold']],
    ['sells what it names', 'POST /x', {}, {}, ['POST true sold']],
    ['for nothing is a candidate', 'POST /x', { accepts: [] }, {}, ['GET false never']],
    ['of price 0 is a candidate', '/x', { price: 0 }, {}, ['GET false never']],
    [
      'without a price is a candidate if OpenAPI calls it free',
      '/x',
      {},
      { get: FREE },
      ['GET false never'],
    ],
    [
      'sells only GET if OpenAPI calls the POST free',
      '/x',
      { price: 1 },
      { post: FREE, get: SILENT },
      ['GET true never'],
    ],
    [
      'sells only POST if OpenAPI calls the GET free',
      '/x',
      {},
      { get: FREE, post: SILENT },
      ['POST true sold'],
    ],
    [
      'for nothing, with a price in OpenAPI, is asked by GET only',
      'POST /x',
      { accepts: [] },
      { post: paidOperation() },
      ['POST true never'],
    ],
  ])('%s', (_, address, entry, item, expected) => {
    const manifest = answer(200, { resources: [{ resource: address, ...entry }] });
    const { resources } = planWith({ openapi: toOpenApi({ '/x': item }), manifest });
    const lines = resources.map(
      ({ method, declaredPaid, post }) => `${method} ${declaredPaid} ${post}`,
    );
    expect(lines).toEqual(expected);
  });
});
