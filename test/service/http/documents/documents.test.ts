/** Discovery documents agree with the routes and with each other. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startApp, type TestApp } from '../../../fixtures/service/start-app.ts';

const PAY_TO = '0x4020000000000000000000000000000000000402';
const BASE = 'https://api.scanner.example';

const PRICES = {
  '0.1.0': { 'POST /v1/scan': 0.15, 'GET /v1/report': 0.02 },
  '0.3.0': {
    'POST /v1/scan': 0.05,
    'GET /v1/directory/export': 0.1,
    'GET /v1/changes': 0.03,
  },
} as const;

describe.each(['0.1.0', '0.3.0'] as const)('in revision %s', (revision) => {
  let service: TestApp;

  beforeAll(async () => {
    service = await startApp({ revision, environment: { RATE_LIMIT: 'off' } });
  });

  afterAll(() => service[Symbol.asyncDispose]());

  test('interface spec 2.8: the manifest names the paid routes and the recipient', async () => {
    const answer = await service.get('/.well-known/x402');
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    const { endpoints, instructions, ...manifest } = answer.json();
    expect(manifest).toEqual({
      x402Version: 2,
      asset: 'USDC',
      networks: ['eip155:8453'],
      payTo: PAY_TO,
      terms: `${BASE}/terms.txt`,
    });
    expect(instructions).toContain('PAYMENT-SIGNATURE');
    const prices = Object.fromEntries(
      endpoints.map(({ method, resource, price }: Record<string, string>) => [
        `${method} ${resource?.replace(BASE, '')}`,
        Number(price?.replace('$', '')),
      ]),
    );
    expect(prices).toEqual(PRICES[revision]);
    for (const endpoint of endpoints) {
      expect(endpoint).toMatchObject({
        scheme: 'exact',
        networks: ['eip155:8453'],
        price: expect.stringMatching(/^\$\d\.\d\d$/),
        description: expect.any(String),
      });
    }
  });

  test('documents name preflight and the tools for agents if the revision has them', async () => {
    const hasAgentTools = revision === '0.3.0';
    for (const path of ['/llms.txt', '/llms-full.txt']) {
      const { body } = await service.get(path);
      expect(body.includes(`](${BASE}/mcp)`)).toBe(hasAgentTools);
      expect(body.includes('POST /v1/preflight')).toBe(hasAgentTools);
    }
    expect((await service.get('/discovery')).body.includes('/v1/preflight')).toBe(hasAgentTools);
    expect((await service.get('/mcp')).statusCode).toBe(hasAgentTools ? 405 : 404);
  });

  test('interface spec 2.9: /discovery lists free and paid routes', async () => {
    const document = (await service.get('/discovery')).json();
    expect(document).toMatchObject({
      version: revision,
      baseUrl: BASE,
      payment: {
        protocol: 'x402',
        version: 2,
        scheme: 'exact',
        networks: ['eip155:8453'],
        asset: 'USDC',
        model: expect.stringMatching(/^per-call/),
        manifest: `${BASE}/.well-known/x402`,
      },
      links: {
        docs: `${BASE}/llms.txt`,
        docsFull: `${BASE}/llms-full.txt`,
        openapi: `${BASE}/openapi.json`,
        agentCard: `${BASE}/.well-known/agent-card.json`,
        x402: `${BASE}/.well-known/x402`,
        terms: `${BASE}/terms.txt`,
        website: 'https://scanner.example',
      },
    });
    const { free, paid } = document.endpoints;
    const priced = paid.map(({ method, path, priceUsd }: Record<string, unknown>) => [
      `${method} ${path}`,
      priceUsd,
    ]);
    expect(Object.fromEntries(priced)).toEqual(PRICES[revision]);
    const names = free.map(({ method, path }: Record<string, string>) => `${method} ${path}`);
    expect(names).toEqual(
      expect.arrayContaining([
        'GET /health',
        'GET /v1/status',
        'POST /v1/listing',
        'GET /llms.txt',
      ]),
    );
    for (const endpoint of free) {
      expect(endpoint).toMatchObject({ priceUsd: 0, description: expect.any(String) });
    }
    const scan = paid.find(({ path }: { path: string }) => path === '/v1/scan');
    expect(scan.params).toEqual([
      { name: 'url', in: 'body', required: true, description: expect.any(String) },
      { name: 'include', in: 'body', required: false, description: expect.any(String) },
    ]);
  });

  test('interface spec 2.9: the agent card has its fields, and those that A2A 0.3 requires', async () => {
    const card = (await service.get('/.well-known/agent-card.json')).json();
    expect(card).toMatchObject({
      protocolVersion: '0.3.0',
      name: expect.any(String),
      description: expect.any(String),
      url: BASE,
      provider: { organization: expect.any(String), url: 'https://scanner.example' },
      version: revision,
      capabilities: { streaming: false, pushNotifications: false, stateTransitionHistory: false },
      defaultInputModes: ['application/json'],
      defaultOutputModes: ['application/json'],
      endpoints: expect.any(Array),
      x402: { version: 2, networks: ['eip155:8453'], assets: ['USDC'] },
      authentication: { schemes: ['none', 'x402'], description: expect.any(String) },
      documentationUrl: `${BASE}/llms.txt`,
      openApiUrl: `${BASE}/openapi.json`,
      termsOfService: `${BASE}/terms.txt`,
    });
    const prices = PRICES[revision];
    expect(card.skills).toMatchObject([
      { id: 'scan', priceUsd: prices['POST /v1/scan'] },
      { id: 'report', priceUsd: 'GET /v1/report' in prices ? prices['GET /v1/report'] : 0 },
    ]);
    for (const skill of card.skills) {
      expect(skill).toMatchObject({
        name: expect.any(String),
        description: expect.any(String),
        tags: expect.arrayContaining(['x402']),
      });
    }
  });

  test('interface spec 2.9: the terms are served as JSON and as text', async () => {
    const terms = (await service.get('/terms.json')).json();
    expect(terms).toMatchObject({
      version: '0.2',
      effectiveDate: expect.stringMatching(/^\d{4}-\d{2}-\d{2}$/),
      url: `${BASE}/terms.txt`,
      contact: expect.any(String),
    });
    for (const fact of [
      'Not a demo',
      'Informational only',
      'not advice',
      'No personal data',
      'Errors are not charged',
      'conformance only',
      'listed publicly',
      'third parties',
      'Opt-out',
      'domain-control token',
      'mock payments',
    ]) {
      expect(terms.machineSummary).toContain(fact);
    }
    const text = await service.get('/terms.txt');
    expect(text.headers['content-type']).toBe('text/plain; charset=utf-8');
    for (const { title, text: paragraph } of terms.sections) {
      expect(text.body).toContain(title);
      expect(text.body).toContain(paragraph);
    }
    for (const fact of [
      '24 hours',
      'payer address, transaction hash',
      'Continued use is acceptance',
    ]) {
      expect(text.body).toContain(fact);
    }
  });

  test('llms.txt follows its format, and names every paid operation with its price', async () => {
    const summary = (await service.get('/llms.txt')).body;
    expect(summary).toMatch(/^# .+\n\n> .+\n/);
    expect(summary).toMatch(/\n## .+\n\n- \[.+\]\(https:.+\): /);
    const full = (await service.get('/llms-full.txt')).body;
    for (const [operation, price] of Object.entries(PRICES[revision])) {
      const path = operation.split(' ')[1];
      expect(summary).toContain(`- [${operation}](${BASE}${path}): $${price.toFixed(2)}. `);
      expect(full).toContain(`### ${operation}\n\n$${price.toFixed(2)}. `);
    }
    expect(full).toContain('PAYMENT-SIGNATURE');
  });

  test('robots.txt allows every agent, and the icon is an image', async () => {
    expect((await service.get('/robots.txt')).body).toBe('User-agent: *\nAllow: /\n');
    const icon = await service.get('/favicon.svg');
    expect(icon.headers['content-type']).toBe('image/svg+xml');
    expect(icon.body).toMatch(/^<svg /);
    expect((await service.get('/favicon.ico')).headers['content-type']).toBe('image/svg+xml');
  });
});
