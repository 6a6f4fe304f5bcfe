import { parseFeed } from 'htmlparser2';
import { expect, test } from 'vitest';
import type { PayableBy } from '../../../../src/scanner/model/payability.ts';
import type { Grade } from '../../../../src/scanner/model/report.ts';
import { type Answer, startApp, type TestApp } from '../../../fixtures/service/start-app.ts';

const HOST = 'shop.example.com';
const FEED_PATH = `/o/${HOST}/feed.atom`;
const HOUR_MS = 3_600_000;
const WITHOUT_LIMIT = { environment: { RATE_LIMIT: 'off' } };

/** Publishes a scan of the host, and moves the clock by an hour. */
async function scanAs(service: TestApp, grade: Grade, payableBy: PayableBy | null, score = 80) {
  await service.publish(HOST, { grade, score, report: { payableBy } });
  service.advance(HOUR_MS);
}

function parseEntries(answer: Answer) {
  const feed = parseFeed(answer.body);
  expect(feed?.type).toBe('atom');
  return (feed?.items ?? []).map(({ id, title, pubDate }) => ({ id, title, at: pubDate }));
}

test('the feed has the first scan, and each change of grade or payability', async () => {
  await using service = await startApp();
  await scanAs(service, 'F', 'nobody', 30);
  await scanAs(service, 'F', 'nobody', 31);
  await scanAs(service, 'B', 'nobody', 85);
  await scanAs(service, 'B', 'default', 86);
  await scanAs(service, 'A', null, 95);
  const answer = await service.get(FEED_PATH);
  expect(answer.statusCode).toBe(200);
  expect(answer.headers['content-type']).toBe('application/atom+xml; charset=utf-8');
  expect(answer.headers['cache-control']).toBe('public, max-age=60');
  const entries = parseEntries(answer);
  expect(entries.map(({ title }) => title)).toEqual([
    `${HOST}: default clients can pay → no payment challenge was seen`,
    `${HOST}: grade B → A, score 95, checks 2026-08-14.2`,
    `${HOST}: no client can pay → default clients can pay`,
    `${HOST}: grade F → B, score 85, checks 2026-08-14.2`,
    `${HOST}: first scan: grade F, score 30, no client can pay`,
  ]);
  expect(entries.map(({ id }) => id)).toEqual([
    `tag:scanner.example,2026-09-01:o/${HOST}/payability/2026-09-01T16:00:00.000Z`,
    `tag:scanner.example,2026-09-01:o/${HOST}/grade/2026-09-01T16:00:00.000Z`,
    `tag:scanner.example,2026-09-01:o/${HOST}/payability/2026-09-01T15:00:00.000Z`,
    `tag:scanner.example,2026-09-01:o/${HOST}/grade/2026-09-01T14:00:00.000Z`,
    `tag:scanner.example,2026-09-01:o/${HOST}/first-seen`,
  ]);
  const feed = parseFeed(answer.body);
  expect(feed).toMatchObject({
    id: `tag:scanner.example,2026-09-01:o/${HOST}`,
    title: `${HOST}: x402 conformance`,
    updated: new Date('2026-09-01T16:00:00Z'),
  });
  expect(answer.body).toContain(`<link rel="self" href="https://scanner.example${FEED_PATH}"/>`);
  expect(answer.body).toContain('<author>');
});

test('the feed ignores scans that change nothing, and keeps its newest 50 entries', async () => {
  await using service = await startApp(WITHOUT_LIMIT);
  await scanAs(service, 'A', 'default');
  await scanAs(service, 'B', 'default');
  const feedBefore = await service.get(FEED_PATH);
  await scanAs(service, 'B', 'default', 81);
  expect((await service.get(FEED_PATH)).body).toBe(feedBefore.body);
  for (let n = 0; n < 60; n += 1) await scanAs(service, n % 2 === 0 ? 'A' : 'B', 'default');
  const newestEntries = parseEntries(await service.get(FEED_PATH));
  expect(newestEntries).toHaveLength(50);
  expect(new Set(newestEntries.map(({ id }) => id)).size).toBe(50);
});

test('the feed answers 304 to a client that has the current copy', async () => {
  await using service = await startApp(WITHOUT_LIMIT);
  await scanAs(service, 'A', 'default');
  const { headers } = await service.get(FEED_PATH);
  const etag = String(headers['etag']);
  const lastModified = String(headers['last-modified']);
  expect(lastModified).toBe('Tue, 01 Sep 2026 12:00:00 GMT');
  const fetchStatus = async (headersSent: Record<string, string>) =>
    (await service.get(FEED_PATH, headersSent)).statusCode;
  const currentCopies = [
    { 'if-none-match': etag },
    { 'if-none-match': `"other", W/${etag}` },
    { 'if-none-match': '*' },
    { 'if-modified-since': lastModified },
    { 'if-none-match': etag, 'if-modified-since': 'Tue, 01 Sep 2020 12:00:00 GMT' },
  ];
  for (const headersSent of currentCopies)
    expect([headersSent, await fetchStatus(headersSent)]).toEqual([headersSent, 304]);
  const notModified = await service.get(FEED_PATH, { 'if-none-match': etag });
  expect([notModified.body, notModified.headers['etag']]).toEqual(['', etag]);
  expect(notModified.headers['cache-control']).toBe('public, max-age=60');
  const otherCopies = [
    { 'if-none-match': '"other"' },
    { 'if-modified-since': 'Tue, 01 Sep 2026 11:59:59 GMT' },
    { 'if-modified-since': 'yesterday' },
    { 'if-none-match': '"other"', 'if-modified-since': lastModified },
  ];
  for (const headersSent of otherCopies)
    expect([headersSent, await fetchStatus(headersSent)]).toEqual([headersSent, 200]);
  await scanAs(service, 'B', 'default');
  for (const headersSent of [{ 'if-none-match': etag }, { 'if-modified-since': lastModified }]) {
    expect([headersSent, await fetchStatus(headersSent)]).toEqual([headersSent, 200]);
  }
});

test('the feed is an uncached 404 for a host that is unknown, malformed or opted out', async () => {
  await using service = await startApp(WITHOUT_LIMIT);
  const fetchError = async (path: string, headersSent = {}) => {
    const answer = await service.get(path, headersSent);
    return [answer.statusCode, answer.json().error];
  };
  const unknownProject = [404, 'unknown_project'];
  for (const host of [HOST, 'localhost', '10.0.0.1', '%00', 'a b', '%3Cscript%3E']) {
    expect([host, ...(await fetchError(`/o/${host}/feed.atom`))]).toEqual([
      host,
      ...unknownProject,
    ]);
  }
  await scanAs(service, 'A', 'default');
  const { statusCode, headers } = await service.get(`/o/SHOP.example.com./feed.atom`);
  expect(statusCode).toBe(200);
  await service.store.listing.set(HOST, { listed: false });
  expect(await fetchError(FEED_PATH, { 'if-none-match': String(headers['etag']) })).toEqual(
    unknownProject,
  );
  expect((await service.get(FEED_PATH)).headers['cache-control']).toBe('no-store');
});

test('the feed has no text that an origin wrote', async () => {
  await using service = await startApp();
  const branding = { displayName: 'Hostile ]]> \u0000<b>', description: 'Also hostile' };
  await service.publish(HOST, { branding });
  expect((await service.get(FEED_PATH)).body).not.toContain('ostile');
});

test('the report page links to the feed', async () => {
  await using service = await startApp();
  const link = `<link rel="alternate" type="application/atom+xml"`;
  expect((await service.get(`/o/${HOST}`)).body).not.toContain(link);
  await service.publish(HOST);
  const page = (await service.get(`/o/${HOST}`)).body;
  expect(page).toContain(link);
  expect(page).toContain(`href="https://scanner.example${FEED_PATH}"`);
});

test('the feed exists only in revision 0.3.0', async () => {
  await using service = await startApp({ revision: '0.1.0' });
  await service.publish(HOST);
  expect((await service.get(FEED_PATH)).statusCode).toBe(404);
  expect((await service.get(`/o/${HOST}`)).body).not.toContain('feed.atom');
});
