/** The discovery documents of a seller that follows the rules of all checks. */

export interface SellerDocument {
  path: string;
  type: string;
  body: string;
}

/** What is sold, as every document states it. Prices are decimal USD. */
export const WEATHER = {
  method: 'get',
  path: '/weather',
  price: '0.01',
  about: 'The weather of a city.',
} as const;
export const SUMMARY = {
  method: 'post',
  path: '/summaries',
  price: '0.02',
  about: 'A summary of a text.',
} as const;

/** `/openapi.json` alone. `url` is where buyers reach the seller. */
export function openApiDocument(url: string): SellerDocument {
  return json('/openapi.json', {
    openapi: '3.1.0',
    info: {
      title: 'Weather and words',
      version: '1.0.0',
      description: 'Sells the weather and summaries.',
      contact: { email: 'team@seller.test' },
      'x-guidance': 'GET /weather?city=… for the weather, POST a text to /summaries.',
    },
    servers: [{ url }],
    components: { securitySchemes: { x402: { type: 'http', scheme: 'x402' } } },
    paths: {
      [WEATHER.path]: { get: paid(WEATHER) },
      [SUMMARY.path]: {
        post: {
          ...paid(SUMMARY),
          requestBody: {
            required: true,
            content: {
              'application/json': {
                schema: {
                  type: 'object',
                  required: ['text'],
                  properties: { text: { type: 'string' } },
                },
              },
            },
          },
        },
      },
      '/health': {
        get: { operationId: 'health', security: [], responses: { 200: { description: 'Well' } } },
      },
    },
  });
}

/** Everything else that buyers look for. */
export function discoveryDocuments(url: string): SellerDocument[] {
  return [
    json('/.well-known/x402', {
      version: 1,
      resources: [WEATHER, SUMMARY].map(({ path }) => url + path),
    }),
    json('/.well-known/agent-card.json', agentCard(url)),
    { path: '/llms.txt', type: 'text/plain', body: llmsTxt(url) },
    { path: '/robots.txt', type: 'text/plain', body: 'User-agent: *\nAllow: /\n' },
    {
      path: '/favicon.svg',
      type: 'image/svg+xml',
      body: '<svg xmlns="http://www.w3.org/2000/svg"/>',
    },
    {
      path: '/',
      type: 'text/html',
      body: '<!doctype html><link rel="icon" href="/favicon.svg"><a href="/openapi.json">OpenAPI</a>',
    },
  ];
}

function paid({ method, path, price, about }: typeof WEATHER | typeof SUMMARY) {
  return {
    operationId: `${method}${path.replace('/', '-')}`,
    summary: about,
    security: [{ x402: [] }],
    'x-payment-info': {
      price: { mode: 'fixed', currency: 'USD', amount: price },
      protocols: [{ x402: {} }],
    },
    responses: {
      200: { description: 'What was paid for' },
      402: { description: 'Payment required' },
    },
  };
}

function agentCard(url: string) {
  return {
    protocolVersion: '0.3.0',
    name: 'Weather and words',
    description: 'Sells the weather and summaries.',
    url,
    version: '1.0.0',
    capabilities: {},
    defaultInputModes: ['application/json'],
    defaultOutputModes: ['application/json'],
    skills: [WEATHER, SUMMARY].map(({ path, about }) => ({
      id: path.slice(1),
      name: path.slice(1),
      description: about,
      tags: ['x402'],
    })),
  };
}

function llmsTxt(url: string): string {
  return `# Weather and words

> Sells the weather and summaries for USDC, over x402.

## Documents

- [OpenAPI](${url}/openapi.json): all operations
`;
}

function json(path: string, document: object): SellerDocument {
  return { path, type: 'application/json', body: JSON.stringify(document) };
}
