import type { CheckCase } from '#check';
import {
  answer,
  failure,
  html,
  ORIGIN,
} from '../../test/fixtures/observations/build-observations.ts';

const PAGE =
  '<!doctype html><html><body><h1>Seller</h1><a href="/pricing">Prices</a></body></html>';
const redirectTo = (location: string) => [{ url: `${ORIGIN}/`, status: 302, location }];

const cases: readonly CheckCase[] = [
  {
    name: 'the root is not answered in time',
    seen: { root: failure('timeout') },
    expect: { status: 'fail', outcome: 'unreadable', evidence: ['GET /', 'timeout'] },
  },
  {
    name: 'the root redirects to a page of the same host',
    seen: { root: html(200, PAGE, {}, { url: `${ORIGIN}/home`, redirects: redirectTo('/home') }) },
    expect: { status: 'warn', outcome: 'redirect', evidence: ['/home'] },
  },
  {
    name: 'the root redirects to a document of another host',
    seen: {
      root: answer(
        200,
        {},
        {},
        {
          url: 'https://docs.other.example/openapi.json',
          redirects: redirectTo('https://docs.other.example/openapi.json'),
        },
      ),
    },
    expect: { status: 'warn', outcome: 'redirect', evidence: ['docs.other.example'] },
  },
  {
    name: 'the root redirects to a private address',
    seen: {
      root: answer(302, '', {}, { refusedRedirect: { to: 'http://10.0.0.1/', why: 'blocked' } }),
    },
    expect: { status: 'warn', outcome: 'redirect', evidence: ['10.0.0.1'] },
  },
  {
    name: 'the root answers 401',
    seen: { root: answer(401, 'Unauthorized') },
    expect: { status: 'warn', outcome: 'login', evidence: ['GET /: 401'] },
  },
  {
    name: 'the root answers 403',
    seen: { root: answer(403, 'Forbidden') },
    expect: { status: 'warn', outcome: 'login', evidence: ['GET /: 403'] },
  },
  {
    name: 'the root answers 404',
    seen: { root: answer(404, { error: 'Not found' }) },
    expect: { status: 'fail', outcome: 'error', evidence: ['GET /: 404'] },
  },
  {
    name: 'the root answers 402',
    seen: { root: answer(402, {}) },
    expect: { status: 'fail', outcome: 'error', evidence: ['GET /: 402'] },
  },
  {
    name: 'the root answers 503',
    seen: { root: answer(503, 'Later') },
    expect: { status: 'fail', outcome: 'error', evidence: ['GET /: 503'] },
  },
  {
    name: 'the root is a page that names no document',
    seen: { root: html(200, PAGE) },
    expect: { status: 'warn', outcome: 'no-pointer', evidence: ['GET / answers 200'] },
  },
  {
    name: 'the root names the document of another host',
    seen: { root: html(200, '<a href="https://other.example/openapi.json">API</a>') },
    expect: { status: 'warn', outcome: 'no-pointer' },
  },
  {
    name: 'the root is JSON with the word "openapi"',
    seen: { root: answer(200, { docs: 'see openapi' }) },
    expect: { status: 'warn', outcome: 'no-pointer' },
  },
  {
    name: 'the root redirects to /openapi.json',
    seen: {
      root: answer(
        200,
        { openapi: '3.1.0' },
        {},
        {
          url: `${ORIGIN}/openapi.json`,
          redirects: redirectTo('/openapi.json'),
        },
      ),
    },
    expect: { status: 'pass', outcome: 'redirect-to-document', evidence: ['/openapi.json'] },
  },
  {
    name: 'the root names /openapi.json in an anchor',
    seen: {},
    expect: { status: 'pass', outcome: 'pointer', evidence: ['/openapi.json'] },
  },
  {
    name: 'the root names /llms.txt in the second Link header',
    seen: {
      root: html(200, PAGE, { link: '</style.css>; rel=preload, </llms.txt>; rel="describedby"' }),
    },
    expect: { status: 'pass', outcome: 'pointer', evidence: ['/llms.txt'] },
  },
  {
    name: 'the root is JSON with the address of /api/openapi.json',
    seen: { root: answer(200, { name: 'Seller', links: { api: `${ORIGIN}/api/openapi.json` } }) },
    expect: { status: 'pass', outcome: 'pointer', evidence: ['/api/openapi.json'] },
  },
  {
    name: 'the root names api/openapi.json in an anchor',
    seen: { root: html(200, '<a href="api/openapi.json">API</a>') },
    expect: { status: 'pass', outcome: 'pointer', evidence: ['/api/openapi.json'] },
  },
  {
    name: 'the root names llms.txt?v=2 in a Link header',
    seen: {
      root: html(203, PAGE, { link: '</a,b.css>; rel=preload, <llms.txt?v=2>; rel=describedby' }),
    },
    expect: { status: 'pass', outcome: 'pointer', evidence: ['GET / answers 203', '/llms.txt'] },
  },
  {
    name: 'the root names ./.well-known/x402 in an anchor',
    seen: { root: html(200, '<a href="./.well-known/x402">Prices</a>') },
    expect: { status: 'pass', outcome: 'pointer', evidence: ['/.well-known/x402'] },
  },
];

export default cases;
