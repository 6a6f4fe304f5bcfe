import { describe, expect, test } from 'vitest';
import { buyer, PRICES, startSelling } from './selling.ts';

const HOST = 'shop.example.com';

describe('GET /v1/changes', () => {
  const { changes: PRICE } = PRICES['0.3.0'];
  const SINCE = '2026-08-31T00:00:00Z';

  test('sells pages that together hold every change', async () => {
    await using selling = await startSelling();
    const { app } = selling;
    for (const name of ['a', 'b', 'c']) {
      await app.publish(`${name}.example.com`);
      app.advance(1_000);
    }
    const first = await app.get(`/v1/changes?since=${SINCE}&limit=2`, await selling.header(PRICE));
    expect(first.statusCode).toBe(200);
    expect(first.json()).toMatchObject({ count: 2, hasMore: true });
    const next = encodeURIComponent(first.json().nextSince);
    const second = await app.get(`/v1/changes?since=${next}&limit=2`, await selling.header(PRICE));
    expect(second.json()).toMatchObject({ count: 1, hasMore: false });
    const hosts = [...first.json().changes, ...second.json().changes].map(({ host }) => host);
    expect(hosts).toEqual(['a.example.com', 'b.example.com', 'c.example.com']);
  });

  test('treats another spelling of the same instant as the same request', async () => {
    await using selling = await startSelling();
    const header = await selling.header(PRICE);
    const ask = (query: string) => selling.app.get(`/v1/changes?${query}`, header);
    const first = await ask(`since=${SINCE}`);
    expect(first.statusCode).toBe(200);
    const same = await ask('since=2026-08-31T02:00:00%2B02:00&limit=100');
    expect(same.body).toBe(first.body);
    expect(same.headers['x-redelivered']).toBe('1');
    expect((await ask(`since=${SINCE}&limit=7`)).statusCode).toBe(409);
    expect((await ask('since=2026-08-30T00:00:00Z')).statusCode).toBe(409);
  });

  test.each([
    '',
    'since=yesterday',
    'since=2026-08-31',
    `since=${SINCE}&limit=0`,
    `since=${SINCE}&limit=1001`,
    `since=${SINCE}&since=${SINCE}`,
  ])('?%s is 400 with a payment, and 402 without', async (query) => {
    await using selling = await startSelling();
    const path = `/v1/changes?${query}`;
    const paid = await selling.app.get(path, await selling.header(PRICE));
    expect(paid.statusCode).toBe(400);
    expect(paid.json()).toMatchObject({ charged: false });
    expect((await selling.app.get(path)).statusCode).toBe(402);
  });
});

describe('GET /v1/directory/export', () => {
  const { export: PRICE } = PRICES['0.3.0'];
  const PATH = '/v1/directory/export';

  test('has the whole directory, and gives the same bytes to all payers of one minute if nothing changed', async () => {
    await using selling = await startSelling();
    const { app } = selling;
    await app.publish(HOST);
    const header = await selling.header(PRICE);
    const first = await app.get(PATH, header);
    expect(first.statusCode).toBe(200);
    expect(first.json()).toMatchObject({
      count: 1,
      truncated: false,
      projects: [{ host: HOST, scanCount: 1, gradeHistory: [{ grade: 'A' }] }],
    });
    const sameMinute = await app.get(PATH, await selling.header(PRICE, {}, buyer()));
    expect(sameMinute.body).toBe(first.body);
    expect(sameMinute.headers['x-redelivered']).toBeUndefined();
    await app.publish('late.example.com');
    const next = await app.get(PATH, await selling.header(PRICE, {}, buyer()));
    expect(next.json()).toMatchObject({ count: 2 });
    const again = await app.get(PATH, header);
    expect(again.body).toBe(first.body);
    expect(again.headers['x-redelivered']).toBe('1');
  });

  test('leaves opted-out hosts out', async () => {
    await using selling = await startSelling();
    await selling.app.publish(HOST);
    await selling.app.store.listing.set(HOST, { listed: false });
    const answer = await selling.app.get(PATH, await selling.header(PRICE));
    expect(answer.json()).toMatchObject({ count: 0, projects: [] });
  });
});

describe('GET /v1/report of revision 0.1.0', () => {
  const { report: PRICE } = PRICES['0.1.0'];

  test('answers the stored report to a payer, as a cache hit', async () => {
    await using selling = await startSelling('0.1.0');
    const { app } = selling;
    await app.publish(HOST);
    expect((await app.get(`/v1/report?url=${HOST}`)).statusCode).toBe(402);
    const answer = await app.get(`/v1/report?url=${HOST}`, await selling.header(PRICE));
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toMatchObject({ cache: 'hit', grade: 'A' });
  });

  test('answers an uncharged 404 that points to the scan if there is no report', async () => {
    await using selling = await startSelling('0.1.0');
    const header = await selling.header(PRICE);
    const absent = await selling.app.get(`/v1/report?url=${HOST}`, header);
    expect(absent.statusCode).toBe(404);
    expect(absent.json()).toMatchObject({
      error: 'no_fresh_report',
      charged: false,
      scan: { path: '/v1/scan' },
    });
    await selling.app.publish(HOST);
    // The same payment still buys the report.
    expect((await selling.app.get(`/v1/report?url=${HOST}`, header)).statusCode).toBe(200);
  });
});

test.each([
  ['0.1.0', '/v1/changes', 404],
  ['0.1.0', '/v1/directory/export', 404],
  ['0.1.0', '/v1/report', 402],
  ['0.3.0', '/v1/changes', 402],
  ['0.3.0', '/v1/directory/export', 402],
] as const)('revision %s: GET %s without a payment is %i', async (revision, path, status) => {
  await using selling = await startSelling(revision);
  expect((await selling.app.get(path)).statusCode).toBe(status);
});
