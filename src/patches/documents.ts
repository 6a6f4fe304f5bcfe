/** The documents that agents look for, each with what its check asks of it. */
import type { DocumentTopic, JsonDocument, ServedDocument } from './patch.ts';
import type { PatchValues } from './patch-values.ts';

export const DOCUMENTS: Readonly<Record<DocumentTopic, (values: PatchValues) => ServedDocument>> = {
  openapi: (values) => jsonDocument('/openapi.json', openApi(values)),
  manifest: ({ origin, path }) =>
    jsonDocument('/.well-known/x402', { version: 1, resources: [origin + path] }),
  'agent-card': (values) => jsonDocument('/.well-known/agent-card.json', agentCard(values)),
  'llms-txt': ({ origin, description }) =>
    textDocument('/llms.txt', [
      '# <name of the service>',
      '',
      `> ${description}`,
      '',
      '## Documents',
      '',
      `- [OpenAPI](${origin}/openapi.json): all operations, with prices`,
    ]),
  robots: () => textDocument('/robots.txt', ['User-agent: *', 'Allow: /']),
  'root-links': () => ({
    path: '/',
    contentType: 'text/html; charset=utf-8',
    language: 'html',
    body: [
      '<!doctype html>',
      '<title>&lt;name of the service&gt;</title>',
      '<link rel="icon" href="/favicon.svg" type="image/svg+xml">',
      '<a href="/openapi.json">OpenAPI</a> <a href="/llms.txt">llms.txt</a>',
      '',
    ].join('\n'),
  }),
  favicon: () => ({
    path: '/favicon.svg',
    contentType: 'image/svg+xml',
    language: 'svg',
    body: '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><rect width="1" height="1"/></svg>\n',
  }),
};

/** What a paid operation declares beside its parameters; the price is that of the route. */
export function paidOperation({ price }: PatchValues) {
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

function openApi(values: PatchValues): JsonDocument {
  const { origin, path, method, freePath, description } = values;
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
    paths: {
      [path]: { [method.toLowerCase()]: { summary: description, ...paidOperation(values) } },
      [freePath]: { get: { security: [], responses: { 200: { description: 'OK' } } } },
    },
  };
}

function agentCard({ origin, path, description }: PatchValues): JsonDocument {
  return {
    protocolVersion: '0.3.0',
    name: '<name of the service>',
    description,
    url: origin,
    version: '1.0.0',
    capabilities: {},
    defaultInputModes: ['application/json'],
    defaultOutputModes: ['application/json'],
    skills: [{ id: path.slice(1), name: path.slice(1), description, tags: ['x402'] }],
  };
}

function jsonDocument(path: string, body: JsonDocument): ServedDocument {
  return { path, contentType: 'application/json', language: 'json', body };
}

function textDocument(path: string, lines: readonly string[]): ServedDocument {
  const body = `${lines.join('\n')}\n`;
  return { path, contentType: 'text/plain; charset=utf-8', language: 'text', body };
}
