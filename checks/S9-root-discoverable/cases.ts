import type { CheckCase } from '../../src/engine/define-check.ts';
import {
  answer,
  failure,
  html,
  ORIGIN,
} from '../../test/fixtures/observations/build-observations.ts';

const PAGE =
  '<!doctype html><html><body><h1>Seller</h1><a href="/pricing">Prices</a></body></html>';
const hop = (location: string) => [{ url: `${ORIGIN}/`, status: 302, location }];

const cases: readonly CheckCase[] = [
  {
    name: 'the root is silent while the rest answers',
    seen: { root: failure('timeout') },
    expect: { status: 'fail', outcome: 'unreadable', evidence: ['GET /', 'timeout'] },
  },
  {
    name: 'a redirect to a page of the same host',
    seen: { root: html(200, PAGE, {}, { url: `${ORIGIN}/home`, redirects: hop('/home') }) },
    expect: { status: 'warn', outcome: 'redirect', evidence: ['/home'] },
  },
  {
    name: 'a redirect to a document of another host',
    seen: {
      root: answer(
        200,
        {},
        {},
        {
          url: 'https://docs.other.example/openapi.json',
          redirects: hop('https://docs.other.example/openapi.json'),
        },
      ),
    },
    expect: { status: 'warn', outcome: 'redirect', evidence: ['docs.other.example'] },
  },
  {
    name: 'a redirect that the guard refused',
    seen: {
      root: answer(302, '', {}, { refusedRedirect: { to: 'http://10.0.0.1/', why: 'blocked' } }),
    },
    expect: { status: 'warn', outcome: 'redirect', evidence: ['10.0.0.1'] },
  },
  {
    name: 'a login',
    seen: { root: answer(401, 'Unauthorized') },
    expect: { status: 'warn', outcome: 'login', evidence: ['GET /: 401'] },
  },
  {
    name: 'forbidden',
    seen: { root: answer(403, 'Forbidden') },
    expect: { status: 'warn', outcome: 'login', evidence: ['GET /: 403'] },
  },
  {
    name: 'nothing at the root',
    seen: { root: answer(404, { error: 'Not found' }) },
    expect: { status: 'fail', outcome: 'error', evidence: ['GET /: 404'] },
  },
  {
    name: 'the root itself is for sale',
    seen: { root: answer(402, {}) },
    expect: { status: 'fail', outcome: 'error', evidence: ['GET /: 402'] },
  },
  {
    name: 'the server fails',
    seen: { root: answer(503, 'Later') },
    expect: { status: 'fail', outcome: 'error', evidence: ['GET /: 503'] },
  },
  {
    name: 'a page that names no document',
    seen: { root: html(200, PAGE) },
    expect: { status: 'warn', outcome: 'no-pointer', evidence: ['GET / answers 200'] },
  },
  {
    name: 'a page that names the document of another host',
    seen: { root: html(200, '<a href="https://other.example/openapi.json">API</a>') },
    expect: { status: 'warn', outcome: 'no-pointer' },
  },
  {
    name: 'a word in JSON is not a reference',
    seen: { root: answer(200, { docs: 'see openapi' }) },
    expect: { status: 'warn', outcome: 'no-pointer' },
  },
  {
    name: 'a redirect to the document itself',
    seen: {
      root: answer(
        200,
        { openapi: '3.1.0' },
        {},
        {
          url: `${ORIGIN}/openapi.json`,
          redirects: hop('/openapi.json'),
        },
      ),
    },
    expect: { status: 'pass', outcome: 'redirect-to-document', evidence: ['/openapi.json'] },
  },
  {
    name: 'an anchor',
    seen: {},
    expect: { status: 'pass', outcome: 'pointer', evidence: ['/openapi.json'] },
  },
  {
    name: 'a Link header, with others beside it',
    seen: {
      root: html(200, PAGE, { link: '</style.css>; rel=preload, </llms.txt>; rel="describedby"' }),
    },
    expect: { status: 'pass', outcome: 'pointer', evidence: ['/llms.txt'] },
  },
  {
    name: 'JSON that holds the address',
    seen: { root: answer(200, { name: 'Seller', links: { api: `${ORIGIN}/api/openapi.json` } }) },
    expect: { status: 'pass', outcome: 'pointer', evidence: ['/api/openapi.json'] },
  },
  {
    name: 'a relative reference into a folder',
    seen: { root: html(200, '<a href="api/openapi.json">API</a>') },
    expect: { status: 'pass', outcome: 'pointer', evidence: ['/api/openapi.json'] },
  },
  {
    name: 'a relative reference with a query, in a Link header beside one with a comma',
    seen: {
      root: html(203, PAGE, { link: '</a,b.css>; rel=preload, <llms.txt?v=2>; rel=describedby' }),
    },
    expect: { status: 'pass', outcome: 'pointer', evidence: ['GET / answers 203', '/llms.txt'] },
  },
  {
    name: 'a relative reference, and a document under .well-known',
    seen: { root: html(200, '<a href="./.well-known/x402">Prices</a>') },
    expect: { status: 'pass', outcome: 'pointer', evidence: ['/.well-known/x402'] },
  },
];

export default cases;
