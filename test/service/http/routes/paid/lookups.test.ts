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
    const firstPage = await app.get(
      `/v1/changes?since=${SINCE}&limit=2`,
      await selling.header(PRICE),
    );
    expect(firstPage.statusCode).toBe(200);
    expect(firstPage.json()).toMatchObject({ count: 2, hasMore: true });
    const nextSince = encodeURIComponent(firstPage.json().nextSince);
    const secondPage = await app.get(
      `/v1/changes?since=${nextSince}&limit=2`,
      await selling.header(PRICE),
    );
    expect(secondPage.json()).toMatchObject({ count: 1, hasMore: false });
    const hosts = [...firstPage.json().changes, ...secondPage.json().changes].map(
      ({ host }) => host,
    );
    expect(hosts).toEqual(['a.example.com', 'b.example.com', 'c.example.com']);
  });

  test('treats another spelling of the same instant as the same request', async () => {
    await using selling = await startSelling();
    const header = await selling.header(PRICE);
    const buy = (query: string) => selling.app.get(`/v1/changes?${query}`, header);
    const firstAnswer = await buy(`since=${SINCE}`);
    expect(firstAnswer.statusCode).toBe(200);
    const redelivered = await buy('since=2026-08-31T02:00:00%2B02:00&limit=100');
    expect(redelivered.body).toBe(firstAnswer.body);
    expect(redelivered.headers['x-redelivered']).toBe('1');
    expect((await buy(`since=${SINCE}&limit=7`)).statusCode).toBe(409);
    expect((await buy('since=2026-08-30T00:00:00Z')).statusCode).toBe(409);
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
    const firstAnswer = await app.get(PATH, header);
    expect(firstAnswer.statusCode).toBe(200);
    expect(firstAnswer.json()).toMatchObject({
      count: 1,
      truncated: false,
      projects: [{ host: HOST, scanCount: 1, gradeHistory: [{ grade: 'A' }] }],
    });
    const otherPayer = await app.get(PATH, await selling.header(PRICE, {}, buyer()));
    expect(otherPayer.body).toBe(firstAnswer.body);
    expect(otherPayer.headers['x-redelivered']).toBeUndefined();
    await app.publish('late.example.com');
    const afterChange = await app.get(PATH, await selling.header(PRICE, {}, buyer()));
    expect(afterChange.json()).toMatchObject({ count: 2 });
    const retry = await app.get(PATH, header);
    expect(retry.body).toBe(firstAnswer.body);
    expect(retry.headers['x-redelivered']).toBe('1');
  });
});
