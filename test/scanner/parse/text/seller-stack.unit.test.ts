import { expect, test } from 'vitest';
import { findSellerStack } from '../../../../src/scanner/parse/text/seller-stack.ts';
import {
  answer,
  failure,
  type Headers,
  html,
} from '../../../fixtures/observations/build-observations.ts';

test.each<readonly [Headers, string | null]>([
  [{ 'x-powered-by': 'Express' }, 'express'],
  [{ 'x-powered-by': 'Next.js' }, 'next'],
  [{ 'x-powered-by': 'PHP/8.3.1', server: 'nginx/1.24.0' }, 'php'],
  [{ server: 'uvicorn' }, 'python'],
  [{ server: 'Werkzeug/3.0.1 Python/3.12.1' }, 'python'],
  [{ server: 'Kestrel' }, 'dotnet'],
  [{ server: 'Jetty(11.0.15)' }, 'java'],
  [{ server: 'nginx' }, null],
  [{ server: 'cloudflare' }, null],
  [{ server: 'not uvicorn' }, null],
])('reads the headers %j as %s', (headers, stack) => {
  expect(findSellerStack([answer(402, '', headers)])).toBe(stack);
});

test.each([
  ['404 page not found\n', 'go'],
  ['{"detail":"Not Found"}', 'python'],
  ['{"message":"Cannot GET /a","error":"Not Found","statusCode":404}', 'express'],
  ['{"timestamp":"2026-01-01T00:00:00Z","status":404,"error":"Not Found","path":"/a"}', 'java'],
  ['{"error":"Not found"}', null],
])('reads the error %j as %s', (body, stack) => {
  expect(findSellerStack([answer(404, body)])).toBe(stack);
  expect(findSellerStack([answer(200, body)])).toBeNull();
});

test('prefers a framework to a server, whichever answer shows it', () => {
  const page = html(404, '<pre>Cannot GET /a</pre>', { server: 'gunicorn' });
  expect(findSellerStack([failure('timeout'), page])).toBe('python');
  const powered = answer(200, '', { 'x-powered-by': 'Express' });
  expect(findSellerStack([page, powered])).toBe('express');
});
