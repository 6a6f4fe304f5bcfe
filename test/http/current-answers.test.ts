/** Pages and lists show opt-outs, scans and expiries in the very next answer. */
import { expect, test } from 'vitest';
import { VERIFIED_FOR_MS } from '../../src/store/owners.ts';
import { DAY_MS, startApp, type TestApp } from '../fixtures/service/start-app.ts';

const HOST = 'shop.example.com';

async function projectsOf(service: TestApp) {
  const { count, projects } = (await service.get('/v1/directory')).json();
  expect(projects).toHaveLength(count);
  return projects;
}

test('the directory shows a new scan and an owner’s opt-out in the next answer', async () => {
  await using service = await startApp({ environment: { RATE_LIMIT: 'off' } });
  expect(await projectsOf(service)).toEqual([]);
  await service.publish(HOST);
  const first = await service.get('/v1/directory');
  const again = await service.get('/v1/directory');
  expect(again.body).toBe(first.body);
  expect(again.headers['content-type']).toBe(first.headers['content-type']);
  expect(first.json().projects).toMatchObject([{ host: HOST }]);
  await service.publish('other.example.com');
  expect(await projectsOf(service)).toHaveLength(2);
  await service.store.listing.set(HOST, { listed: false });
  expect(await projectsOf(service)).toMatchObject([{ host: 'other.example.com' }]);
  await service.store.listing.set(HOST, { listed: true, enrichmentSuppressed: true });
  const shown = (await projectsOf(service)).find(({ host }: { host: string }) => host === HOST);
  expect(shown).toMatchObject({ displayName: HOST, description: '' });
});

test('the directory stops featuring a host exactly 30 days after its scan', async () => {
  await using service = await startApp({ environment: { RATE_LIMIT: 'off' } });
  await service.publish(HOST, { grade: 'A' });
  expect(await projectsOf(service)).toMatchObject([{ featured: true }]);
  const [{ lastScannedAt }] = await projectsOf(service);
  service.advance(Date.parse(lastScannedAt) + 30 * DAY_MS - service.now() - 1);
  expect(await projectsOf(service)).toMatchObject([{ featured: true }]);
  service.advance(1);
  expect(await projectsOf(service)).toMatchObject([{ featured: false }]);
});

test('the directory drops the verified mark at the millisecond in which the proof expires', async () => {
  await using service = await startApp({ environment: { RATE_LIMIT: 'off' } });
  await service.publish(HOST, { grade: 'B' });
  const token = { tokenHash: 'h', keyHash: 'k', client: 'c', block: 'b' };
  const { atMs } = await service.store.ownership.recordConfirm(HOST, token);
  expect(await projectsOf(service)).toMatchObject([{ verified: true }]);
  service.advance(atMs + VERIFIED_FOR_MS - service.now() - 1);
  expect(await projectsOf(service)).toMatchObject([{ verified: true }]);
  service.advance(1);
  expect(await projectsOf(service)).toMatchObject([{ verified: false }]);
});

test('the front page shows scans, opt-outs and the end of a proof in the next answer', async () => {
  await using service = await startApp({ environment: { RATE_LIMIT: 'off' } });
  const getFrontPage = async (path = '/') => service.get(path);
  expect((await getFrontPage()).body).toContain('No origin has been scanned yet');
  await service.publish(HOST, { grade: 'B' });
  const first = await getFrontPage();
  expect(first.body).toContain(`/o/${HOST}`);
  const again = await getFrontPage();
  expect([again.body, again.headers['content-type'], again.headers['link']]).toEqual([
    first.body,
    'text/html; charset=utf-8',
    first.headers['link'],
  ]);
  expect((await getFrontPage('/?page=1')).body).not.toContain(`/o/${HOST}`);
  expect((await getFrontPage('/?q=nobody')).body).toContain('No listed host');
  const token = { tokenHash: 'h', keyHash: 'k', client: 'c', block: 'b' };
  const { atMs } = await service.store.ownership.recordConfirm(HOST, token);
  expect((await getFrontPage()).body).toContain('owner verified');
  service.advance(atMs + VERIFIED_FOR_MS - service.now() - 1);
  expect((await getFrontPage()).body).toContain('owner verified');
  service.advance(1);
  expect((await getFrontPage()).body).not.toContain('owner verified');
  await service.store.listing.set(HOST, { listed: false });
  expect((await getFrontPage()).body).not.toContain(`/o/${HOST}`);
});

test('the report page shows a scan, its age and an opt-out in the next answer', async () => {
  await using service = await startApp({ environment: { RATE_LIMIT: 'off' } });
  const getPage = async () => service.get(`/o/${HOST}`);
  const unknown = await getPage();
  await service.publish(HOST, { grade: 'B', score: 80 });
  const first = await getPage();
  expect(first.body).not.toBe(unknown.body);
  expect((await getPage()).body).toBe(first.body);
  expect((await getPage()).headers['content-type']).toBe('text/html; charset=utf-8');
  service.advance(DAY_MS);
  const stale = await getPage();
  expect(stale.body).not.toBe(first.body);
  await service.publish(HOST, { grade: 'A' });
  const rescanned = await getPage();
  expect(rescanned.body).not.toBe(stale.body);
  await service.store.listing.set(HOST, { listed: false });
  expect((await getPage()).statusCode).toBe(404);
  await service.store.listing.set(HOST, { listed: true });
  expect((await getPage()).body).toBe(rescanned.body);
});
