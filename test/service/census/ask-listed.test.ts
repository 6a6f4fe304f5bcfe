/** The census looks at listed resources of sellers on real sockets, which count its requests. */
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { openClients } from '../../../src/scanner/clients/open-clients.ts';
import { loadCatalog } from '../../../src/scanner/engine/catalog/catalog.ts';
import { discoverChecks } from '../../../src/scanner/engine/catalog/discover-checks.ts';
import { createPool } from '../../../src/scanner/engine/judging-pool.ts';
import { allowOrigin, DEFAULT_POLICY, parseOrigin } from '../../../src/scanner/guard/origin.ts';
import { type AskListedRequest, createAskListed } from '../../../src/service/census/ask-listed.ts';
import { toDayWord } from '../../../src/service/scans/day-word.ts';
import { LimitReached, type TurnRequest } from '../../../src/service/turns/origin-turns.ts';
import type { CraftedAnswer } from '../../fixtures/origins/crafted-answer.ts';
import {
  challengeAnswer,
  challengeOf,
  headerAnswer,
} from '../../fixtures/origins/crafted-challenge.ts';
import { type CraftedOptions, startCraftedSeller } from '../../fixtures/origins/crafted-seller.ts';
import { SUMMARY, WEATHER } from '../../fixtures/sellers/seller-documents.ts';
import { NEWER_VERSION } from '../../scanner/scan/engine-under-test.ts';
import { createFreeTurns, openRealClient } from '../turns/turn-clients.ts';

const checks = await discoverChecks();
const pool = createPool();
const clients = openClients();
const engine = { catalog: await loadCatalog(NEWER_VERSION, { checks }), checks, pool, clients };
afterAll(async () => {
  await Promise.all([pool.close(), clients.close()]);
});

const GET = { method: 'GET', path: WEATHER.path } as const;
const ALL_ALLOWED = { [WEATHER.path]: true, [SUMMARY.path]: true };
const POST = { method: 'POST', path: SUMMARY.path } as const;

/** Looks at a seller that gives these answers; `requestLines` lists the requests that it got, in order. */
async function lookAt(
  answers: CraftedOptions['answers'] = {},
  {
    admissions = 99,
    ...question
  }: Partial<AskListedRequest> & { readonly admissions?: number } = {},
) {
  const seller = await startCraftedSeller({ answers: { ...answers } });
  onTestFinished(() => seller[Symbol.asyncDispose]());
  const policy = allowOrigin(seller.url, DEFAULT_POLICY);
  const userAgent = 'x402-conformance-scanner/0 (+https://scanner.example/about-census)';
  const turns = createFreeTurns(openRealClient({ policy, userAgent }));
  const origin = parseOrigin(seller.url, policy);
  let admissionsLeft = admissions;
  const turnRequest: TurnRequest = {
    ...{ kind: 'census', origin, blocks: new Set(['census']) },
    async beforeConnect() {
      admissionsLeft -= 1;
      if (admissionsLeft < 0) throw new LimitReached();
    },
  };
  const request = { resources: [GET], allowed: ALL_ALLOWED, robotsPaths: [], ...question };
  const answer = await turns.ask(turnRequest, (client) =>
    createAskListed(engine)(origin, request, client),
  );
  const requestLines = seller.requests.map(({ method, path }) => `${method} ${path}`);
  return {
    ...answer,
    requestLines,
    requests: seller.requests,
    word: toDayWord(answer.signs),
    admissions: admissions - admissionsLeft,
  };
}

const redirectTo = (status: number, location: string): CraftedAnswer => ({
  status,
  headers: { location },
});
const robots = (...lines: string[]): CraftedAnswer => ({ status: 200, body: lines.join('\n') });

describe('a resource', () => {
  test('is requested once, as listed, under the name of the census', async () => {
    const { requestLines, requests, word } = await lookAt();
    expect(requestLines).toEqual(['GET /weather']);
    expect(word).toBe('payable');
    expect(requests[0]?.headers['user-agent']).toBe(
      'x402-conformance-scanner/0 (+https://scanner.example/about-census)',
    );
    expect(requests[0]?.headers).not.toHaveProperty('payment-signature');
  });

  test('that is listed with POST gets an empty object as body', async () => {
    const { requests, word } = await lookAt({}, { resources: [POST] });
    expect(requests).toMatchObject([{ method: 'POST', path: '/summaries', body: '{}' }]);
    expect(word).toBe('payable');
  });

  test.each<readonly [string, CraftedAnswer, string]>([
    ['404', { status: 404 }, 'not_payable'],
    ['200', { status: 200, body: 'sunny' }, 'not_payable'],
    ['402 of another protocol', headerAnswer('', {}), 'not_payable'],
    ['401', { status: 401 }, 'not_checked'],
    ['403', { status: 403 }, 'not_checked'],
    ['400', { status: 400 }, 'not_checked'],
    ['500', { status: 500 }, 'down'],
    ['503', { status: 503 }, 'down'],
  ])('that answers %s gets the word of its status', async (_, answer, word) => {
    const result = await lookAt({ '*': answer });
    expect(result.word).toBe(word);
    expect(result.requestLines).toEqual(['GET /weather']);
  });

  test('whose challenge has an invalid recipient is not payable', async () => {
    const challenge = challengeOf(WEATHER, 'https://shop.example');
    const accepts = challenge.accepts.map((offer) => ({ ...offer, payTo: '0x0' }));
    const { word } = await lookAt({ '/weather': challengeAnswer({ ...challenge, accepts }) });
    expect(word).toBe('not_payable');
  });
});

describe('a redirect', () => {
  const weatherChallenge = challengeAnswer(challengeOf(WEATHER, 'https://shop.example'));
  const summaryChallenge = challengeAnswer(challengeOf(SUMMARY, 'https://shop.example'));

  test.each([301, 302, 307, 308])('by %d is followed once on the same origin', async (status) => {
    const { requestLines, word } = await lookAt({
      '/weather': redirectTo(status, '/new'),
      '/new': weatherChallenge,
    });
    expect(requestLines).toEqual(['GET /weather', 'GET /new']);
    expect(word).toBe('payable');
  });

  test('after a redirect is not followed', async () => {
    const { requestLines, word } = await lookAt({
      '/weather': redirectTo(302, '/new'),
      '/new': redirectTo(302, '/newer'),
      '/newer': weatherChallenge,
    });
    expect(requestLines).toEqual(['GET /weather', 'GET /new']);
    expect(word).toBe('not_payable');
  });

  test.each(['https://elsewhere.example/weather', 'http://127.0.0.1:1/weather', '//10.0.0.1/'])(
    'to another origin is not followed: %s',
    async (location) => {
      const { requestLines, word } = await lookAt({ '/weather': redirectTo(302, location) });
      expect(requestLines).toEqual(['GET /weather']);
      expect(word).toBe('not_payable');
    },
  );

  test.each([307, 308])('of a POST by %d keeps method and body', async (status) => {
    const answers = { '/summaries': redirectTo(status, '/new'), '/new': summaryChallenge };
    const { requests, word } = await lookAt(answers, { resources: [POST] });
    expect(requests).toMatchObject([
      { method: 'POST', path: '/summaries', body: '{}' },
      { method: 'POST', path: '/new', body: '{}' },
    ]);
    expect(word).toBe('payable');
  });

  test.each([301, 302, 303])('of a POST by %d is not followed', async (status) => {
    const answers = { '/summaries': redirectTo(status, '/new'), '/new': summaryChallenge };
    const { requestLines, word } = await lookAt(answers, { resources: [POST] });
    expect(requestLines).toEqual(['POST /summaries']);
    expect(word).toBe('not_payable');
  });

  test('of a POST is followed only once', async () => {
    const answers = {
      '/summaries': redirectTo(307, '/new'),
      '/new': redirectTo(307, '/newer'),
      '/newer': summaryChallenge,
    };
    const { requestLines, word } = await lookAt(answers, { resources: [POST] });
    expect(requestLines).toEqual(['POST /summaries', 'POST /new']);
    expect(word).toBe('not_payable');
  });
});

describe('429', () => {
  const tooManyRequests = (retryAfter?: string): CraftedAnswer => ({
    status: 429,
    headers: retryAfter === undefined ? {} : { 'retry-after': retryAfter },
  });

  test.each<readonly [string, string | undefined, number | null]>([
    ['with Retry-After 0', '0', 0],
    ['with Retry-After 3600', '3600', 3_600_000],
    ['without Retry-After', undefined, null],
  ])('%s ends the look after one request', async (_, retryAfter, restMs) => {
    const { requestLines, word, ...answer } = await lookAt(
      { '/weather': tooManyRequests(retryAfter) },
      { resources: [GET, POST] },
    );
    expect(requestLines).toEqual(['GET /weather']);
    expect(word).toBe('not_checked');
    expect(answer.restMs).toBe(restMs);
  });

  test('after a payable resource does not change the word "payable", and its Retry-After is obeyed', async () => {
    const answers = { '/summaries': tooManyRequests('60') };
    const { word, restMs } = await lookAt(answers, { resources: [GET, POST] });
    expect(word).toBe('payable');
    expect(restMs).toBe(60_000);
  });

  test('for robots.txt prevents the look, and any scan', async () => {
    const { requestLines, word, restMs, allowed } = await lookAt(
      { '/robots.txt': tooManyRequests() },
      { robotsPaths: ['/weather'] },
    );
    expect(requestLines).toEqual(['GET /robots.txt']);
    expect(word).toBe('not_checked');
    expect(allowed).toBeNull();
    expect(restMs).toBe(0);
  });

  test('is not the only status with Retry-After: a 503 is obeyed too', async () => {
    const busy = { status: 503, headers: { 'retry-after': '120' } };
    const { requestLines, word, restMs } = await lookAt({ '*': busy }, { resources: [GET, POST] });
    expect(requestLines).toEqual(['GET /weather', 'POST /summaries']);
    expect(word).toBe('down');
    expect(restMs).toBe(120_000);
  });
});

describe('robots.txt', () => {
  const lookWithRobots = (answer: CraftedAnswer, more: Partial<AskListedRequest> = {}) =>
    lookAt(
      { '/robots.txt': answer },
      { resources: [GET, POST], robotsPaths: ['/weather', '/summaries'], ...more },
    );

  test.each<readonly [string, CraftedAnswer, readonly boolean[]]>([
    ['the group *', robots('User-agent: *', 'Disallow: /weather'), [false, true]],
    [
      'our own group, before the group *',
      robots(
        'User-agent: *',
        'Disallow: /',
        'User-agent: x402-conformance-scanner',
        'Disallow: /s',
      ),
      [true, false],
    ],
    [
      'our own group, in any case and with any version',
      robots('User-Agent: X402-Conformance-Scanner/9', 'Disallow: /w'),
      [false, true],
    ],
    ['the longest rule', robots('User-agent: *', 'Disallow: /', 'Allow: /weather'), [true, false]],
    ['no group of other robots', robots('User-agent: otherbot', 'Disallow: /'), [true, true]],
    ['no file', { status: 404 }, [true, true]],
    ['no rule if the file answers 403', { status: 403 }, [true, true]],
  ])('is obeyed: %s decides', async (_, answer, [weather, summaries]) => {
    const { allowed, requestLines } = await lookWithRobots(answer);
    expect(allowed).toEqual({ '/weather': weather, '/summaries': summaries });
    expect(requestLines).toEqual([
      'GET /robots.txt',
      ...(weather ? ['GET /weather'] : []),
      ...(summaries ? ['POST /summaries'] : []),
    ]);
  });

  test('that refuses all paths leaves the word not_checked', async () => {
    const { requestLines, word } = await lookWithRobots(robots('User-agent: *', 'Disallow: /'));
    expect(requestLines).toEqual(['GET /robots.txt']);
    expect(word).toBe('not_checked');
  });

  test.each([500, 503])(
    'that answers %d leaves the rules of the last look in force, and without rules nothing is requested',
    async (status) => {
      const withRules = await lookWithRobots(
        { status },
        { allowed: { '/weather': false, '/summaries': true } },
      );
      expect(withRules.allowed).toBeNull();
      expect(withRules.isRobotsSilent).toBe(false);
      expect(withRules.requestLines).toEqual(['GET /robots.txt', 'POST /summaries']);
      const withoutRules = await lookWithRobots({ status }, { allowed: null });
      expect(withoutRules.requestLines).toEqual(['GET /robots.txt']);
      expect(withoutRules.word).toBe('not_checked');
    },
  );

  test('that redirects elsewhere counts as missing', async () => {
    const { requestLines } = await lookWithRobots(
      { status: 301, headers: { location: 'https://elsewhere.example/robots.txt' } },
      { allowed: null },
    );
    expect(requestLines).toEqual(['GET /robots.txt', 'GET /weather', 'POST /summaries']);
  });

  test('that was read before is not requested', async () => {
    const { requestLines, allowed } = await lookAt(
      {},
      { resources: [GET, POST], allowed: { '/weather': false, '/summaries': true } },
    );
    expect(requestLines).toEqual(['POST /summaries']);
    expect(allowed).toBeNull();
  });

  test('is followed behind one redirect on the same origin', async () => {
    const { requestLines, allowed } = await lookAt(
      {
        '/robots.txt': redirectTo(301, '/rules.txt'),
        '/rules.txt': robots('User-agent: *', 'Disallow: /weather'),
      },
      { robotsPaths: ['/weather'] },
    );
    expect(requestLines).toEqual(['GET /robots.txt', 'GET /rules.txt']);
    expect(allowed).toEqual({ '/weather': false });
  });
});

describe('the admission of a request', () => {
  test('is taken for each request', async () => {
    const { admissions } = await lookAt(
      {},
      { resources: [GET, POST], robotsPaths: ['/weather', '/summaries'] },
    );
    expect(admissions).toBe(3);
  });

  test('that is missing prevents the request', async () => {
    await expect(lookAt({}, { admissions: 0 })).rejects.toThrow(LimitReached);
    await expect(lookAt({}, { admissions: 0, robotsPaths: ['/weather'] })).rejects.toThrow(
      LimitReached,
    );
  });

  test('that is missing for a later request ends the look with the answers so far', async () => {
    const { requestLines, word } = await lookAt({}, { resources: [GET, POST], admissions: 1 });
    expect(requestLines).toEqual(['GET /weather']);
    expect(word).toBe('payable');
  });
});

describe('a host name', () => {
  const policy = { ...DEFAULT_POLICY, allowHosts: new Set(['nowhere.invalid:443']) };
  const lookNowhere = (code: string) => {
    const resolver = failingResolver(code);
    const turns = createFreeTurns(openRealClient({ policy, userAgent: 'test', resolver }));
    const origin = parseOrigin('https://nowhere.invalid', policy);
    const beforeConnect = () => Promise.reject(new Error('no admission is needed'));
    const turnRequest = { kind: 'census', origin, blocks: new Set(['a']), beforeConnect } as const;
    const request = { resources: [GET], allowed: {}, robotsPaths: [] };
    return turns.ask(turnRequest, (client) => createAskListed(engine)(origin, request, client));
  };

  test.each(['ENOTFOUND', 'EAI_AGAIN'])('without an address counts as silent: %s', async (code) => {
    const { signs } = await lookNowhere(code);
    expect(signs).toEqual([{ status: null, reason: 'dns', payableBy: null }]);
  });

  test('that our own resolver cannot look up is our fault', async () => {
    await expect(lookNowhere('ECONNREFUSED')).rejects.toThrow(
      'the resolver of this machine failed',
    );
  });
});

function failingResolver(code: string) {
  const fail = () => Promise.reject(Object.assign(new Error(code), { code }));
  return { resolve4: fail, resolve6: fail, lookup: fail };
}
