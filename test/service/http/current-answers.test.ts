/** Pages show opt-outs, scans and expiries in the very next answer. */
import { expect, test } from 'vitest';
import { VERIFIED_FOR_MS } from '../../../src/service/store/owners.ts';
import { DAY_MS, startApp } from '../../fixtures/service/start-app.ts';

const HOST = 'shop.example.com';

test('the front page shows scans, opt-outs and the end of a proof in the next answer', async () => {
  await using service = await startApp({ environment: { RATE_LIMIT: 'off' } });
  const getFrontPage = async (path = '/') => service.get(path);
  expect((await getFrontPage()).body).toContain('No origin has been scanned yet');
  await service.publish(HOST, { grade: 'B' });
  const firstAnswer = await getFrontPage();
  expect(firstAnswer.body).toContain(`/o/${HOST}`);
  const repeatedAnswer = await getFrontPage();
  expect([
    repeatedAnswer.body,
    repeatedAnswer.headers['content-type'],
    repeatedAnswer.headers['link'],
  ]).toEqual([firstAnswer.body, 'text/html; charset=utf-8', firstAnswer.headers['link']]);
  expect((await getFrontPage('/directory')).body).toContain(`/o/${HOST}`);
  const token = { tokenHash: 'h', keyHash: 'k', client: 'c', block: 'b' };
  const { atMs } = await service.store.ownership.recordConfirm(HOST, token);
  expect((await getFrontPage()).body).toContain('owner verified');
  service.advance(atMs + VERIFIED_FOR_MS - service.now() - 1);
  expect((await getFrontPage()).body).toContain('owner verified');
  service.advance(1);
  expect((await getFrontPage()).body).not.toContain('owner verified');
  await service.store.listing.set(HOST, { listed: false });
  expect((await getFrontPage()).body).not.toContain(`/o/${HOST}`);
  expect((await getFrontPage('/directory')).body).not.toContain(`/o/${HOST}`);
});

test('the report page shows a scan, its age and an opt-out in the next answer', async () => {
  await using service = await startApp({ environment: { RATE_LIMIT: 'off' } });
  const getPage = async () => service.get(`/o/${HOST}`);
  const unknown = await getPage();
  await service.publish(HOST, { grade: 'B', score: 80 });
  const firstAnswer = await getPage();
  expect(firstAnswer.body).not.toBe(unknown.body);
  expect((await getPage()).body).toBe(firstAnswer.body);
  expect((await getPage()).headers['content-type']).toBe('text/html; charset=utf-8');
  service.advance(DAY_MS);
  const stale = await getPage();
  expect(stale.body).not.toBe(firstAnswer.body);
  await service.publish(HOST, { grade: 'A' });
  const rescanned = await getPage();
  expect(rescanned.body).not.toBe(stale.body);
  await service.store.listing.set(HOST, { listed: false });
  expect((await getPage()).statusCode).toBe(404);
  await service.store.listing.set(HOST, { listed: true });
  expect((await getPage()).body).toBe(rescanned.body);
});
