import { describe, expect, test } from 'vitest';
import type { Observations } from '../../src/model/observations.ts';
import { createKit } from '../../src/parse/kit/kit.ts';
import { findRoutes } from '../../src/scan/find-routes.ts';
import {
  answer,
  freeOperation,
  indexedOrigin,
  ORIGIN,
  openApiDocument,
  PAY_TO,
  paidOperation,
  perfectSeller,
  resource,
  resources,
  seen,
} from '../fixtures/observations/build-observations.ts';

const NOT_FOUND = answer(404, {});

function routesOf(changes: Partial<Observations>) {
  const nothing = {
    openapi: NOT_FOUND,
    manifest: NOT_FOUND,
    x402scan: { state: 'off', why: 'offline' },
  };
  return findRoutes(
    { ...perfectSeller(), ...(nothing as Partial<Observations>), ...changes },
    createKit(),
  );
}

const sold = (path: string, method: 'GET' | 'POST' | null = 'GET') => resource({ path, method });
const openapi = (paths: Record<string, object>, server = ORIGIN) =>
  answer(200, openApiDocument({ paths: paths as never, servers: [{ url: server }] }));
const named = ({ paid }: ReturnType<typeof findRoutes>) =>
  paid.map(({ method, template, path }) => `${method} ${template} ${path}`);

describe('the routes of a report', () => {
  test('are the declared templates with the base path of their server, requested or not', () => {
    const found = routesOf({
      openapi: openapi(
        {
          '/weather/{city}': { get: paidOperation(), put: paidOperation() },
          '/health/{part}': { get: freeOperation() },
        },
        `${ORIGIN}/api`,
      ),
      resources: resources([sold('/api/weather/example')]),
    });
    expect(named(found)).toEqual([
      'GET /api/weather/{city} /api/weather/example',
      'PUT /api/weather/{city} /api/weather/example',
    ]);
    expect(found.paid[0]).toMatchObject({ offers: [{ network: 'eip155:8453', payTo: PAY_TO }] });
    expect(found.free).toEqual([{ method: 'GET', template: '/api/health/{part}' }]);
    expect(found.isComplete).toBe(true);
  });

  test('come from the manifest if OpenAPI has no operation for the path', () => {
    const found = routesOf({
      openapi: openapi({ '/weather/{city}': { get: paidOperation() } }),
      manifest: answer(200, {
        resources: [`${ORIGIN}/weather/paris`, `${ORIGIN}/news`, `POST ${ORIGIN}/sums`],
      }),
      resources: resources([]),
    });
    expect(named(found)).toEqual([
      'GET /weather/{city} /weather/example',
      'null /news /news',
      'POST /sums /sums',
    ]);
  });

  test('have no template if only an answer or an index names the path', () => {
    const indexed = indexedOrigin();
    const [first] = indexed.resources;
    if (first === undefined) throw new Error('an index of nothing');
    const found = routesOf({
      resources: resources([sold('/weather/example'), sold('/', null)]),
      x402scan: seen({
        ...indexed,
        resources: [{ ...first, resource: `${ORIGIN}/old/paris`, method: null }],
      }),
    });
    expect(named(found)).toEqual(['GET null /weather/example', 'GET / /', 'null null /old/paris']);
  });

  test('are paid if their challenge asks for a payment, though a document calls them free', () => {
    const found = routesOf({
      openapi: openapi({ '/free/{id}': { get: freeOperation() } }),
      resources: resources([sold('/free/1')]),
    });
    expect(named(found)).toEqual(['GET /free/{id} /free/1']);
    expect(found.free).toEqual([]);
  });

  test('stop at one hundred, and the report says that the list is incomplete', () => {
    const paths = Array.from({ length: 101 }, (_, index) => [
      `/r${index}`,
      { get: paidOperation() },
    ]);
    const found = routesOf({
      openapi: openapi(Object.fromEntries(paths)),
      resources: resources([]),
    });
    expect(found.paid).toHaveLength(100);
    expect(found.isComplete).toBe(false);
  });
});
