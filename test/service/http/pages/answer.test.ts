/** The form of the front page answers whether an agent can pay a host or URL. */
import { describe, expect, test } from 'vitest';
import { toPreflight } from '../../../../src/scanner/preflight/result.ts';
import type { AskHost, AskSeller } from '../../../../src/service/turns/run-preflight.ts';
import { startApp, type TestApp } from '../../../fixtures/service/start-app.ts';

const FORM_HEADERS = { 'content-type': 'application/x-www-form-urlencoded' };
const HOSTILE_TEXT = '<img src=x onerror="document.title=1">';

const OFFER = {
  pointer: '/accepts/0',
  scheme: 'exact',
  network: 'eip155:8453',
  asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  amount: '50000',
  payTo: null,
  maxTimeoutSeconds: 60,
  price: '0.05 USDC',
  isTestnet: false,
  client: 'signs',
} as const;
const TERMS = { x402Version: 2, resourceUrl: null, payableBy: 'default', offers: [OFFER] } as const;

function fakeAskers(preflight = toPreflight([], TERMS)) {
  const askedUrls: string[] = [];
  const askSeller: AskSeller = async ({ origin, path }) => {
    askedUrls.push(`${origin.url}${path}`);
    return preflight;
  };
  const askHost: AskHost = async ({ url }) => {
    askedUrls.push(url);
    return { preflight, path: '/forecast' };
  };
  return { askedUrls, options: { askSeller, askHost } };
}

function submitForm(service: TestApp, url: string, headers: object = {}, moreFields = '') {
  const body = `url=${encodeURIComponent(url)}${moreFields}`;
  return service.post('/', body, { ...FORM_HEADERS, ...headers });
}

describe('the front page answers', () => {
  test('a URL with verdict, possible payers, price, and the request for a whole report', async () => {
    const { askedUrls, options } = fakeAskers();
    await using service = await startApp(options);
    const { statusCode, body } = await submitForm(
      service,
      ' shop.example.com/weather?city=Lisbon ',
    );
    expect(statusCode).toBe(200);
    expect(askedUrls).toEqual(['https://shop.example.com/weather?city=Lisbon']);
    for (const part of [
      'Go. An agent can pay this.',
      'Clients with default settings',
      '0.05 USDC on Base',
      'npx x402-scan scan https://shop.example.com',
      'https://api.scanner.example/v1/scan',
      '<h1>',
    ]) {
      expect(body).toContain(part);
    }
  });

  test('a host with the verdict on the first resource that its documents list', async () => {
    const { askedUrls, options } = fakeAskers();
    await using service = await startApp(options);
    const { body } = await submitForm(service, 'https://shop.example.com/');
    expect(askedUrls).toEqual(['https://shop.example.com']);
    expect(body).toContain('GET https://shop.example.com/forecast');
  });

  test('a scanned host with a redirect to its report, but not an opted-out host', async () => {
    const { askedUrls, options } = fakeAskers();
    await using service = await startApp(options);
    await service.publish('shop.example.com');
    const page = await submitForm(service, 'https://shop.example.com/weather');
    expect([page.statusCode, page.headers.location]).toEqual([303, '/o/shop.example.com']);
    const fragment = await submitForm(service, 'shop.example.com', {}, '&fragment=true');
    expect([fragment.statusCode, fragment.headers.location]).toEqual([204, '/o/shop.example.com']);
    await service.store.listing.set('shop.example.com', { listed: false });
    const optedOut = await submitForm(service, 'shop.example.com/weather');
    expect([optedOut.statusCode, askedUrls.length]).toEqual([200, 1]);
    expect(optedOut.body).not.toContain('/o/shop.example.com');
  });

  test('a call by the script of the page with only the answer, without the rest of the page', async () => {
    const { options } = fakeAskers();
    await using service = await startApp(options);
    const { body } = await submitForm(service, 'a.example.com/x', {}, '&fragment=true');
    expect(body).toContain('Go. An agent can pay this.');
    expect(body).not.toContain('<html');
    const page = await submitForm(service, 'b.example.com/x');
    expect(page.body).toContain(body.replaceAll('a.example.com', 'b.example.com'));
  });

  test.each([
    ['', 'Type a host'],
    ['http://shop.example.com', 'Give an https URL'],
    ['10.0.0.1', 'not on the public internet'],
    ['https://user@shop.example.com', 'user information'],
    ['two words', 'a space'],
    ['ftp://shop.example.com', 'Give an https URL'],
    [`shop.example.com/${'x'.repeat(2_048)}`, '2048'],
  ])('the bad input %j with status 400 and the remedy', async (text, message) => {
    const { askedUrls, options } = fakeAskers();
    await using service = await startApp(options);
    const page = await submitForm(service, text);
    expect(page.statusCode).toBe(400);
    expect(page.headers['content-type']).toContain('text/html');
    expect(page.body).toContain(message);
    expect(page.body).toContain('<h1>');
    expect(askedUrls).toEqual([]);
  });

  test('a part of a name with a link to the search', async () => {
    const { options } = fakeAskers();
    await using service = await startApp(options);
    const page = await submitForm(service, 'shop');
    expect(page.statusCode).toBe(400);
    expect(page.body).toContain('href="/directory?q=shop"');
  });

  test('with every text of the seller escaped', async () => {
    const reasons = [{ code: 'nobody_can_pay', evidence: HOSTILE_TEXT }] as const;
    const terms = {
      ...TERMS,
      offers: [{ ...OFFER, price: null, asset: HOSTILE_TEXT, network: HOSTILE_TEXT }],
    };
    const { options } = fakeAskers(toPreflight(reasons, terms));
    await using service = await startApp(options);
    for (const moreFields of ['', '&fragment=true']) {
      const { body } = await submitForm(
        service,
        `${moreFields.length}.example.com/${HOSTILE_TEXT.replaceAll(' ', '+')}`,
        {},
        moreFields,
      );
      expect(body).toContain('&lt;img');
      expect(body).not.toContain('<img');
    }
  });

  test('at most 30 calls of a client a minute, counting the form and the API together', async () => {
    const { options } = fakeAskers();
    await using service = await startApp(options);
    for (let call = 0; call < 15; call += 1) {
      expect((await submitForm(service, `n${call}.example.com/x`)).statusCode).toBe(200);
      const url = `https://m${call}.example.com/x`;
      expect((await service.post('/v1/preflight', { url })).statusCode).toBe(200);
    }
    const limited = await submitForm(service, 'late.example.com/x');
    expect(limited.statusCode).toBe(429);
    expect(limited.headers['retry-after']).toBeDefined();
    expect(limited.headers['content-type']).toContain('text/html');
  });

  test('without asking a host twice in five seconds, by the form or by the API', async () => {
    const { askedUrls, options } = fakeAskers();
    await using service = await startApp(options);
    await service.post('/v1/preflight', { url: 'https://shop.example.com/weather' });
    for (const text of ['shop.example.com/weather', 'shop.example.com']) {
      expect((await submitForm(service, text)).body).toContain('asked seconds ago');
    }
    expect(askedUrls).toHaveLength(1);
    service.advance(5_000);
    expect((await submitForm(service, 'shop.example.com')).body).toContain('Go.');
  });

  test.each<[string, Record<string, string>, number]>([
    ['a page of another site', { 'sec-fetch-site': 'cross-site', origin: 'null' }, 403],
    ['a page of another subdomain', { 'sec-fetch-site': 'same-site' }, 403],
    [
      'another origin, by a browser without Sec-Fetch-Site',
      { origin: 'https://evil.example' },
      403,
    ],
    [
      'our page, whose policy hides the origin',
      { 'sec-fetch-site': 'same-origin', origin: 'null' },
      200,
    ],
    ['our page, by an older browser', { origin: 'https://scanner.example' }, 200],
    ['a client without Origin', {}, 200],
  ])(
    'or refuses a submitted form, by where the form comes from: %s (%j)',
    async (_caller, headers, status) => {
      const { askedUrls, options } = fakeAskers();
      await using service = await startApp(options);
      expect((await submitForm(service, 'shop.example.com/x', headers)).statusCode).toBe(status);
      expect(askedUrls).toHaveLength(status === 200 ? 1 : 0);
    },
  );

  test('every call with a redirect to the page of the host if the revision has no preflight', async () => {
    await using service = await startApp({ revision: '0.1.0' });
    const answer = await submitForm(service, 'never.example.com/x');
    expect([answer.statusCode, answer.headers.location]).toEqual([303, '/o/never.example.com']);
  });
});

test('the front page lists new hosts and changed grades, but not unchanged grades or opted-out hosts', async () => {
  await using service = await startApp();
  for (const [grade, score] of [
    ['A', 95],
    ['C', 70],
    ['C', 71],
  ] as const) {
    await service.publish('moved.example.com', { grade, score });
    service.advance(1_000);
  }
  await service.publish('hidden.other.com', { grade: 'B', score: 85 });
  await service.store.listing.set('hidden.other.com', { listed: false });
  const { body } = await service.get('/');
  const movements = body.slice(
    body.indexOf('New origins and changed grades'),
    body.indexOf('What agents read'),
  );
  expect(movements.match(/<li>/g)).toHaveLength(2);
  expect(movements).toContain('pill grade-A');
  expect(body).not.toContain('hidden.other.com');
});
