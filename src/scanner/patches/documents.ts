/** Documents for agents, with the content that the S checks require. */
import type { DocumentTopic, JsonDocument, ServedDocument } from './patch.ts';
import {
  nameRoute,
  type PatchRoute,
  type PatchValues,
  PLACEHOLDERS,
  toOpenApiPath,
} from './patch-values.ts';
import { listParameterNames, type RouteTemplate, writeRoute } from './route-template.ts';

export const DOCUMENTS: Readonly<Record<DocumentTopic, (values: PatchValues) => ServedDocument>> = {
  openapi: (values) => toJsonDocument('openapi', '/openapi.json', writeOpenApi(values)),
  manifest: (values) =>
    toJsonDocument('manifest', '/.well-known/x402', {
      x402Version: 2,
      resources: [
        ...new Set(listDeclaredRoutes(values).map((route) => values.origin + toOpenApiPath(route))),
      ],
    }),
  // For a manifest whose entries have no address, or have it in an odd place.
  'manifest-entries': (values) =>
    toJsonDocument('manifest', '/.well-known/x402', {
      x402Version: 2,
      resources: listDeclaredRoutes(values).map((route) => ({
        resource: values.origin + toOpenApiPath(route),
        ...(route.method === null ? {} : { method: route.method }),
      })),
    }),
  'agent-card': (values) =>
    toJsonDocument('agentCard', '/.well-known/agent-card.json', writeAgentCard(values)),
  'llms-txt': ({ origin, routes: [{ description }] }) =>
    toTextDocument('llms', '/llms.txt', [
      '# <name of the service>',
      '',
      `> ${description}`,
      '',
      '## Documents',
      '',
      `- [OpenAPI](${origin}/openapi.json): all operations, with prices`,
    ]),
  robots: () => toTextDocument('robots', '/robots.txt', ['User-agent: *', 'Allow: /']),
  'root-links': () => ({
    name: 'root',
    path: '/',
    contentType: 'text/html; charset=utf-8',
    body: [
      '<!doctype html>',
      '<title>&lt;name of the service&gt;</title>',
      '<link rel="icon" href="/favicon.svg" type="image/svg+xml">',
      '<a href="/openapi.json">OpenAPI</a> <a href="/llms.txt">llms.txt</a>',
      '',
    ].join('\n'),
  }),
  favicon: () => ({
    name: 'favicon',
    path: '/favicon.svg',
    contentType: 'image/svg+xml',
    body: '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><rect width="1" height="1"/></svg>\n',
  }),
};

/** Returns the routes that documents declare: the placeholder route only if there is no other. */
export function listDeclaredRoutes({ routes }: PatchValues): readonly PatchRoute[] {
  const known = routes.filter((route) => route !== PLACEHOLDERS.routes[0]);
  return known.length === 0 ? routes : known;
}

/** Members of a paid operation in OpenAPI, without its parameters. */
export function toPaidOperation({ price }: PatchRoute) {
  return {
    security: [{ x402: [] }],
    'x-payment-info': {
      price: { mode: 'fixed', currency: 'USD', amount: price },
      protocols: [{ x402: {} }],
    },
    responses: {
      200: { description: 'What was paid for' },
      402: { description: 'Payment required' },
    },
  } satisfies JsonDocument;
}

export const SECURITY_SCHEMES = { x402: { type: 'http', scheme: 'x402' } } satisfies JsonDocument;

function writeOpenApi(values: PatchValues): JsonDocument {
  const { origin, freeOperations } = values;
  const paths: Record<string, Record<string, JsonDocument>> = {};
  for (const route of listDeclaredRoutes(values)) {
    const operation = { summary: route.description, ...toPaidOperation(route) };
    const method = (route.method ?? 'GET').toLowerCase();
    const path = toOpenApiPath(route);
    paths[path] = { ...paths[path], [method]: { ...toParameters(route.template), ...operation } };
  }
  for (const { method, template } of freeOperations) {
    const path = writeRoute(template, 'openapi');
    const responses = { 200: { description: 'OK' } };
    const operation = { ...toParameters(template), security: [], responses };
    // A paid operation with the same method and path replaces the free operation.
    paths[path] = { [method.toLowerCase()]: operation, ...paths[path] };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: '<name of the service>',
      version: '1.0.0',
      contact: { email: '<email>' },
      'x-guidance': '<how an agent calls this, at most 4,000 characters>',
    },
    servers: [{ url: origin }],
    components: { securitySchemes: SECURITY_SCHEMES },
    paths,
  };
}

function toParameters(template: RouteTemplate | null): JsonDocument {
  const names = template === null ? [] : listParameterNames(template);
  if (names.length === 0) return {};
  return {
    parameters: names.map((name) => ({
      name,
      in: 'path',
      required: true,
      schema: { type: 'string' },
      example: '<example>',
    })),
  };
}

function writeAgentCard(values: PatchValues): JsonDocument {
  const { origin, routes } = values;
  const [{ description }] = routes;
  return {
    protocolVersion: '0.3.0',
    name: '<name of the service>',
    description,
    url: origin,
    version: '1.0.0',
    capabilities: {},
    defaultInputModes: ['application/json'],
    defaultOutputModes: ['application/json'],
    skills: listDeclaredRoutes(values).map((route) => ({
      id: nameRoute(route),
      name: nameRoute(route),
      description: route.description,
      tags: ['x402'],
    })),
  };
}

function toJsonDocument(name: string, path: string, body: JsonDocument): ServedDocument {
  return { name, path, contentType: 'application/json', body };
}

function toTextDocument(name: string, path: string, lines: readonly string[]): ServedDocument {
  const body = `${lines.join('\n')}\n`;
  return { name, path, contentType: 'text/plain; charset=utf-8', body };
}
