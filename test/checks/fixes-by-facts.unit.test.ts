import { expect, test } from 'vitest';
import P1 from '../../checks/P1-http-reachable/v1.ts';
import P2v1 from '../../checks/P2-x402-challenge/v1.ts';
import P2v2 from '../../checks/P2-x402-challenge/v2.ts';
import P3 from '../../checks/P3-challenge-schema/v1.ts';
import P4 from '../../checks/P4-payment-required-header/v1.ts';
import S1 from '../../checks/S1-openapi-present/v1.ts';
import S6 from '../../checks/S6-well-known-x402/v1.ts';
import S7 from '../../checks/S7-llms-txt/v1.ts';
import S8 from '../../checks/S8-agent-card/v1.ts';
import S9 from '../../checks/S9-root-discoverable/v1.ts';
import S10 from '../../checks/S10-robots-ai-allow/v1.ts';
import S12 from '../../checks/S12-favicon/v1.ts';
import type { ResourceObservation, ResourceSet } from '../../src/scanner/model/observations.ts';
import { createKit } from '../../src/scanner/parse/kit/kit.ts';
import {
  answer,
  at,
  bodyChallenge402,
  challenge402,
  challengeV2,
  failure,
  html,
  offer,
  perfectSeller,
  resource,
  resources,
  toolResource,
} from '../fixtures/observations/build-observations.ts';

const FORBIDDEN = html(403, '<html><title>Attention Required!</title></html>');
const TOOL_PROBE = { method: 'POST', number: 1 } as const;
const BLOCKED_RESOURCE = resource({ get: FORBIDDEN, head: FORBIDDEN });

test.each([P2v1, P2v2])(
  'the fix of P2 version $version names a firewall if all paid paths answer 403',
  (check) => {
    const fixFor = (observations: ResourceSet) =>
      check.evaluate({ ...perfectSeller(), resources: observations }, createKit()).fix;
    expect(fixFor(resources([BLOCKED_RESOURCE]))).toContain('firewall');
    expect(fixFor(resources([BLOCKED_RESOURCE, resource({ path: '/b' })]))).toContain('firewall');
    const broken = resource({ path: '/c', get: html(500, 'x') });
    expect(fixFor(resources([BLOCKED_RESOURCE, broken]))).not.toContain('firewall');
  },
);

test.each([
  ['a firewall', FORBIDDEN, 'GET /: 403', /firewall/],
  ['a login', html(401, '<title>Authentication Required</title>'), 'GET /: 401', /login/],
  ['an application that refuses unknown paths only', FORBIDDEN, 'GET /: 200', /^Declare/],
  ['Railway', answer(404, {}, { 'x-railway-fallback': 'true' }), 'GET /: 404', /^Deploy/],
  ['Vercel', answer(404, '', { 'x-vercel-error': 'DEPLOYMENT_NOT_FOUND' }), '-', /^Deploy/],
  ['an application on Vercel', answer(404, '', { 'x-vercel-error': 'NOT_FOUND' }), '-', /^Declare/],
  [
    'Heroku',
    html(404, '<iframe src="//www.herokucdn.com/error-pages/no-such-app.html">'),
    '-',
    /^Dep/,
  ],
])('the fix of P2 for a host on which %s answers every path', (_, soft404, looked, fix) => {
  const observations = {
    ...perfectSeller(),
    soft404,
    resources: resources([], { looked: [looked] }),
  };
  for (const check of [P2v1, P2v2]) {
    const verdict = check.evaluate(observations, createKit());
    expect(verdict).toMatchObject({ status: 'fail', fix: expect.stringMatching(fix) });
    expect(verdict.evidence).toContain(looked);
  }
});

test.each([
  ['every paid route answers 5xx', [answer(500, { error: 'no facilitator' })], /server's log/],
  ['one answers 500, and another 404', [answer(500, {}), answer(404, {})], /^Mount/],
  ['the documents list what is gone', [answer(404, {}), answer(410, {})], /take it out of them/],
  ['each asks for a login', [answer(401, {}), answer(401, {})], /before the login/],
  ['one asks for a login, and another is gone', [answer(401, {}), answer(404, {})], /^Mount/],
  ['one is gone, and another refuses its input', [answer(404, {}), answer(400, {})], /^Mount/],
])('the fix of P2 if %s', (_, answers, fix) => {
  const paid = answers.map((get, index) => resource({ path: `/p${index}`, get, head: get }));
  const observations = { ...perfectSeller(), resources: resources(paid) };
  expect(P2v2.evaluate(observations, createKit()).fix).toMatch(fix);
});

test.each([
  [
    'a price of its own',
    answer(402, { price: '$0.01', treasury: '0xabc' }),
    /^Put the whole challenge/,
  ],
  ['a quote of its own', answer(402, { quote: { credits: 10 } }), /^Put the whole challenge/],
  ['a page', html(402, '<!doctype html><h1>Pay</h1>'), /only to clients that ask for text\/html/],
  ['nothing', answer(402, { error: 'Payment required' }), /^Read the log/],
])('the fix of P2 for a 402 with %s', (_, get, fix) => {
  const observations = { ...perfectSeller(), resources: resources([resource({ get })]) };
  const verdict = P2v2.evaluate(observations, createKit());
  expect(verdict).toMatchObject({ status: 'fail', fix: expect.stringMatching(fix) });
});

test('the fixes of P2 and P4 for a tool speak of its result', () => {
  const none = { binding: null, isError: null };
  const failing = {
    ...toolResource(none),
    probes: [{ ...TOOL_PROBE, answer: answer(500, 'Pay') }],
  };
  const fixOf = (check: typeof P2v2 | typeof P4, paid: ResourceObservation) =>
    check.evaluate({ ...perfectSeller(), resources: resources([paid]) }, createKit()).fix;
  expect(fixOf(P2v2, failing)).toContain('isError true');
  expect(fixOf(P4, toolResource(none, null, challengeV2()))).toContain('isError true');
});

test.each([
  [[], '; MCP at /mcp: 401'],
  [[toolResource()], null],
])('P2 says why no tool was seen, beside %j', (tools, note) => {
  const looked = ['GET /: 200', 'MCP at /mcp: 401'];
  const observations = {
    ...perfectSeller(),
    resources: resources([resource(), ...tools], { looked }),
  };
  const { evidence } = P2v2.evaluate(observations, createKit());
  if (note === null) expect(evidence).not.toContain('MCP at');
  else expect(evidence).toContain(note);
});

test('the fixes of documents that answer 401 name the login', () => {
  const login = html(401, '<title>Authentication Required</title>');
  const observations = {
    ...perfectSeller(),
    ...{ openapi: login, openapiAlternates: [], llmsTxt: login },
  };
  expect(S1.evaluate(observations, createKit()).fix).toContain('login');
  expect(S7.evaluate(observations, createKit()).fix).toContain('login');
  expect(S9.evaluate({ ...observations, root: login }, createKit()).fix).toContain('login');
});

test.each([
  ['---\ntitle: Weather\n---\n\n# Weather\n\n> By the call\n', /^Make "# Name" the first line/],
  ['<!-- generated -->\n# Weather\n', /^Make "# Name" the first line/],
  ['Weather by the call\n\n## API\n', /^Serve/],
])('the fix of S7 for the text %j', (text, fix) => {
  const verdict = S7.evaluate({ ...perfectSeller(), llmsTxt: answer(200, text) }, createKit());
  expect(verdict).toMatchObject({ outcome: 'no-h1', fix: expect.stringMatching(fix) });
});

test('the fix of P3 for whole offers beside accepts says to put them into it', () => {
  const challenge = challengeV2({ accepts: [{ asset: 'USDC' }], paymentRequirements: [offer()] });
  const paid = resource({ get: challenge402(challenge) });
  const observations = { ...perfectSeller(), resources: resources([paid]), payability: null };
  expect(P3.evaluate(observations, createKit()).fix).toMatch(/^Put the whole offers/);
});

test('the fixes of S1 and S6 name a firewall if the documents answer 403', () => {
  const observations = {
    ...perfectSeller(),
    ...{ openapi: FORBIDDEN, manifest: FORBIDDEN, manifestJson: FORBIDDEN },
  };
  expect(S1.evaluate(observations, createKit()).fix).toContain('firewall');
  expect(S6.evaluate(observations, createKit()).fix).toContain('firewall');
});

test('the fixes of documents that answer 402 say to let their paths through, not to serve them', () => {
  const asksForPayment = challenge402();
  const observations = {
    ...perfectSeller(),
    ...{ openapi: asksForPayment, openapiAlternates: [], manifest: asksForPayment },
    ...{ manifestJson: asksForPayment, llmsTxt: asksForPayment, robots: asksForPayment },
    ...{ agentCard: asksForPayment, agentJson: asksForPayment },
    icons: { checked: [at('/favicon.ico', asksForPayment)], otherHosts: [], inline: false },
  };
  const paths = { S1: '/openapi.json', S6: '/.well-known/x402', S7: '/llms.txt' };
  const fixes = [S1, S6, S7, S8, S10, S12].map((check) => [
    check.id,
    check.evaluate(observations, createKit()).fix,
  ]);
  const through = (path: string) =>
    `Let GET ${path} through the payment guard: agents read it without a payment.`;
  expect(Object.fromEntries(fixes)).toEqual({
    S1: through(paths.S1),
    S6: through(paths.S6),
    S7: through(paths.S7),
    S8: through('/.well-known/agent-card.json'),
    S10: through('/robots.txt'),
    S12: through('/favicon.ico'),
  });
});

test.each([
  ['/favicon.ico', 402, /^Let GET \/favicon\.ico through the payment guard/],
  ['/favicon.ico', 403, /firewall/],
  ['/favicon.ico', 404, /^Serve \/favicon\.ico/],
  ['/icon.png', 402, /^Serve \/favicon\.ico/],
])('the fix of S12 if %s answers %i does not name a guard of another path', (path, status, fix) => {
  const seller = perfectSeller();
  const icons = { checked: [{ path, answer: html(status, '') }], otherHosts: [], inline: false };
  expect(S12.evaluate({ ...seller, icons }, createKit()).fix).toMatch(fix);
});

test.each([
  ['localhost', true],
  ['api.localhost', true],
  ['127.0.0.1', true],
  ['[::1]', true],
  ['seller.example', false],
  ['10.0.0.1', false],
])('the fix of P1 for a refused port of %s says to start the server: %s', (hostname, isOurs) => {
  const seller = perfectSeller();
  const refused = failure('refused');
  const observations = {
    ...seller,
    ...{ root: refused, soft404: refused, openapi: refused, openapiAlternates: [] },
    ...{ manifest: refused, manifestJson: refused, llmsTxt: refused, robots: refused },
    ...{ agentCard: refused, agentJson: refused, resources: resources([]) },
    origin: { ...seller.origin, hostname },
  };
  const verdict = P1.evaluate(observations, createKit());
  expect(verdict.outcome).toBe('refused');
  expect(verdict.fix.startsWith('Start the server on this machine')).toBe(isOurs);
});

test.each([
  [{ 'x-powered-by': 'Express' }, '@x402/express'],
  [{ server: 'uvicorn' }, 'x402 2.x for Python'],
  [{ server: 'nginx' }, 'the newest x402 middleware for your language'],
])('the fixes of P2 and P4 for version 1 name the stack of %j', (headers, middleware) => {
  const paid = resource({ get: bodyChallenge402(undefined, headers) });
  const observations = { ...perfectSeller(), resources: resources([paid]) };
  for (const check of [P2v1, P2v2, P4]) {
    const verdict = check.evaluate(observations, createKit());
    expect(verdict).toMatchObject({
      outcome: 'v1-only',
      fix: `Move to x402 version 2: install ${middleware}.`,
    });
  }
});

test('the fix of P2 for a seller in Go does not name JavaScript', () => {
  const observations = {
    ...perfectSeller(),
    resources: resources([resource({ get: bodyChallenge402() })]),
    soft404: answer(404, '404 page not found\n'),
  };
  expect(P2v2.evaluate(observations, createKit()).fix).toContain('github.com/x402-foundation');
});

test.each([
  ['PHP/8.3.1', /http_response_code/],
  ['Express', /after WWW-Authenticate/],
])('the fix of P2 for a challenge with 401 fits %s', (poweredBy, fix) => {
  const headers = { 'www-authenticate': 'X-Payment', 'x-powered-by': poweredBy };
  const paid = resource({ get: challenge402(undefined, { status: 401, headers }) });
  const verdict = P2v2.evaluate({ ...perfectSeller(), resources: resources([paid]) }, createKit());
  expect(verdict.outcome).toBe('other-status');
  expect(verdict.fix).toMatch(fix);
});
