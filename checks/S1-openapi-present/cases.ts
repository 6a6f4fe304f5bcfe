import type { CheckCase } from '../../src/engine/define-check.ts';
import type { JsonObject } from '../../src/parse/json/json.ts';
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

function serving(changes: JsonObject): CheckCase['seen'] {
  return { openapi: answer(200, openApiDocument(changes)) };
}

/** A good document at another path, and nothing at /openapi.json. */
function at404(path: string, found = answer(200, openApiDocument())): CheckCase['seen'] {
  return { openapi: NOT_FOUND, openapiAlternates: [at(path, found)] };
}

const catchAll = html(200, '<!doctype html><title>Seller</title><h1>Seller</h1>');

const cases: readonly CheckCase[] = [
  {
    name: 'no answer',
    seen: { openapi: failure('timeout', 'no answer within 10 s') },
    expect: { status: 'fail', outcome: 'unreadable', evidence: ['GET /openapi.json: timeout'] },
  },
  {
    name: '404',
    seen: { openapi: NOT_FOUND },
    expect: { status: 'fail', outcome: 'absent', evidence: ['GET /openapi.json: 404'] },
  },
  {
    name: 'behind a login',
    seen: { openapi: answer(401, { error: 'Unauthorized' }) },
    expect: { status: 'fail', outcome: 'absent', evidence: ['401'] },
  },
  {
    name: 'the same page as everywhere',
    seen: { openapi: catchAll, soft404: catchAll },
    expect: { status: 'fail', outcome: 'soft-404', evidence: ['/openapi.json'] },
  },
  {
    name: 'a page of documentation',
    seen: { openapi: html(200, '<!doctype html><title>API docs</title>') },
    expect: { status: 'fail', outcome: 'html', evidence: ['HTML'] },
  },
  {
    name: 'longer than the read limit',
    seen: { openapi: answer(200, '{"openapi":"3.1.0","paths":{', {}, { truncated: true }) },
    expect: { status: 'fail', outcome: 'oversize', evidence: ['/openapi.json'] },
  },
  {
    name: 'broken JSON',
    seen: { openapi: answer(200, '{"openapi":"3.1.0",', { 'content-type': 'application/json' }) },
    expect: { status: 'fail', outcome: 'not-json', evidence: ['not JSON'] },
  },
  {
    name: 'Swagger 2',
    seen: {
      openapi: answer(200, { swagger: '2.0', info: INFO, paths: { '/weather': { get: {} } } }),
    },
    expect: { status: 'fail', outcome: 'not-openapi-3', evidence: ['Swagger 2'] },
  },
  {
    name: 'JSON that is something else',
    seen: { openapi: answer(200, { status: 'ok' }) },
    expect: { status: 'fail', outcome: 'not-openapi-3', evidence: ['{"status":"ok"}'] },
  },
  {
    name: 'a version of the future',
    seen: serving({ openapi: '4.0.0' }),
    expect: { status: 'fail', outcome: 'not-openapi-3', evidence: ['"4.0.0"'] },
  },
  {
    name: 'no paths',
    seen: serving({ paths: {} }),
    expect: { status: 'fail', outcome: 'no-paths', evidence: ['/openapi.json#/paths'] },
  },
  {
    name: 'YAML only',
    seen: at404(
      '/openapi.yaml',
      answer(200, 'openapi: 3.1.0\npaths: {}\n', { 'content-type': 'application/yaml' }),
    ),
    expect: { status: 'warn', outcome: 'yaml-only', evidence: ['/openapi.yaml'] },
  },
  {
    name: 'only under .well-known',
    seen: at404('/.well-known/openapi.json'),
    expect: {
      status: 'warn',
      outcome: 'elsewhere',
      evidence: ['the document is at /.well-known/openapi.json'],
    },
  },
  {
    name: 'a usable one at /swagger.json beside Swagger 2 at /openapi.json',
    seen: {
      openapi: answer(200, { swagger: '2.0', info: INFO, paths: {} }),
      openapiAlternates: [at('/swagger.json', answer(200, openApiDocument()))],
    },
    expect: { status: 'warn', outcome: 'elsewhere', evidence: ['/openapi.json has no usable one'] },
  },
  {
    name: 'no title',
    seen: serving({ info: { ...INFO, title: '' } }),
    expect: { status: 'warn', outcome: 'no-title', evidence: ['/openapi.json#/info/title'] },
  },
  {
    name: 'no version of the API',
    seen: serving({ info: { title: 'Seller' } }),
    expect: { status: 'warn', outcome: 'no-title', evidence: ['#/info/version'] },
  },
  {
    name: 'sent as text',
    seen: { openapi: answer(200, openApiDocument(), { 'content-type': 'text/plain' }) },
    expect: { status: 'warn', outcome: 'odd-content-type', evidence: ['"text/plain"'] },
  },
  {
    name: 'the type of OpenAPI itself',
    seen: {
      openapi: answer(200, openApiDocument(), {
        'content-type': 'application/vnd.oai.openapi+json;version=3.1',
      }),
    },
    expect: { status: 'pass', outcome: 'complete' },
  },
  {
    name: 'the content type twice',
    seen: {
      openapi: answer(200, openApiDocument(), {
        'content-type': ['text/html', 'application/json; charset=utf-8'],
      }),
    },
    expect: { status: 'pass', outcome: 'complete' },
  },
  {
    name: 'no contact',
    seen: serving({ info: { ...INFO, contact: undefined } }),
    expect: { status: 'warn', outcome: 'no-contact', evidence: ['#/info/contact'] },
  },
  {
    name: 'no guidance: a stock FastAPI document with contact',
    seen: serving({ info: { ...INFO, 'x-guidance': undefined } }),
    expect: { status: 'warn', outcome: 'no-guidance', evidence: ['#/info/x-guidance'] },
  },
  {
    name: 'all right',
    seen: {},
    expect: { status: 'pass', outcome: 'complete', evidence: ['"3.1.0"', '3 paths'] },
  },
];

export default cases;
