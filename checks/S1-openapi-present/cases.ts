import type { CheckCase } from '#check';
import type { YamlReading } from '#model';
import type { JsonObject } from '#parse/json';
import {
  answer,
  at,
  failure,
  html,
  NOT_FOUND,
  openApiDocument,
} from '../../test/fixtures/observations/build-observations.ts';

const INFO = {
  title: 'Seller',
  version: '1',
  contact: { email: 'a@b.example' },
  'x-guidance': 'Ask.',
};

function withOpenApi(changes: JsonObject): CheckCase['seen'] {
  return { openapi: answer(200, openApiDocument(changes)) };
}

function withServers(servers: readonly JsonObject[]): CheckCase['seen'] {
  return withOpenApi({ info: INFO, servers, paths: { '/weather': { get: {} } } });
}

/** /openapi.json answers 404, and `path` has the document. */
function withOpenApiAt(path: string, found = answer(200, openApiDocument())): CheckCase['seen'] {
  return { openapi: NOT_FOUND, openapiAlternates: [at(path, found)] };
}

/** /openapi.json answers 404, and /openapi.yaml has a YAML document. */
function withYaml(yaml: YamlReading): CheckCase['seen'] {
  const served = answer(200, 'openapi: 3.1.0\n', { 'content-type': 'application/yaml' });
  return { openapi: NOT_FOUND, openapiAlternates: [{ ...at('/openapi.yaml', served), yaml }] };
}

const CATCH_ALL_PAGE = html(200, '<!doctype html><title>Seller</title><h1>Seller</h1>');

const cases: readonly CheckCase[] = [
  {
    name: '/openapi.json is not answered in time',
    seen: { openapi: failure('timeout', 'no answer within 10 s') },
    expect: { status: 'fail', outcome: 'unreadable', evidence: ['GET /openapi.json: timeout'] },
  },
  {
    name: '/openapi.json answers 404',
    seen: { openapi: NOT_FOUND },
    expect: { status: 'fail', outcome: 'absent', evidence: ['GET /openapi.json: 404'] },
  },
  {
    name: '/openapi.json answers 401',
    seen: { openapi: answer(401, { error: 'Unauthorized' }) },
    expect: { status: 'fail', outcome: 'absent', evidence: ['401'] },
  },
  {
    name: '/openapi.json and a random path have the same page',
    seen: { openapi: CATCH_ALL_PAGE, soft404: CATCH_ALL_PAGE },
    expect: { status: 'fail', outcome: 'soft-404', evidence: ['/openapi.json'] },
  },
  ...['http://localhost:3000', 'http://192.168.1.5/v1', 'http://0.0.0.0:8080', 'http://api'].map(
    (url): CheckCase => ({
      name: `the only server is ${url}`,
      seen: withServers([{ url }]),
      expect: { status: 'warn', outcome: 'local-server', evidence: [url, 'their own machine'] },
    }),
  ),
  {
    name: 'servers is an object',
    seen: withOpenApi({ info: INFO, servers: { url: 'https://api.acme.dev' } }),
    expect: { status: 'warn', outcome: 'odd-servers', evidence: ['/servers', 'api.acme.dev'] },
  },
  {
    name: 'servers is null, like a missing member',
    seen: withOpenApi({ info: INFO, servers: null }),
    expect: { status: 'pass', outcome: 'complete' },
  },
  {
    name: 'a server is a variable whose default is localhost',
    seen: withServers([
      { url: 'http://{host}:3000', variables: { host: { default: 'localhost' } } },
    ]),
    expect: { status: 'warn', outcome: 'local-server', evidence: ['{host}'] },
  },
  {
    name: 'a public server stands beside localhost',
    seen: withServers([{ url: 'http://localhost:3000' }, { url: 'https://api.acme.dev' }]),
    expect: { status: 'pass', outcome: 'complete' },
  },
  {
    name: '/openapi.json is an HTML page',
    seen: { openapi: html(200, '<!doctype html><title>API docs</title>') },
    expect: { status: 'fail', outcome: 'html', evidence: ['HTML'] },
  },
  {
    name: '/openapi.json is longer than the scan reads',
    seen: { openapi: answer(200, '{"openapi":"3.1.0","paths":{', {}, { truncated: true }) },
    expect: { status: 'warn', outcome: 'over-limit', evidence: ['/openapi.json', '8 MiB'] },
  },
  {
    name: '/openapi.json is too long, and its beginning is no JSON',
    seen: { openapi: answer(200, 'aaaa', {}, { truncated: true }) },
    expect: { status: 'fail', outcome: 'not-json', evidence: ['not JSON at character 1'] },
  },
  {
    name: '/openapi.json is too long, and begins with blanks',
    seen: { openapi: answer(200, '    ', {}, { truncated: true }) },
    expect: { status: 'warn', outcome: 'over-limit', evidence: ['/openapi.json', '8 MiB'] },
  },
  {
    name: '/openapi.json has more values than the scan reads',
    seen: { openapi: answer(200, `{"openapi":"3.1.0","x":[${'0,'.repeat(300_000)}0]}`) },
    expect: { status: 'warn', outcome: 'over-limit', evidence: ['over 300000 nodes'] },
  },
  {
    name: '/openapi.json has as many values as the scan reads',
    seen: withOpenApi({ 'x-list': Array.from({ length: 299_900 }, () => 0) }),
    expect: { status: 'pass', outcome: 'complete' },
  },
  {
    name: '/openapi.json is nested deeper than the scan reads',
    seen: { openapi: answer(200, `${'['.repeat(65)}${']'.repeat(65)}`) },
    expect: { status: 'warn', outcome: 'over-limit', evidence: ['deeper than 64'] },
  },
  {
    name: 'the document is at another path, and longer than the scan reads',
    seen: withOpenApiAt('/swagger.json', answer(200, '{"openapi":"3', {}, { truncated: true })),
    expect: { status: 'warn', outcome: 'over-limit', evidence: ['/swagger.json', '8 MiB'] },
  },
  {
    name: '/openapi.json is broken JSON, and another document is longer than the scan reads',
    seen: {
      openapi: answer(200, '{"openapi":'),
      openapiAlternates: [at('/openapi.yaml', answer(200, 'x', {}, { truncated: true }))],
    },
    expect: { status: 'fail', outcome: 'not-json' },
  },
  {
    name: '/openapi.json answers 429',
    seen: { openapi: answer(429, { error: 'Slow down' }) },
    expect: { status: 'warn', outcome: 'rate-limited', evidence: ['GET /openapi.json: 429'] },
  },
  {
    name: '/openapi.json answers 429, and the document is at another path',
    seen: {
      openapi: answer(429, {}),
      openapiAlternates: [at('/swagger.json', answer(200, openApiDocument()))],
    },
    expect: { status: 'warn', outcome: 'rate-limited', evidence: ['GET /openapi.json: 429'] },
  },
  {
    name: '/openapi.json was not asked, because the scan had sent its requests',
    seen: { openapi: failure('not-sent') },
    expect: { status: 'warn', outcome: 'rate-limited', evidence: ['not-sent'] },
  },
  {
    name: 'the origin used up the bytes of the scan before /openapi.json',
    seen: { openapi: failure('budget') },
    expect: { status: 'fail', outcome: 'unreadable', evidence: ['budget'] },
  },
  {
    name: '/openapi.json is broken JSON',
    seen: { openapi: answer(200, '{"openapi":"3.1.0",', { 'content-type': 'application/json' }) },
    expect: { status: 'fail', outcome: 'not-json', evidence: ['not JSON'] },
  },
  {
    name: '/openapi.json is Swagger 2',
    seen: {
      openapi: answer(200, { swagger: '2.0', info: INFO, paths: { '/weather': { get: {} } } }),
    },
    expect: { status: 'fail', outcome: 'not-openapi-3', evidence: ['Swagger 2'] },
  },
  {
    name: '/openapi.json is other JSON',
    seen: { openapi: answer(200, { status: 'ok' }) },
    expect: { status: 'fail', outcome: 'not-openapi-3', evidence: ['{"status":"ok"}'] },
  },
  {
    name: '/openapi.json has OpenAPI 4.0.0',
    seen: withOpenApi({ openapi: '4.0.0' }),
    expect: { status: 'fail', outcome: 'not-openapi-3', evidence: ['"4.0.0"'] },
  },
  {
    name: 'the version of OpenAPI is a number, as YAML reads 3.1 without quotes',
    seen: withYaml({ json: JSON.stringify(openApiDocument({ openapi: 3.1 })) }),
    expect: {
      status: 'fail',
      outcome: 'not-openapi-3',
      evidence: ['/openapi.yaml#/openapi is the number 3.1, not a text'],
    },
  },
  {
    name: 'every path is in another file',
    seen: withOpenApi({ paths: { '/weather': { $ref: 'paths/weather.json' } } }),
    expect: {
      status: 'fail',
      outcome: 'no-paths',
      evidence: ['/openapi.json#"/paths/~1weather" is in another file', '"paths/weather.json"'],
    },
  },
  {
    name: 'one of two paths is in another file',
    seen: withOpenApi({
      paths: { '/health': { get: {} }, '/weather': { $ref: 'https://cdn.example/w.json' } },
    }),
    expect: {
      status: 'warn',
      outcome: 'external-path',
      evidence: ['"https://cdn.example/w.json"'],
    },
  },
  {
    name: 'a path refers to a part of the same document',
    seen: withOpenApi({
      paths: { '/weather': { $ref: '#/components/pathItems/weather' } },
      components: { pathItems: { weather: { get: {} } } },
    }),
    expect: { status: 'pass', outcome: 'complete' },
  },
  {
    name: 'the document has no paths',
    seen: withOpenApi({ paths: {} }),
    expect: { status: 'fail', outcome: 'no-paths', evidence: ['/openapi.json#/paths'] },
  },
  {
    name: 'the only document is YAML',
    seen: withYaml({ json: JSON.stringify(openApiDocument()) }),
    expect: { status: 'warn', outcome: 'yaml-only', evidence: ['YAML at /openapi.yaml'] },
  },
  {
    name: 'the only document is YAML without paths',
    seen: withYaml({ json: JSON.stringify(openApiDocument({ paths: {} })) }),
    expect: { status: 'fail', outcome: 'no-paths', evidence: ['/openapi.yaml#/paths'] },
  },
  {
    name: 'the only document is YAML whose aliases multiply',
    seen: withYaml({ fault: 'over 20000 values', isOverLimit: true }),
    expect: {
      status: 'warn',
      outcome: 'over-limit',
      evidence: ['/openapi.yaml', 'over 20000 values'],
    },
  },
  {
    name: 'the only document is broken YAML',
    seen: withYaml({ fault: 'not YAML at line 3', isOverLimit: false }),
    expect: { status: 'fail', outcome: 'absent', evidence: ['GET /openapi.json: 404'] },
  },
  {
    name: '/openapi.json has YAML',
    seen: { openapi: answer(200, 'openapi: 3.1.0\n', { 'content-type': 'application/yaml' }) },
    expect: { status: 'fail', outcome: 'not-json', evidence: ['not JSON'] },
  },
  {
    name: 'the only document is under .well-known',
    seen: withOpenApiAt('/.well-known/openapi.json'),
    expect: {
      status: 'warn',
      outcome: 'elsewhere',
      evidence: ['the document is at /.well-known/openapi.json'],
    },
  },
  {
    name: '/openapi.json is Swagger 2, and /swagger.json is usable',
    seen: {
      openapi: answer(200, { swagger: '2.0', info: INFO, paths: {} }),
      openapiAlternates: [at('/swagger.json', answer(200, openApiDocument()))],
    },
    expect: { status: 'warn', outcome: 'elsewhere', evidence: ['/openapi.json has no usable one'] },
  },
  {
    name: 'the document has no title',
    seen: withOpenApi({ info: { ...INFO, title: '' } }),
    expect: { status: 'warn', outcome: 'no-title', evidence: ['/openapi.json#/info/title'] },
  },
  {
    name: 'the document has no version of the API',
    seen: withOpenApi({ info: { title: 'Seller' } }),
    expect: { status: 'warn', outcome: 'no-title', evidence: ['#/info/version'] },
  },
  {
    name: 'the version of the API is a number, as YAML reads 1.0 without quotes',
    seen: withOpenApi({ info: { ...INFO, version: 1 } }),
    expect: {
      status: 'warn',
      outcome: 'no-title',
      evidence: ['#/info/version is the number 1, not a text'],
    },
  },
  {
    name: 'the content type is text/plain',
    seen: { openapi: answer(200, openApiDocument(), { 'content-type': 'text/plain' }) },
    expect: { status: 'warn', outcome: 'odd-content-type', evidence: ['"text/plain"'] },
  },
  {
    name: 'the content type is application/vnd.oai.openapi+json',
    seen: {
      openapi: answer(200, openApiDocument(), {
        'content-type': 'application/vnd.oai.openapi+json;version=3.1',
      }),
    },
    expect: { status: 'pass', outcome: 'complete' },
  },
  {
    name: 'the second of two content types is JSON',
    seen: {
      openapi: answer(200, openApiDocument(), {
        'content-type': ['text/html', 'application/json; charset=utf-8'],
      }),
    },
    expect: { status: 'pass', outcome: 'complete' },
  },
  {
    name: 'the document has no contact',
    seen: withOpenApi({ info: { ...INFO, contact: undefined } }),
    expect: { status: 'warn', outcome: 'no-contact', evidence: ['#/info/contact'] },
  },
  {
    name: 'the document has contact and no guidance',
    seen: withOpenApi({ info: { ...INFO, 'x-guidance': undefined } }),
    expect: { status: 'warn', outcome: 'no-guidance', evidence: ['#/info/x-guidance'] },
  },
  {
    name: 'the document is complete',
    seen: {},
    expect: { status: 'pass', outcome: 'complete', evidence: ['"3.1.0"', '3 paths'] },
  },
];

export default cases;
