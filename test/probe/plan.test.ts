/** The plan turns the documents of an origin into requests. */
import { describe, expect, test } from 'vitest';
import type { Observations } from '../../src/model/observations.ts';
import type { JsonObject } from '../../src/parse/json/json.ts';
import { createKit } from '../../src/parse/kit/kit.ts';
import { makePlan } from '../../src/probe/plan/plan.ts';
import {
  answer,
  NOT_FOUND,
  ORIGIN,
  openApiDocument,
  paidOperation,
  perfectSeller,
  seen,
} from '../fixtures/observations/build-observations.ts';

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
    ['/users/:id', '/users/:id'],
    ['/files/*', '/files/*'],
    ['/blog/[slug]', '/blog/[slug]'],
  ])('as %s of a manifest is requested with a made-up value', (template, path) => {
    const manifest = answer(200, { x402Version: 2, resources: [`GET ${template}`] });
    expect(planFor({ manifest })).toEqual([{ path, template, madeUp: true }]);
  });

  test.each(['/time/10:30', '/models/one:predict', '/math/2*3'])(
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

function toOpenApi(paths: JsonObject) {
  return answer(200, openApiDocument({ paths }));
}

function toIndexEntry(path: string): Observations['x402scan'] {
  const resource = { resource: ORIGIN + path, method: 'GET', lastUpdated: null, accepts: 1 };
  return seen({ resources: [{ ...resource, deprecated: false }], ownershipVerified: null });
}

/** The plan for a seller that has only these documents. */
function planFor(documents: Partial<Observations>) {
  const noDocuments = { openapi: NOT_FOUND, manifest: NOT_FOUND, manifestJson: NOT_FOUND };
  const empty = seen({ resources: [], ownershipVerified: null });
  const base = { ...perfectSeller(), ...noDocuments, llmsTxt: NOT_FOUND, x402scan: empty };
  return makePlan({ ...base, openapiAlternates: [], ...documents }, createKit()).resources.map(
    ({ path, template, madeUp }) => ({ path, template, madeUp }),
  );
}
