/** POST /v1/preflight asks the seller or answers from its report, within rate limits. */
import { describe, expect, test } from 'vitest';
import { openClients } from '../../../../src/scanner/clients/open-clients.ts';
import { listCatalogs, loadCatalog } from '../../../../src/scanner/engine/catalog/catalog.ts';
import { discoverChecks } from '../../../../src/scanner/engine/catalog/discover-checks.ts';
import { createPool } from '../../../../src/scanner/engine/judging-pool.ts';
import { DEFAULT_POLICY, parseAllowHosts } from '../../../../src/scanner/guard/origin.ts';
import type { PayableBy, ResourcePayability } from '../../../../src/scanner/model/payability.ts';
import { preflightForStranger } from '../../../../src/scanner/preflight/preflight.ts';
import { type PreflightRequest, toPreflight } from '../../../../src/scanner/preflight/result.ts';
import type { AskSeller } from '../../../../src/service/turns/run-preflight.ts';
import { startCraftedSeller } from '../../../fixtures/origins/crafted-seller.ts';
import { startApp } from '../../../fixtures/service/start-app.ts';
import { openRealClient } from '../../turns/turn-clients.ts';

const PATH = '/v1/preflight';
const RESOURCE_URL = 'https://shop.example.com/weather?city=Lisbon';

const OFFER = {
  pointer: '/accepts/0',
  scheme: 'exact',
  network: 'eip155:8453',
  asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  amount: '10000',
  client: '@x402/evm',
  words: null,
};

function fakeAskSeller() {
  const requests: PreflightRequest[] = [];
  const askSeller = async (request: PreflightRequest) => {
    requests.push(request);
    return toPreflight([]);
  };
  return { requests, askSeller };
}

describe('POST /v1/preflight', () => {
  test('sends at most one request to a host in five seconds', async () => {
    const { requests, askSeller } = fakeAskSeller();
    await using service = await startApp({ askSeller });
    const firstAnswer = await service.post(PATH, { url: RESOURCE_URL, maxPrice: '0.05' });
    expect(firstAnswer.statusCode).toBe(200);
    expect(firstAnswer.json()).toEqual({
      verdict: 'go',
      reasons: [],
      terms: null,
      termsDigest: null,
    });
    expect(requests).toMatchObject([
      { path: '/weather?city=Lisbon', method: 'GET', maxPrice: '0.05' },
    ]);
    const secondAnswer = await service.post(PATH, { url: 'https://shop.example.com/other' });
    expect(secondAnswer.json()).toMatchObject({
      verdict: 'caution',
      reasons: [{ code: 'not_asked' }],
    });
    service.advance(5_000);
    expect((await service.post(PATH, { url: RESOURCE_URL })).json().verdict).toBe('go');
    expect(requests).toHaveLength(2);
  });

  test('never sends a POST to a seller', async () => {
    const { requests, askSeller } = fakeAskSeller();
    await using service = await startApp({ askSeller });
    const answer = await service.post(PATH, { url: RESOURCE_URL, method: 'POST' });
    expect(answer.json()).toMatchObject({ verdict: 'caution', reasons: [{ code: 'not_asked' }] });
    expect(requests).toEqual([]);
  });

  const toResource = (method: string, path: string, payableBy: PayableBy): ResourcePayability => ({
    method,
    path,
    payableBy,
    words: payableBy === 'default' ? null : 'No.',
    offers: [{ ...OFFER, verdict: payableBy === 'default' ? 'signs' : 'refuses' }],
  });

  test('answers for POST resources from the report of the last day', async () => {
    const { requests, askSeller } = fakeAskSeller();
    await using service = await startApp({ askSeller });
    const payability = [
      toResource('POST', '/summaries', 'default'),
      toResource('POST', '/broken', 'nobody'),
    ];
    await service.publish('shop.example.com', { report: { payability } });
    const preflight = async (path: string, members: object = {}) => {
      const url = `https://shop.example.com${path}`;
      return (await service.post(PATH, { url, method: 'POST', ...members })).json();
    };
    const answer = await preflight('/summaries');
    expect(answer).toMatchObject({
      verdict: 'go',
      terms: { payableBy: 'default', offers: [{ price: '0.01 USDC', payTo: null }] },
    });
    expect(await preflight('/summaries', { maxPrice: '0.001' })).toMatchObject({
      verdict: 'no-go',
      reasons: [{ code: 'over_max_price' }],
    });
    expect(await preflight('/broken')).toMatchObject({
      verdict: 'no-go',
      reasons: [{ code: 'nobody_can_pay' }],
    });
    expect(await preflight('/unknown')).toMatchObject({ reasons: [{ code: 'not_asked' }] });
    service.advance(24 * 3_600_000);
    expect(await preflight('/summaries')).toMatchObject({ reasons: [{ code: 'not_asked' }] });
    expect(requests).toEqual([]);
  });

  test('answers from the report within five seconds of the last request to the host', async () => {
    const { requests, askSeller } = fakeAskSeller();
    await using service = await startApp({ askSeller });
    const payability = [toResource('GET', '/weather', 'default')];
    await service.publish('shop.example.com', { report: { payability } });
    const url = 'https://shop.example.com/weather';
    await service.post(PATH, { url });
    const secondAnswer = await service.post(PATH, { url });
    expect(secondAnswer.json()).toMatchObject({ verdict: 'go', terms: { payableBy: 'default' } });
    expect(requests).toHaveLength(1);
  });

  test('answers 30 calls a minute for each client', async () => {
    const { askSeller } = fakeAskSeller();
    await using service = await startApp({ askSeller });
    const codes: number[] = [];
    for (let call = 0; call < 31; call += 1) {
      codes.push((await service.post(PATH, { url: RESOURCE_URL })).statusCode);
    }
    expect(codes.filter((code) => code === 200)).toHaveLength(30);
    const limited = await service.post(PATH, { url: RESOURCE_URL });
    expect(limited.statusCode).toBe(429);
    expect(limited.headers).toHaveProperty('retry-after');
  });

  test('answers no-go for an address that the guard refuses', async () => {
    const { requests, askSeller } = fakeAskSeller();
    await using service = await startApp({ askSeller });
    const answer = await service.post(PATH, { url: 'https://127.0.0.1/' });
    expect(answer.json()).toMatchObject({ verdict: 'no-go', reasons: [{ code: 'refused' }] });
    expect(requests).toEqual([]);
  });

  test.each([
    [{}],
    [{ url: RESOURCE_URL, maxPrice: '$1' }],
    [{ url: RESOURCE_URL, method: 'get' }],
  ])('refuses %j', async (body) => {
    await using service = await startApp();
    expect((await service.post(PATH, body)).json()).toMatchObject({ error: 'invalid_request' });
  });

  test('is missing in 0.1.0', async () => {
    await using service = await startApp({ revision: '0.1.0' });
    expect((await service.post(PATH, { url: RESOURCE_URL })).statusCode).toBe(404);
  });
});

test('a preflight sends one GET, answers caution if the seller does not answer, and follows no redirect', async () => {
  const seller = await startCraftedSeller({
    hangs: ['/silent'],
    answers: { 'GET /moved': { status: 308, headers: { location: '/weather' } } },
  });
  const checks = await discoverChecks();
  const catalog = await loadCatalog((await listCatalogs()).at(-1) ?? '', { checks });
  await using pool = Object.assign(createPool(), {
    async [Symbol.asyncDispose]() {
      await pool.close();
    },
  });
  const clients = openClients();
  try {
    const hosts = new URL(seller.url).host;
    const policy = { ...DEFAULT_POLICY, allowHosts: parseAllowHosts(hosts) };
    const engine = { catalog, checks, pool, clients };
    const openClient = openRealClient({ policy, userAgent: 'test' });
    const preflight = async (path: string, answerWithinMs: number) => {
      const askSeller: AskSeller = (request, client) =>
        preflightForStranger(request, { ...engine, answerWithinMs, client });
      await using service = await startApp({
        ...{ askSeller, openClient },
        environment: { SCAN_ALLOW_HOSTS: hosts },
      });
      return (await service.post(PATH, { url: seller.url + path })).json();
    };
    expect(await preflight('/weather', 10_000)).toMatchObject({ verdict: 'go', reasons: [] });
    expect(await preflight('/silent', 50)).toMatchObject({
      verdict: 'caution',
      reasons: [{ code: 'no_answer' }],
    });
    expect(await preflight('/moved', 10_000)).toMatchObject({
      verdict: 'caution',
      reasons: [{ code: 'not_challenged', evidence: expect.stringContaining('308') }],
    });
    expect(seller.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /weather',
      'GET /silent',
      'GET /moved',
    ]);
  } finally {
    await clients.close();
    await seller[Symbol.asyncDispose]();
  }
});
