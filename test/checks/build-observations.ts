/**
 * Observations for the cases of all checks. `perfectSeller()` is a whole scan of a seller that does
 * all right; a case names only what differs from it.
 */
import type { JsonObject, JsonValue } from '../../src/formats/json.ts';
import type { IndexedOrigin, Look, Observations } from '../../src/probe/observations.ts';
import {
  answer,
  asked,
  at,
  challenge402,
  challengeV2,
  html,
  ORIGIN,
  PAY_TO,
  resource,
  resources,
} from './build-answers.ts';

export * from './build-answers.ts';

/** When the third parties said what they said; the only "now" of a replay. */
export const AS_OF = '2026-08-14T12:00:00.000Z';

export const NOT_FOUND = answer(404, { error: 'Not found' });

/** A third party's answer: good, and `ageSec` old when the scan began. */
export function seen<T>(data: T, source = 'x402scan', ageSec = 60, asOf = AS_OF): Look<T> {
  return { state: 'seen', source, asOf, ageSec, data };
}

/** A paid operation; `changes` replaces members, undefined removes one. */
export function paidOperation(changes: JsonObject = {}): JsonObject {
  return {
    security: [{ x402: [] }],
    'x-payment-info': {
      price: { mode: 'fixed', currency: 'USD', amount: '0.010000' },
      protocols: [{ x402: {} }],
    },
    responses: { '200': { description: 'OK' }, '402': { description: 'Payment required' } },
    ...changes,
  };
}

export function freeOperation(changes: JsonObject = {}): JsonObject {
  return { security: [], responses: { '200': { description: 'OK' } }, ...changes };
}

/** GET /weather and POST /summaries are paid, GET /health is free. */
export function openApiDocument(changes: JsonObject = {}): JsonObject {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Seller',
      version: '1.0.0',
      contact: { email: 'team@seller.example' },
      'x-guidance': 'Ask /weather for the weather, post text to /summaries.',
    },
    components: { securitySchemes: { x402: { type: 'http', scheme: 'x402' } } },
    paths: {
      '/weather': { get: paidOperation() },
      '/summaries': { post: paidOperation() },
      '/health': { get: freeOperation() },
    },
    ...changes,
  };
}

export function manifestDocument(changes: JsonObject = {}): JsonObject {
  return {
    x402Version: 2,
    endpoints: [
      { resource: `${ORIGIN}/weather`, method: 'GET', price: '$0.01' },
      { resource: `${ORIGIN}/summaries`, method: 'POST', price: '$0.01' },
    ],
    payTo: PAY_TO,
    ...changes,
  };
}

/** What @x402/extensions declares for a POST route with input and output example. */
export function bazaarExtension(changes: JsonObject = {}): JsonObject {
  return {
    info: {
      input: { type: 'http', method: 'POST', bodyType: 'json', body: { text: 'Hello' } },
      output: { type: 'json', example: { summary: 'Hi' } },
    },
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: {
        input: {
          type: 'object',
          properties: {
            type: { type: 'string', const: 'http' },
            method: { type: 'string', enum: ['POST'] },
            bodyType: { type: 'string', enum: ['json', 'form-data', 'text'] },
            body: { properties: { text: { type: 'string' } }, required: ['text'] },
          },
          required: ['type', 'method', 'bodyType', 'body'],
          additionalProperties: false,
        },
        output: {
          type: 'object',
          properties: { type: { type: 'string' }, example: { type: 'object' } },
          required: ['type'],
        },
      },
      required: ['input'],
    },
    ...changes,
  };
}

/** The challenge of a POST resource; `bazaar` null leaves the extension out. */
export function postChallenge(bazaar: JsonValue = bazaarExtension()): JsonObject {
  return challengeV2({
    resource: { url: `${ORIGIN}/summaries`, description: 'A summary of a text' },
    ...(bazaar === null ? {} : { extensions: { bazaar } }),
  });
}

/** A paid POST resource at /summaries whose challenge carries the bazaar extension. */
export function postResource(challenge: JsonObject = postChallenge()) {
  const answered = challenge402(challenge);
  return resource({ method: 'POST', path: '/summaries', post: [answered, answered] });
}

export const ROOT_PAGE = `<!doctype html><html><head><title>Seller</title>
<link rel="icon" href="/favicon.svg"></head>
<body><a href="/openapi.json">API</a></body></html>`;

export const LLMS_TXT = `# Seller

> Weather and summaries, paid by the call over x402.

## API

- [OpenAPI](${ORIGIN}/openapi.json): all operations
`;

export function agentCard(changes: JsonObject = {}): JsonObject {
  return {
    protocolVersion: '0.3.0',
    name: 'Seller',
    description: 'Weather and summaries',
    url: ORIGIN,
    version: '1.0.0',
    capabilities: { streaming: false },
    defaultInputModes: ['application/json'],
    defaultOutputModes: ['application/json'],
    skills: [{ id: 'weather', name: 'Weather', description: 'Weather of a city', tags: ['data'] }],
    ...changes,
  };
}

export function indexedOrigin(changes: Partial<IndexedOrigin> = {}): IndexedOrigin {
  return {
    resources: [
      {
        resource: `${ORIGIN}/weather`,
        method: 'GET',
        lastUpdated: '2026-08-10T12:00:00.000Z',
        accepts: 1,
        deprecated: false,
      },
    ],
    ownershipVerified: true,
    ...changes,
  };
}

/** A whole scan of a seller that does all right, on the wire and in the indexes. */
export function perfectSeller(): Observations {
  return {
    origin: {
      url: ORIGIN,
      scheme: 'https',
      hostname: 'seller.example',
      port: 443,
      host: 'seller.example',
    },
    probing: { post: true },
    root: html(200, ROOT_PAGE),
    soft404: asked('/d3b07384-no-such-page', NOT_FOUND),
    openapi: asked('/openapi.json', answer(200, openApiDocument())),
    openapiAlternates: [
      at('/.well-known/openapi.json', NOT_FOUND),
      at('/api/openapi.json', NOT_FOUND),
      at('/swagger.json', NOT_FOUND),
      at('/openapi.yaml', NOT_FOUND),
    ],
    manifest: asked('/.well-known/x402', answer(200, manifestDocument())),
    manifestJson: asked('/.well-known/x402.json', NOT_FOUND),
    llmsTxt: asked('/llms.txt', answer(200, LLMS_TXT)),
    agentCard: asked('/.well-known/agent-card.json', answer(200, agentCard())),
    agentJson: asked('/.well-known/agent.json', NOT_FOUND),
    robots: asked('/robots.txt', answer(200, 'User-agent: *\nAllow: /\n')),
    resources: resources([resource(), postResource()]),
    links: {
      checked: [
        {
          url: `${ORIGIN}/openapi.json`,
          from: '/llms.txt',
          method: 'GET',
          server: false,
          answer: asked('/openapi.json', answer(200, openApiDocument())),
        },
      ],
      found: 1,
      otherHosts: 0,
      documents: 4,
    },
    icons: {
      checked: [at('/favicon.svg', answer(200, '<svg/>', { 'content-type': 'image/svg+xml' }))],
      otherHosts: [],
      inline: false,
    },
    x402scan: seen(indexedOrigin()),
    settlements: seen({
      address: PAY_TO,
      windowDays: 30,
      settlements: 40,
      payers: 7,
      lastAt: '2026-08-13T12:00:00.000Z',
    }),
    listing: seen({ listed: true, name: 'Seller', website: ORIGIN }, 'x402.org'),
  };
}
