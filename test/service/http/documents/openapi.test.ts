/** The OpenAPI document must match the routes and their answers. */
import SwaggerParser from '@apidevtools/swagger-parser';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { OpenAPIV3_1 } from 'openapi-types';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ERROR_CODES, type ErrorCode } from '../../../../src/service/errors/error-codes.ts';
import { startApp, type TestApp } from '../../../fixtures/service/start-app.ts';

const FREE_OPERATIONS = [
  'GET /health',
  'GET /v1/status',
  'GET /v1/checks',
  'GET /v1/directory',
  'GET /v1/featured',
  'GET /v1/project',
  'POST /v1/verify/start',
  'POST /v1/verify/confirm',
  'POST /v1/listing',
  'GET /discovery',
  'GET /openapi.json',
  'GET /llms.txt',
  'GET /llms-full.txt',
  'GET /.well-known/x402',
  'GET /.well-known/agent-card.json',
  'GET /terms.txt',
  'GET /terms.json',
];

const ROUTES = {
  '0.1.0': {
    free: FREE_OPERATIONS,
    paid: { 'POST /v1/scan': '0.150000', 'GET /v1/report': '0.020000' },
  },
  '0.3.0': {
    free: [
      ...FREE_OPERATIONS,
      'GET /v1/report',
      'GET /v1/attestation',
      'GET /.well-known/jwks.json',
      'POST /v1/preflight',
      'GET /v1/statistics',
      'GET /o/{host}/feed.atom',
      'GET /directory.atom',
      'POST /v1/watch',
      'POST /v1/watch/status',
      'POST /v1/watch/test',
      'POST /v1/watch/stop',
    ],
    paid: {
      'POST /v1/scan': '0.050000',
      'GET /v1/directory/export': '0.100000',
      'GET /v1/changes': '0.030000',
    },
  },
} as const;

/** Lists the error codes that a documented answer can have. */
function listErrorCodes(response: unknown): ErrorCode[] {
  const { content } = response as OpenAPIV3_1.ResponseObject;
  const schema = content?.['application/json']?.schema as OpenAPIV3_1.SchemaObject | undefined;
  const error = schema?.properties?.['error'] as OpenAPIV3_1.SchemaObject | undefined;
  return (error?.enum ?? []) as ErrorCode[];
}

const API_PATHS = /^\/(?:v\d|health|discovery|openapi|llms|terms|\.well-known)/;

type InputSchema = OpenAPIV3_1.SchemaObject & { readonly items?: object };
type Operation = OpenAPIV3_1.OperationObject & { readonly 'x-payment-info'?: unknown };

describe.each(['0.1.0', '0.3.0'] as const)('/openapi.json of revision %s', (revision) => {
  let service: TestApp;
  let document: OpenAPIV3_1.Document;
  let operations: Map<string, Operation>;

  beforeAll(async () => {
    service = await startApp({ revision, environment: { RATE_LIMIT: 'off' } });
    document = (await service.get('/openapi.json')).json();
    operations = new Map(
      Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
        Object.entries(item ?? {}).map(
          ([method, operation]) =>
            [`${method.toUpperCase()} ${path}`, operation as Operation] as const,
        ),
      ),
    );
  });

  afterAll(() => service[Symbol.asyncDispose]());

  test('is valid OpenAPI 3.1 with a contact', async () => {
    expect(document.openapi).toBe('3.1.0');
    await SwaggerParser.validate(structuredClone(document) as never);
    expect(document.info).toMatchObject({
      version: revision,
      contact: { url: 'https://scanner.example' },
    });
    const guidance = (document.info as unknown as Record<string, string>)['x-guidance'] ?? '';
    expect(guidance.length).toBeGreaterThan(500);
    expect(guidance.length).toBeLessThanOrEqual(4_000);
    expect(document.servers).toEqual([{ url: 'https://api.scanner.example' }]);
  });

  test('interface spec 4: lists exactly the operations of the revision', () => {
    const { free, paid } = ROUTES[revision];
    expect([...operations.keys()].sort()).toEqual([...free, ...Object.keys(paid)].sort());
  });

  test('lists every route of the API, and no pages or files for browsers', () => {
    const registeredPaths = readRoutes(service);
    expect(registeredPaths).toContain('/v1/status');
    const documented = new Set([...operations.keys()].map((name) => name.split(' ')[1]));
    const undocumentedPaths = registeredPaths.filter((path) => !documented.has(path));
    expect(undocumentedPaths.filter((path) => API_PATHS.test(path))).toEqual([]);
    expect(undocumentedPaths).toEqual(
      expect.arrayContaining(['/metrics', '/robots.txt', '/favicon.svg']),
    );
  });

  test('interface spec 4.2: gives free operations an empty security list, and paid operations a price', () => {
    const { free, paid } = ROUTES[revision];
    for (const name of free) {
      expect(operations.get(name)?.security).toEqual([]);
      expect(operations.get(name)?.['x-payment-info']).toBeUndefined();
    }
    for (const [name, amount] of Object.entries(paid)) {
      const operation = operations.get(name);
      expect(operation?.security).toEqual([{ x402: [] }]);
      expect(operation?.['x-payment-info']).toEqual({
        price: { mode: 'fixed', currency: 'USD', amount },
        protocols: [{ x402: {} }],
      });
      expect(operation?.responses?.['402']).toBeDefined();
    }
    expect(document.components?.securitySchemes).toMatchObject({
      x402: { type: 'http', scheme: 'x402' },
    });
  });

  test('lists every error code, and lists with each operation the error codes that the operation can answer', () => {
    const { Error: errorSchema } = document.components?.schemas ?? {};
    expect(errorSchema).toMatchObject({
      properties: { error: { enum: Object.keys(ERROR_CODES) } },
    });
    const documented = new Set<string>();
    for (const [name, { responses }] of operations) {
      const codes = Object.entries(responses ?? {}).flatMap(([status, response]) =>
        listErrorCodes(response).map((code) => ({ status: Number(status), code })),
      );
      for (const { status, code } of codes) expect(ERROR_CODES[code].status, name).toBe(status);
      const ownCodes = codes.map(({ code }) => code);
      expect(ownCodes, name).toEqual(expect.arrayContaining(['internal_error', 'saturated']));
      for (const code of ownCodes) documented.add(code);
    }
    const hasWatches = revision === '0.3.0';
    const codesOfNoOperation = [
      'invalid_http',
      // Only an operation with a parameter in its path, for example the feed, answers invalid_path.
      ...(hasWatches ? [] : ['invalid_path', 'not_your_watch']),
      'forbidden',
      ...(hasWatches ? [] : ['not_found']),
      'method_not_allowed',
      ...(hasWatches ? [] : ['too_many_watches', 'not_agreed']),
    ];
    const undocumentedCodes = Object.keys(ERROR_CODES).filter((code) => !documented.has(code));
    expect(undocumentedCodes).toEqual(codesOfNoOperation);
  });

  test('has unique operation ids, and texts of at most 500 characters', () => {
    const ids = [...operations.values()].map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { summary, description = '' } of operations.values()) {
      expect(summary).toMatch(/\S/);
      expect(description.length).toBeLessThanOrEqual(500);
    }
  });

  test('gives every input an example that the route accepts, and a pattern or other limit', async () => {
    await service.publish('api.example.com');
    for (const [name, operation] of operations) {
      const [method = '', path = ''] = name.split(' ');
      const inputs = Object.entries(toInputSchemas(operation));
      for (const [input, schema] of inputs) {
        const { example, format, pattern = '', maxLength, enum: accepted, items, type } = schema;
        const hasEnum = accepted ?? (items && 'enum' in items);
        expect(example, `${name} ${input}`).toBeDefined();
        const limit = format || pattern || maxLength || hasEnum;
        expect(limit || type === 'boolean', `${name} ${input}`).toBeTruthy();
        expect(String(example)).toMatch(new RegExp(pattern));
      }
      const values = Object.fromEntries(inputs.map(([input, { example }]) => [input, example]));
      const url = path.replace(/\{(\w+)\}/g, (_all, input: string) => {
        const value = String(values[input]);
        delete values[input];
        return value;
      });
      const answer =
        method === 'POST'
          ? await service.post(url, values)
          : await service.get(`${url}?${new URLSearchParams(values)}`);
      // These calls have neither a payment (402) nor a proof of control (403). Other routes answer 200.
      const needsOwner = path === '/v1/listing' || path.startsWith('/v1/watch');
      const expectedStatus = operation['x-payment-info'] ? 402 : needsOwner ? 403 : 200;
      expect([name, answer.statusCode]).toEqual([name, expectedStatus]);
    }
  });

  test('has for each answer a schema that the answer matches', async () => {
    await service.publish('shop.example.com');
    const answers = [
      ['GET /health', '/health'],
      ['GET /v1/status', '/v1/status?url=shop.example.com'],
      ['GET /v1/status', '/v1/status?url=nobody.example.com'],
      ['GET /v1/status', '/v1/status?url=nonsense'],
      ['GET /v1/statistics', '/v1/statistics'],
      ['GET /v1/statistics', '/v1/statistics?days=2'],
      ['GET /v1/checks', '/v1/checks'],
      ['GET /v1/directory', '/v1/directory'],
      ['GET /v1/directory', '/v1/directory?sort=best'],
      ['GET /v1/featured', '/v1/featured'],
      ['GET /v1/project', '/v1/project?host=shop.example.com'],
      ['GET /v1/project', '/v1/project?host=nobody.example.com'],
      ['GET /v1/report', '/v1/report?url=shop.example.com'],
      ['POST /v1/scan', '/v1/scan'],
      ['POST /v1/verify/start', '/v1/verify/start'],
      ['POST /v1/verify/confirm', '/v1/verify/confirm'],
      ['POST /v1/listing', '/v1/listing'],
    ] as const;
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    for (const [name, url] of answers) {
      if (!operations.has(name)) continue;
      const answer = name.startsWith('POST')
        ? await service.post(url, { url: 'shop.example.com' })
        : await service.get(url);
      const response = operations.get(name)?.responses?.[answer.statusCode];
      const content = (response as OpenAPIV3_1.ResponseObject | undefined)?.content;
      const schema = content?.['application/json']?.schema;
      if (schema === undefined) throw new Error(`${name} does not document ${answer.statusCode}`);
      const validate = ajv.compile(schema);
      expect([url, validate(answer.json()), validate.errors]).toEqual([url, true, null]);
    }
  });
});

/** Returns the schemas of the query parameters and of the members of the body, by name. */
function toInputSchemas({ parameters = [], requestBody }: Operation) {
  const body = requestBody as OpenAPIV3_1.RequestBodyObject | undefined;
  const schema = body?.content['application/json']?.schema as OpenAPIV3_1.SchemaObject | undefined;
  const parameterSchemas = (parameters as OpenAPIV3_1.ParameterObject[]).map(
    ({ name, schema: parameterSchema, example }) =>
      [name, { example, ...parameterSchema }] as const,
  );
  return {
    ...Object.fromEntries(parameterSchemas),
    ...schema?.properties,
  } as Readonly<Record<string, InputSchema>>;
}

/** Reads the registered paths from Fastify's route table. */
function readRoutes({ app }: TestApp): string[] {
  const paths = new Set<string>();
  const stack: string[] = [];
  for (const line of app.printRoutes({ commonPrefix: false }).split('\n')) {
    const match = /^([\s│]*)[├└]── (\S+)(?: \((.+)\))?/.exec(line);
    if (match === null) continue;
    const [, indent = '', path = '', methods] = match;
    const depth = Math.floor(indent.length / 4);
    stack.splice(depth, stack.length, path);
    if (methods !== undefined && methods !== 'OPTIONS') paths.add(stack.join(''));
  }
  return [...paths];
}
