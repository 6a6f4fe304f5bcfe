import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type JsonObject,
  type JsonValue,
  parseJson,
} from '../../../../src/scanner/parse/json/json.ts';
import { type Operation, parseOpenApi } from '../../../../src/scanner/parse/openapi/openapi.ts';
import { expectLinear, repeat } from '../../../fixtures/cpu-cost.ts';
import {
  freeOperation,
  openApiDocument,
  paidOperation,
} from '../../../fixtures/observations/build-observations.ts';

const DOCUMENT_URL = 'https://seller.example/openapi.json';
const MAX_BYTES = 2 * 1024 * 1024;

function parseFacts(document: JsonValue) {
  return parseOpenApi(document, DOCUMENT_URL);
}

function readOperation(path: string, source: JsonObject, changes: JsonObject = {}): Operation {
  const [operation] = parseFacts(
    openApiDocument({ paths: { [path]: source }, ...changes }),
  ).operations;
  if (operation === undefined) throw new Error('The document has no operation.');
  return operation;
}

function readRequestPath(path: string, parameters: JsonValue, changes: JsonObject = {}): string {
  return readOperation(path, { get: { parameters } }, changes).requestPath;
}

describe('parseOpenApi', () => {
  test("reads the members of the document's info", () => {
    expect(parseFacts(openApiDocument())).toMatchObject({
      version: '3.1.0',
      swagger: false,
      title: 'Seller',
      infoVersion: '1.0.0',
      hasContact: true,
      hasGuidance: true,
      description: null,
      pathCount: 3,
      securitySchemes: [{ name: 'x402', type: 'http', scheme: 'x402', in: '', parameter: '' }],
    });
  });

  test('treats a contact without words, and an empty guidance, as absent', () => {
    const info = { title: 'x', version: '1', contact: { email: ' ' }, 'x-guidance': '' };
    expect(parseFacts({ openapi: '3.0.0', info })).toMatchObject({
      hasContact: false,
      hasGuidance: false,
    });
  });

  test.each([
    [null],
    [[]],
    ['text'],
    [{}],
    [{ paths: [] }],
    [{ info: 'x', paths: { '/x': null } }],
  ])('finds nothing in %j', (document) => {
    expect(parseFacts(document)).toMatchObject({ version: null, operations: [], title: null });
  });

  test('recognises Swagger 2 by its member', () => {
    expect(parseFacts({ swagger: '2.0', paths: {} })).toMatchObject({
      swagger: true,
      version: null,
    });
  });

  test('counts only paths, not their extensions', () => {
    expect(parseFacts({ paths: { '/a': {}, 'x-note': {}, b: { get: {} } } })).toMatchObject({
      pathCount: 1,
      operations: [],
    });
  });

  test('finds servers and documentation, with their pointers', () => {
    const document = openApiDocument({
      servers: [{ url: 'https://seller.example' }, {}, { url: '/v2' }],
      externalDocs: { url: '/docs' },
      tags: [{ name: 'a' }, { name: 'b', externalDocs: { url: '/b' } }],
      paths: { '/x/y': { get: { externalDocs: { url: '/y' } } } },
    });
    expect(parseFacts(document).servers).toEqual([
      { url: 'https://seller.example', pointer: '/servers/0' },
      { url: '/v2', pointer: '/servers/2' },
    ]);
    expect(parseFacts(document).externalDocs).toEqual([
      { url: '/docs', pointer: '/externalDocs' },
      { url: '/b', pointer: '/tags/1/externalDocs' },
      { url: '/y', pointer: '/paths/~1x~1y/get/externalDocs' },
    ]);
  });

  test('reads security schemes behind references', () => {
    const shared = { type: 'apiKey', in: 'header', name: 'X-PAYMENT' };
    const components = {
      securitySchemes: { a: { $ref: '#/components/x' }, b: { $ref: '#/none' } },
      x: shared,
    };
    expect(parseFacts({ components }).securitySchemes).toEqual([
      { name: 'a', type: 'apiKey', scheme: '', in: 'header', parameter: 'X-PAYMENT' },
    ]);
  });
});

describe('operations', () => {
  test('have their declared members', () => {
    expect(readOperation('/weather', { get: paidOperation() })).toMatchObject({
      method: 'GET',
      template: '/weather',
      pointer: '/paths/~1weather/get',
      requestPath: '/weather',
      security: [{ x402: [] }],
      declares402: true,
      protocols: 'objects',
      protocolNames: ['x402'],
      paid: true,
    });
  });

  test.each([
    ['a price', { 'x-payment-info': { price: '1' } }, true],
    ['a 402', { responses: { '402': { $ref: '#/none' } } }, true],
    ['text for a price', { 'x-payment-info': '0.01' }, true],
    ['null for a price', { 'x-payment-info': null }, false],
    ['false for a price', { 'x-payment-info': false }, false],
    ['a price of nothing', { 'x-payment-info': { price: { mode: 'free' } } }, false],
    [
      'a free price and a 402',
      { 'x-payment-info': { price: { mode: 'free' } }, responses: { '402': {} } },
      false,
    ],
    ['another response', { responses: { '200': {}, '4XX': {} } }, false],
    ['nothing', {}, false],
  ])('count as paid or not: %s', (_, source, paid) => {
    expect(readOperation('/x', { get: source }).paid).toBe(paid);
  });

  test.each([
    ['x-price-usd', '$0.01', '0.01'],
    ['x-price', '$0.01', '0.01'],
    ['x-x402-price', 0.01, '0.01'],
    ['x-acme-price-usdc', 0.02, '0.02'],
    ['x-x402', { price: '0.03 USDC', network: 'base' }, '0.03'],
    ['x-payment', { amount: '1.00', currency: 'USDC', scheme: 'tx-hash-v1' }, '1.00'],
    ['x-pricing', { price_usd: 0.04 }, '0.04'],
    ['x-402', { price_usdc: 0.05, priceMicros: 50_000 }, '0.05'],
  ])('are paid by a price in %s: %j', (name, value, amount) => {
    const pointer = expect.stringContaining(`/paths/~1x/get/${name}`);
    expect(readOperation('/x', { get: { [name]: value } })).toMatchObject({
      paid: true,
      free: false,
      price: { kind: 'legacy', amount, pointer },
    });
  });

  test('count as paid by POST only if their members speak of a payment', () => {
    const isPaid = (post: JsonObject) => readOperation('/x', { post }).paid;
    expect(isPaid({ 'x-price-usd': '5.00' })).toBe(false);
    expect(isPaid({ 'x-acme-price-usdc': '5.00' })).toBe(true);
    expect(isPaid({ 'x-price-usd': '5.00', 'x-payment': { protocol: 'x402' } })).toBe(true);
    expect(isPaid({ 'x-price-usd': '5.00', 'x-payment': { protocol: 'card' } })).toBe(false);
  });

  test.each([
    ['x-payment', { protocol: 'x402', network: 'base' }],
    ['x-x402-network', 'base'],
    ['x-x402-pricing-type', 'static'],
    ['x-payment-protocol', 'x402'],
    ['x-pricing', { currency: 'USDC' }],
    ['price', '0.01'],
  ])('are not paid by %s: %j, which states no price', (name, value) => {
    const { paid, price } = readOperation('/x', { post: { [name]: value } });
    expect({ paid, price }).toEqual({ paid: false, price: null });
  });

  test.each([{ 'x-price-usdc': 0 }, { 'x-402': { priceMicros: 0 } }])(
    'are free by a price of nothing in another member: %j',
    (post) => {
      expect(readOperation('/x', { post })).toMatchObject({ paid: false, free: true });
    },
  );

  test('are paid or not by x-payment-required, in whatever order a price stands beside it', () => {
    const [yes, no] = [{ 'x-payment-required': true }, { 'x-payment-required': false }];
    const read = (post: JsonObject) => readOperation('/x', { post });
    expect(read(yes)).toMatchObject({ paid: true, price: null });
    const sold = { paid: true, price: { amount: '0.01' } };
    expect(read({ ...yes, 'x-price': '0.01' })).toMatchObject(sold);
    expect(read({ 'x-price': '0.01', ...yes })).toMatchObject(sold);
    for (const post of [no, { ...no, 'x-price': 'quoted' }, { 'x-price': 'quoted', ...no }]) {
      expect(read(post)).toMatchObject({ paid: false, costsNothing: true });
    }
  });

  test('prefer their own x-payment-info to every other place', () => {
    const info = { price: { mode: 'fixed', amount: '0.01' } };
    const get = { 'x-price': '9', 'x-payment-info': info };
    const { price } = readOperation('/x', { get, 'x-payment-info': { price: '8' } });
    expect(price).toMatchObject({ amount: '0.01', pointer: '/paths/~1x/get/x-payment-info/price' });
  });

  test('inherit the x-payment-info of their path, unless they say that they are free', () => {
    const item = { 'x-payment-info': { price: '0.05' } };
    expect(readOperation('/x', { get: {}, ...item })).toMatchObject({
      paid: true,
      price: { amount: '0.05', pointer: '/paths/~1x/x-payment-info/price' },
    });
    const free = readOperation('/x', { get: { security: [] }, ...item });
    expect(free).toMatchObject({ paid: false, free: true, price: null });
  });

  test.each([
    ['neither declares any', {}, {}, null],
    ['the root does', {}, { security: [{ x402: [] }] }, [{ x402: [] }]],
    ['the operation overrides the root', { security: [] }, { security: [{ x402: [] }] }, []],
    ['the operation has no list', { security: {} }, { security: [] }, []],
    ['items are not objects', { security: ['x402', { a: [] }] }, {}, [{ a: [] }]],
  ])('have effective security: %s', (_, source, root, security) => {
    expect(readOperation('/x', { get: source }, root).security).toEqual(security);
  });

  test('are found behind references to path items, but members beside the reference override them', () => {
    const document = openApiDocument({
      paths: { '/x': { $ref: '#/components/pathItems/x', post: freeOperation() } },
      components: { pathItems: { x: { get: paidOperation(), post: paidOperation() } } },
    });
    const methods = parseFacts(document).operations.map(({ method, paid }) => [method, paid]);
    expect(methods).toEqual([
      ['GET', true],
      ['POST', false],
    ]);
  });

  test('are empty behind circular references', () => {
    const paths = { '/x': { $ref: '#/paths/~1y' }, '/y': { $ref: '#/paths/~1x' } };
    expect(parseFacts(openApiDocument({ paths })).operations).toEqual([]);
  });

  test('state whether a request needs more than its path', () => {
    const required = { in: 'query', name: 'city', required: true };
    const components = { parameters: { city: required } };
    const source = (parameters: JsonValue) => ({ get: { parameters } });
    const needs = (parameters: JsonValue) =>
      readOperation('/x', source(parameters), { components }).hasRequiredParameters;
    expect(needs([required])).toBe(true);
    expect(needs([{ $ref: '#/components/parameters/city' }])).toBe(true);
    expect(needs([{ in: 'query', name: 'city' }])).toBe(false);
    expect(needs([{ in: 'path', name: 'id', required: true }])).toBe(false);
    const shared = { parameters: [required], get: {} };
    expect(readOperation('/x', shared).hasRequiredParameters).toBe(true);
    const get = { parameters: [{ ...required, required: false }] };
    expect(readOperation('/x', { ...shared, get }).hasRequiredParameters).toBe(false);
  });
});

describe('requestPath', () => {
  const idParameter = (members: JsonObject) => [{ in: 'path', name: 'id', ...members }];

  test.each([
    [idParameter({ example: 42, schema: { default: 'no' } }), '/users/42'],
    [idParameter({ examples: { a: { value: 'ann lee' } } }), '/users/ann%20lee'],
    [idParameter({ examples: { a: { $ref: '#/components/examples/a' } } }), '/users/shared'],
    [idParameter({ schema: { example: 'a/b?c#d' } }), '/users/a%2Fb%3Fc%23d'],
    [idParameter({ schema: { examples: ['e1'] } }), '/users/e1'],
    [idParameter({ schema: { default: false } }), '/users/false'],
    [idParameter({ schema: { enum: ['first', 'second'] } }), '/users/first'],
    [idParameter({ schema: { $ref: '#/components/schemas/id' } }), '/users/from-schema'],
    [idParameter({ schema: { type: 'integer' } }), '/users/1'],
    [idParameter({ schema: { type: 'integer', minimum: 100 } }), '/users/100'],
    [idParameter({ schema: { type: ['integer', 'null'] } }), '/users/1'],
    [
      idParameter({ schema: { type: 'string', format: 'uuid' } }),
      '/users/00000000-0000-4000-8000-000000000000',
    ],
    [idParameter({ schema: { type: 'string' } }), '/users/example'],
    [idParameter({ example: '..' }), '/users/example'],
    [idParameter({ example: '' }), '/users/example'],
    [idParameter({ example: { no: 'text' } }), '/users/example'],
    [idParameter({ example: '\uD800' }), '/users/%EF%BF%BD'],
    [[{ in: 'query', name: 'id', example: 'wrong' }], '/users/example'],
    [[], '/users/example'],
    ['no list', '/users/example'],
  ])('fills parameters %j into the path: %s', (parameters, path) => {
    const components = {
      examples: { a: { value: 'shared' } },
      schemas: { id: { example: 'from-schema' } },
    };
    expect(readRequestPath('/users/{id}', parameters, { components })).toBe(path);
  });

  const queryParameter = (name: string, members: JsonObject) => ({
    in: 'query',
    name,
    required: true,
    ...members,
  });

  test.each([
    [[queryParameter('q', { example: 'a b&c' })], '/x?q=a%20b%26c', false],
    [[queryParameter('unit', { schema: { enum: ['c', 'f'] } })], '/x?unit=c', false],
    [[queryParameter('n', { schema: { default: 3 } })], '/x?n=3', false],
    [[queryParameter('u', { schema: { allOf: [{ enum: ['c'] }] } })], '/x?u=c', false],
    [
      [queryParameter('u', { schema: { anyOf: [{ enum: ['f'] }, { type: 'null' }] } })],
      '/x?u=f',
      false,
    ],
    [[queryParameter('u', { schema: { anyOf: [{ type: 'string' }] } })], '/x?u=example', true],
    [[queryParameter('tags', { example: ['one', 'two'] })], '/x?tags=one', false],
    [[queryParameter('q', { schema: { type: 'string' } })], '/x?q=example', true],
    [
      [queryParameter('a', { example: 1 }), queryParameter('b', { schema: { type: 'integer' } })],
      '/x?a=1&b=1',
      true,
    ],
    [[queryParameter('q', { required: false, example: 'no' })], '/x', false],
    [[queryParameter('', { example: 'no' })], '/x', false],
    [[{ in: 'header', name: 'X-Key', required: true }], '/x', false],
  ])('has the required query parameters: %j', (parameters, path, isMadeUp) => {
    const operation = readOperation('/x', { get: { parameters } });
    expect(operation.requestPath).toBe(path);
    expect(operation.isMadeUp).toBe(isMadeUp);
  });

  test.each([
    [idParameter({ example: 42 }), false],
    [idParameter({ schema: { enum: ['first'] } }), false],
    [idParameter({ schema: { type: 'integer', minimum: 7 } }), true],
    [idParameter({}), true],
    [[], true],
  ])('has a made-up value if none is declared: %j', (parameters, isMadeUp) => {
    expect(readOperation('/users/{id}', { get: { parameters } }).isMadeUp).toBe(isMadeUp);
  });

  test.each([
    [[{ url: '/api' }], '/api/x'],
    [[{ url: '/api/' }], '/api/x'],
    [[{ url: 'v1' }], '/v1/x'],
    [[{ url: 'https://seller.example/api/v1' }], '/api/v1/x'],
    [[{ url: 'http://seller.example/behind-proxy' }], '/behind-proxy/x'],
    [[{ url: 'https://other.example/api' }], '/x'],
    [[{ url: '/' }], '/x'],
    [[{ url: '/{v}', variables: { v: { default: 'v2' } } }], '/v2/x'],
    [[{ url: '/{v}', variables: { v: { default: { toString: 1 } } } }], '/x'],
    [[{ url: 'https://[' }], '/x'],
    [[{ url: 'javascript:alert(1)' }], '/x'],
    [[], '/x'],
    [{ url: '/api' }, '/x'],
  ])('begins with the path of the first server: %j', (servers, path) => {
    expect(readRequestPath('/x', [], { servers })).toBe(path);
  });

  test.each([
    [[{ url: 'https://api.other.example/v1' }], 'https://api.other.example'],
    [[{ url: 'https://seller.example:8443' }], 'https://seller.example:8443'],
    [[{ url: 'https://other.example' }, { url: '/v2' }], null],
    [[{ url: 'http://seller.example:3000' }], null],
    [[{ url: 'https://[' }], null],
    [[], null],
  ])(
    'names the origin of the servers if all of them are on another origin: %j',
    (servers, elsewhere) => {
      expect(readOperation('/x', { get: {} }, { servers }).elsewhere).toBe(elsewhere);
    },
  );

  test.each([
    [{ responses: { 402: {} }, security: [{ siwx: [] }] }, true],
    [{ responses: { 402: {} }, security: [{ bearer: [] }, { siwx: [] }] }, true],
    [{ responses: { 402: {} }, security: [{ siwx: [] }, { pay: [] }] }, false],
    [{ responses: { 402: {} }, security: [{ key: [] }] }, false],
    [{ responses: { 402: {} }, security: [{ X402: [] }] }, false],
    [{ responses: { 402: {} }, security: [] }, false],
    [{ responses: { 402: {} } }, false],
    [{ responses: { 402: {} }, security: [{ siwx: [] }], 'x-payment-info': {} }, false],
    [{ responses: { 200: {} }, security: [{ siwx: [] }] }, false],
  ])('recognises a 402 that asks for a sign-in: %j', (operation, signIn) => {
    const securitySchemes = {
      siwx: { type: 'http', scheme: 'siwx' },
      bearer: { type: 'http', scheme: 'bearer' },
      pay: { type: 'http', scheme: 'x402' },
      key: { type: 'apiKey', in: 'header', name: 'X-PAYMENT' },
    };
    const components = { securitySchemes };
    expect(readOperation('/x', { get: operation }, { components }).signIn).toBe(signIn);
  });

  test('prefers the servers of operation and path item to those of the root', () => {
    const item = { servers: [{ url: '/item' }], get: {}, post: { servers: [{ url: '/own' }] } };
    const document = openApiDocument({ servers: [{ url: '/root' }], paths: { '/x': item } });
    const paths = parseFacts(document).operations.map((operation) => operation.requestPath);
    expect(paths).toEqual(['/item/x', '/own/x']);
  });

  test('never leads to another origin', () => {
    const piece = fc.constantFrom(
      '/',
      '//',
      '\\',
      '@',
      '..',
      '.',
      ':',
      '{id}',
      '{',
      '}',
      '#',
      '?',
      'evil.example',
      '%2f',
      '\t',
      ' ',
      'é',
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 8 }),
        fc.array(piece, { maxLength: 4 }),
        (pathPieces, basePieces) => {
          const servers = [{ url: basePieces.join('') }];
          const path = readRequestPath(`/${pathPieces.join('')}`, [], { servers });
          expect(path).toMatch(/^\/(?![/\\])/);
          expect(new URL(path, 'https://seller.example').host).toBe('seller.example');
          expect(new URL(`https://seller.example${path}`).host).toBe('seller.example');
        },
      ),
      { numRuns: 2_000 },
    );
  });
});

describe('a hostile document', () => {
  const json = (document: JsonObject) => JSON.stringify(document);

  test.each([
    [
      'paths',
      (n: number) =>
        json({ paths: Object.fromEntries(createMany(n / 50, (i) => [`/p${i}`, { get: {} }])) }),
    ],
    ['paths that share a path item', createSharedItem],
    ['operations that share parameters', createSharedParameters],
    [
      'one long template',
      (n: number) => json({ paths: { [`/${repeat('{a}')(n)}`]: { get: {} } } }),
    ],
    ['open braces', (n: number) => json({ paths: { [`/${repeat('{')(n)}`]: { get: {} } } })],
    ['a server that grows', createGrowingServer],
  ])('takes time in proportion to its length: %s', (_document, createText) => {
    expectLinear(
      (length) => createText(length).padEnd(length),
      MAX_BYTES / 2,
      (text) => {
        const reading = parseJson(text);
        expect(reading.ok).toBe(true);
        if (reading.ok) parseFacts(reading.value);
      },
    );
  });
});

function createMany<T>(count: number, make: (index: number) => T): readonly T[] {
  return Array.from({ length: Math.floor(count) }, (_, index) => make(index));
}

function createSharedItem(length: number): string {
  const parameters = createMany(length / 200, (i) => ({ in: 'path', name: `n${i}` }));
  const item = { parameters, get: {}, put: {}, post: {}, delete: {}, patch: {}, head: {} };
  const paths = createMany(
    length / 200,
    (i) => [`/p${i}/{n1}`, { $ref: '#/paths/~1item' }] as const,
  );
  return JSON.stringify({ paths: { '/item': item, ...Object.fromEntries(paths) } });
}

function createSharedParameters(length: number): string {
  const schema = { enum: createMany(length / 200, () => '') };
  const shared = { in: 'path', name: 'id', schema };
  const paths = createMany(length / 400, (i) => {
    const parameters = [{ $ref: '#/components/id' }];
    return [`/p${i}/{id}`, { get: { parameters } }] as const;
  });
  return JSON.stringify({ components: { id: shared }, paths: Object.fromEntries(paths) });
}

function createGrowingServer(length: number): string {
  const variables = { a: { default: 'x'.repeat(length / 2) } };
  const paths = createMany(length / 100, (i) => [`/p${i}`, { get: {} }] as const);
  const servers = [{ url: `/${'{a}'.repeat(600)}`, variables }];
  return JSON.stringify({ servers, paths: Object.fromEntries(paths) });
}
