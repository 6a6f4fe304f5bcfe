import { describe, expect, test } from 'vitest';
import type { Observations } from '../../../src/scanner/model/observations.ts';
import { createKit } from '../../../src/scanner/parse/kit/kit.ts';
import { findRoutes } from '../../../src/scanner/scan/find-routes.ts';
import {
  answer,
  at,
  freeOperation,
  ORIGIN,
  openApiDocument,
  PAY_TO,
  paidOperation,
  perfectSeller,
  resource,
  resources,
} from '../../fixtures/observations/build-observations.ts';

const NOT_FOUND = answer(404, {});

function findRoutesWith(changes: Partial<Observations>) {
  const noDocuments = {
    openapi: NOT_FOUND,
    manifest: NOT_FOUND,
    x402scan: { state: 'off', why: 'offline' },
  };
  return findRoutes(
    { ...perfectSeller(), ...(noDocuments as Partial<Observations>), ...changes },
    createKit(),
  );
}

const toResource = (path: string, method: 'GET' | 'POST' | null = 'GET') =>
  resource({ path, method });
const openapi = (paths: Record<string, object>, server = ORIGIN) =>
  answer(200, openApiDocument({ paths: paths as never, servers: [{ url: server }] }));
const toPaidLines = ({ paid }: ReturnType<typeof findRoutes>) =>
  paid.map(({ method, template, path }) => `${method} ${template} ${path}`);

describe('the routes of a report', () => {
  test('are the declared templates with the base path of their server, requested or not', () => {
    const routes = findRoutesWith({
      openapi: openapi(
        {
          '/weather/{city}': { get: paidOperation(), put: paidOperation() },
          '/health/{part}': { get: freeOperation() },
        },
        `${ORIGIN}/api`,
      ),
      resources: resources([toResource('/api/weather/example')]),
    });
    expect(toPaidLines(routes)).toEqual([
      'GET /api/weather/{city} /api/weather/example',
      'PUT /api/weather/{city} /api/weather/example',
    ]);
    expect(routes.paid[0]).toMatchObject({ offers: [{ network: 'eip155:8453', payTo: PAY_TO }] });
    expect(routes.free).toEqual([{ method: 'GET', template: '/api/health/{part}' }]);
    expect(routes.isComplete).toBe(true);
  });

  test('come from the manifest if OpenAPI has no operation for the path', () => {
    const routes = findRoutesWith({
      openapi: openapi({ '/weather/{city}': { get: paidOperation() } }),
      manifest: answer(200, {
        resources: [`${ORIGIN}/weather/paris`, `${ORIGIN}/news`, `POST ${ORIGIN}/sums`],
      }),
      resources: resources([]),
    });
    expect(toPaidLines(routes)).toEqual([
      'GET /weather/{city} /weather/example',
      'null /news /news',
      'POST /sums /sums',
    ]);
  });

  test('have no template if only an answer names the path', () => {
    const routes = findRoutesWith({
      resources: resources([toResource('/weather/example'), toResource('/', null)]),
    });
    expect(toPaidLines(routes)).toEqual(['GET null /weather/example', 'GET / /']);
  });

  test('are paid if their challenge asks for a payment, even if a document calls them free', () => {
    const routes = findRoutesWith({
      openapi: openapi({ '/free/{id}': { get: freeOperation() } }),
      resources: resources([toResource('/free/1')]),
    });
    expect(toPaidLines(routes)).toEqual(['GET /free/{id} /free/1']);
    expect(routes.free).toEqual([]);
  });

  test('are free only if they say so, or if they answered without a payment', () => {
    const silent = freeOperation({ security: undefined });
    const routes = findRoutesWith({
      openapi: openapi({
        '/declared': { get: freeOperation(), head: silent },
        '/answered': { get: silent },
        '/silent': { get: silent, post: silent },
        '/account': { get: freeOperation({ security: [{ x402: [] }] }) },
        '/sold/{id}': { get: silent, post: silent },
      }),
      manifest: answer(200, { resources: [`GET ${ORIGIN}/sold/1`] }),
      resources: {
        ...resources([]),
        candidates: [at('/answered', answer(200, { ok: true }))],
      },
    });
    const toLines = (list: typeof routes.free = []) =>
      list.map(({ method, template }) => `${method} ${template}`);
    expect(toLines(routes.free)).toEqual(['GET /declared', 'GET /answered']);
    expect(toLines(routes.unknown)).toEqual([
      'GET /silent',
      'POST /silent',
      'GET /account',
      'POST /sold/{id}',
    ]);
  });

  test('stop at one hundred, and the report says that the list is incomplete', () => {
    const paths = Array.from({ length: 101 }, (_, index) => [
      `/r${index}`,
      { get: paidOperation() },
    ]);
    const routes = findRoutesWith({
      openapi: openapi(Object.fromEntries(paths)),
      resources: resources([]),
    });
    expect(routes.paid).toHaveLength(100);
    expect(routes.isComplete).toBe(false);
  });
});
