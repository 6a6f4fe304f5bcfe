import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { advise } from '../../../src/scanner/clients/advise.ts';
import { BROWSER_ORIGIN } from '../../../src/scanner/model/observation.ts';
import { browserUnavailable, startBrowser } from '../../fixtures/browser.ts';
import {
  answer,
  challenge402,
  encodeChallenge,
  html,
  perfectSeller,
} from '../../fixtures/observations/build-observations.ts';
import { listenLocally } from '../../fixtures/service/local-server.ts';

type Headers = Readonly<Record<string, string | readonly string[]>>;

const ALLOW_ALL_SITES = { 'access-control-allow-origin': '*' };
/** Headers for a script of another site, and whether the script can read the challenge. */
const SELLERS: readonly (readonly [name: string, headers: Headers, isReadable: boolean])[] = [
  ['sends no CORS headers', {}, false],
  ['allows all sites, and exposes no header', ALLOW_ALL_SITES, false],
  [
    'exposes the challenge header',
    { ...ALLOW_ALL_SITES, 'access-control-expose-headers': 'X-Other, Payment-Required' },
    true,
  ],
  ['exposes all headers', { ...ALLOW_ALL_SITES, 'access-control-expose-headers': '*' }, true],
  [
    'exposes the challenge header on the second of two lines',
    { ...ALLOW_ALL_SITES, 'access-control-expose-headers': ['X-Other', 'PAYMENT-REQUIRED'] },
    true,
  ],
  ['allows another site', { 'access-control-allow-origin': 'https://other.example' }, false],
  [
    'allows all sites twice',
    {
      'access-control-allow-origin': ['*', '*'],
      'access-control-expose-headers': 'PAYMENT-REQUIRED',
    },
    false,
  ],
  [
    'names credentials, which no script sends',
    {
      ...ALLOW_ALL_SITES,
      'access-control-allow-credentials': 'true',
      'access-control-expose-headers': '*',
    },
    true,
  ],
];

describe('the advice hidden-from-browsers', () => {
  test.each(SELLERS)(
    'is given unless a script can read the challenge: a seller that %s',
    (_, headers, isReadable) => {
      expect(idsOf(challenge402(undefined, { headers }))).toEqual(
        isReadable ? [] : ['hidden-from-browsers'],
      );
    },
  );

  test('is absent if the seller echoes the origin of the script', () => {
    const headers = {
      'access-control-allow-origin': BROWSER_ORIGIN,
      'access-control-expose-headers': 'PAYMENT-REQUIRED',
    };
    expect(idsOf(challenge402(undefined, { headers }))).toEqual([]);
  });

  test('is absent for an answer that asks for no payment', () => {
    expect(idsOf(answer(200, {}))).toEqual([]);
  });
});

describe.skipIf(browserUnavailable() !== null)('a real browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  test.each(SELLERS)(
    'can read the challenge if and only if there is no advice: a seller that %s',
    async (_, headers, isReadable) => {
      await using seller = await serve(402, {
        ...headers,
        'payment-required': encodeChallenge({}),
      });
      await using site = await serve(200, { 'content-type': 'text/html' });
      const page = await browser.newPage();
      await page.goto(site.url);
      const header = await page.evaluate(
        (url) =>
          fetch(url).then(
            (response) => response.headers.get('payment-required'),
            () => null,
          ),
        seller.url,
      );
      await page.close();
      expect(header !== null).toBe(isReadable);
    },
  );
});

describe('the advice on an answer to a page view:', () => {
  const fetched = challenge402(undefined, {
    headers: { ...ALLOW_ALL_SITES, 'access-control-expose-headers': '*', vary: 'Accept' },
  });
  const header = { 'payment-required': encodeChallenge({}) };

  test.each([
    ['the same answer as to a script', fetched, []],
    ['a paywall with its challenge', html(402, 'Pay', { ...header, vary: 'Accept' }), []],
    [
      'a paywall without its challenge',
      html(402, 'Pay', { vary: 'Accept' }),
      ['paywall-without-challenge'],
    ],
    ['a paywall that is not a 402', html(200, 'Pay', { vary: '*' }), ['paywall-without-challenge']],
    ['a firewall', html(403, 'Go away', { vary: 'accept' }), []],
    ['HTML instead of JSON without Vary', html(402, 'Pay', header), ['varies-unsaid']],
    [
      'HTML instead of JSON, which no cache stores',
      html(402, 'Pay', { ...header, 'cache-control': 'private, no-store' }),
      [],
    ],
  ] as const)('%s', (_, opened, ids) => {
    expect(idsOf(fetched, opened)).toEqual(ids);
  });
});

/** Ids of the advice on a seller that is perfect in everything else. */
function idsOf(fetched: ReturnType<typeof answer>, opened = fetched): readonly string[] {
  const browser = { path: '/weather', fetched, opened };
  return advise({ ...perfectSeller(), browser }).map(({ id }) => id);
}

async function serve(status: number, headers: Headers) {
  const server = createServer((_request, response) => {
    response.writeHead(status, headers as IncomingHttpHeaders).end('<p>hello</p>');
  });
  const local = await listenLocally(server);
  return { ...local, url: `${local.url}/` };
}
