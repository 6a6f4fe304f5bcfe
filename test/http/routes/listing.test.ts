/** What owners ask of the directory, and who may ask it. */
import { expect, test } from 'vitest';
import { clientKey } from '../../../src/limits/client-key.ts';
import { startOwnedApp } from '../../ownership/start-owned-app.ts';
import { issuedToken } from '../../store/contract/samples.ts';

const HOUR_MS = 3_600_000;
const STRANGER = '203.0.113.9';

test.each(['0.1.0', '0.3.0'] as const)(
  'interface spec 2.6, 3 and 4.1, %s: a verified owner leaves the directory and comes back',
  async (revision) => {
    await using owned = await startOwnedApp(revision);
    const { service, origin } = owned;
    await service.publish(origin.url);
    await owned.startAndServe();
    await owned.confirm();

    const hidden = await owned.setListing({ listed: false });
    expect(hidden.statusCode).toBe(200);
    expect(hidden.json()).toEqual({
      host: origin.host,
      listed: false,
      enrichmentSuppressed: false,
    });
    expect((await service.get(`/v1/project?host=${origin.host}`)).statusCode).toBe(404);
    expect((await service.get('/v1/directory')).json().count).toBe(0);

    const shown = await owned.setListing({ listed: true });
    expect(shown.json()).toEqual({ host: origin.host, listed: true, enrichmentSuppressed: false });
    expect((await service.get(`/v1/project?host=${origin.host}`)).json().verified).toBe(true);
  },
);

test('interface spec 7: a client that proved nothing cannot change the listing', async () => {
  await using owned = await startOwnedApp();
  await owned.startAndServe();
  for (const wish of [{ listed: false }, { listed: true }, { suppressEnrichment: true }, {}]) {
    const answer = await owned.setListing(wish);
    expect(answer.statusCode).toBe(403);
    expect(answer.json()).toMatchObject({ error: 'not_verified', charged: false });
    expect(answer.json().message).toContain('/v1/verify/start');
  }
  expect(owned.origin.visits).toEqual([]);
});

test('suppressed branding shows the host, and no text of the origin', async () => {
  await using owned = await startOwnedApp();
  const { service, origin } = owned;
  await service.publish(origin.url);
  await owned.startAndServe();
  await owned.confirm();
  const answer = await owned.setListing({ suppressEnrichment: true });
  expect(answer.json()).toEqual({ host: origin.host, listed: true, enrichmentSuppressed: true });
  const suppressed = {
    displayName: origin.host,
    description: '',
    iconUrl: null,
    ogImageUrl: null,
    grade: 'A',
  };
  expect((await service.get(`/v1/project?host=${origin.host}`)).json()).toMatchObject(suppressed);
  expect((await service.get('/v1/directory')).json().projects).toMatchObject([suppressed]);
  expect((await service.get('/v1/featured')).json().projects).toMatchObject([suppressed]);

  // What is not named stays as it is.
  expect((await owned.setListing({ listed: true })).json().enrichmentSuppressed).toBe(true);
  service.advance(1_000);
  await service.publish(origin.url, { branding: { displayName: 'New name' } });
  expect((await service.get(`/v1/project?host=${origin.host}`)).json()).toMatchObject(suppressed);
  await owned.setListing({ suppressEnrichment: false });
  expect((await service.get(`/v1/project?host=${origin.host}`)).json().displayName).toBe(
    'New name',
  );
});

test('within the hour only the client that started the token, or its key, can show the host', async () => {
  await using owned = await startOwnedApp();
  const { service, origin } = owned;
  await service.publish(origin.url);
  const { token, listingKey } = (await owned.start()).json();
  origin.serve(token);
  // Anybody may call confirm: what counts is who started.
  expect((await owned.confirm(STRANGER)).json().verified).toBe(true);
  expect((await owned.setListing({ listed: false })).json().listed).toBe(false);
  origin.serve('nothing any more');
  for (const wish of [{ listed: true, suppressEnrichment: false }, { listed: false }]) {
    const refused = await owned.setListing(wish, STRANGER);
    expect(refused.statusCode).toBe(403);
    expect(refused.json()).toMatchObject({ error: 'not_your_proof', charged: false });
    expect(refused.json().message).toContain('/v1/verify/start');
  }
  const keyed = await owned.setListing({ listed: true, listingKey }, STRANGER);
  expect(keyed.json()).toMatchObject({ listed: true });
  expect(keyed.body).not.toContain(listingKey);
  const wrong = await owned.setListing({ listed: true, listingKey: token }, STRANGER);
  expect(wrong.json()).toMatchObject({ error: 'not_your_proof' });
});

test('addresses of one IPv6 /64 count as the client that started', async () => {
  await using owned = await startOwnedApp();
  await owned.startAndServe('2001:db8:1:2::1');
  await owned.confirm(STRANGER);
  expect((await owned.setListing({ listed: true }, '2001:db8:1:2:ffff::9')).statusCode).toBe(200);
  // A proxy may state the port of the connection.
  expect((await owned.setListing({ listed: true }, '[2001:db8:1:2::2]:5')).statusCode).toBe(200);
  const next = await owned.setListing({ listed: true }, '2001:db8:1:3::1');
  expect(next.json()).toMatchObject({ error: 'not_your_proof' });
});

test('a setting made with the key is changed by the key, or after a later confirm', async () => {
  await using owned = await startOwnedApp();
  const { service, origin } = owned;
  const { token, listingKey } = (await owned.start()).json();
  origin.serve(token);
  await owned.confirm();
  await owned.setListing({ listed: true, listingKey }, STRANGER);
  // Not even the address that started, nor anybody while the token is served.
  for (const from of [undefined, STRANGER]) {
    const refused = await owned.setListing({ listed: false }, from);
    expect(refused.json()).toMatchObject({ error: 'not_your_proof' });
  }
  // What changes nothing is not a change, and takes the key's mark from nothing.
  expect((await owned.setListing({ listed: true })).statusCode).toBe(200);
  expect((await owned.setListing({ suppressEnrichment: true })).statusCode).toBe(200);
  expect((await owned.setListing({ listed: false })).statusCode).toBe(403);

  // The same token confirmed again is not a later confirm.
  await owned.confirm(STRANGER);
  expect((await owned.setListing({ listed: false })).statusCode).toBe(403);
  expect((await owned.setListing({ listed: false, listingKey })).json().listed).toBe(false);
  service.advance(1_000);
  await owned.startAndServe();
  await owned.confirm();
  expect((await owned.setListing({ listed: true })).json().listed).toBe(true);
  const old = await owned.setListing({ listed: false, listingKey });
  expect(old.json()).toMatchObject({ error: 'not_your_proof' });
});

test('the hour begins at the first confirm of the token, however often it is confirmed', async () => {
  await using owned = await startOwnedApp();
  const { service } = owned;
  const { token, listingKey } = (await owned.start()).json();
  owned.origin.serve(token);
  await owned.confirm();
  service.advance(HOUR_MS - 1);
  await owned.confirm(STRANGER);
  expect((await owned.setListing({ listed: true })).statusCode).toBe(200);
  service.advance(1);
  for (const wish of [{ listed: true }, { listed: true, listingKey }]) {
    const refused = await owned.setListing(wish);
    expect(refused.statusCode).toBe(403);
    expect(refused.json()).toMatchObject({ error: 'not_verified' });
  }
});

test('a client that proves control is not overruled by a stranger who has the file read', async () => {
  await using owned = await startOwnedApp();
  const { service, origin } = owned;
  const first = await owned.startAndServe();
  await owned.confirm();
  service.advance(1_000);
  const { tokenHash, keyHash } = { tokenHash: 'later', keyHash: 'its key' };
  const client = 'the owner';
  origin.answer((response) => {
    const { ownership } = service.store;
    void ownership
      .recordConfirm(origin.host, { tokenHash, keyHash, client, block: client })
      .then(() => response.end(first));
  });
  const refused = await owned.setListing({ listed: false }, STRANGER);
  expect(refused.json()).toMatchObject({ error: 'not_your_proof' });
  expect((await service.store.listing.get(origin.host)).settings.listed).toBe(true);
});

test('an hour after the confirm, the token still served allows only hiding', async () => {
  await using owned = await startOwnedApp();
  const { service, origin } = owned;
  await service.publish(origin.url);
  await owned.startAndServe();
  await owned.confirm();
  service.advance(HOUR_MS - 1);
  expect((await owned.setListing({ listed: true })).statusCode).toBe(200);
  service.advance(1);

  const showing = await owned.setListing({ listed: true });
  expect(showing.statusCode).toBe(403);
  expect(showing.json().message).toContain('/v1/verify/start');
  expect((await owned.setListing({ suppressEnrichment: false })).statusCode).toBe(403);
  expect((await owned.setListing({ listed: false, suppressEnrichment: false })).statusCode).toBe(
    403,
  );
  expect((await service.get('/v1/directory')).json().count).toBe(1);
  expect((await owned.setListing({ listed: false, suppressEnrichment: true })).json()).toEqual({
    host: origin.host,
    listed: false,
    enrichmentSuppressed: true,
  });
});

test('an hour after the confirm, without the file, the owner has to prove control again', async () => {
  await using owned = await startOwnedApp();
  const { service, origin } = owned;
  await owned.startAndServe();
  await owned.confirm();
  service.advance(HOUR_MS);
  origin.serve('another token');
  const answer = await owned.setListing({ listed: false });
  expect(answer.statusCode).toBe(403);
  expect(answer.json()).toMatchObject({ error: 'not_verified' });
  await owned.startAndServe();
  await owned.confirm();
  expect((await owned.setListing({ listed: false })).statusCode).toBe(200);
});

test("a stranger who tries old tokens spends their own fetches, not the owner's", async () => {
  await using owned = await startOwnedApp();
  const { service, origin } = owned;
  await owned.startAndServe();
  await owned.confirm();
  service.advance(HOUR_MS);
  const before = origin.visits.length;
  for (let count = 1; count <= 5; count += 1) {
    expect((await owned.setListing({ listed: false }, STRANGER)).statusCode).toBe(200);
  }
  expect((await owned.setListing({ listed: false }, STRANGER)).statusCode).toBe(429);
  expect(origin.visits.length - before).toBe(5);
  await owned.startAndServe();
  expect((await owned.confirm()).json().verified).toBe(true);
  expect((await owned.setListing({ listed: true })).json().listed).toBe(true);
});

test('an opted-out origin stays out of every list if others have it scanned again', async () => {
  await using owned = await startOwnedApp();
  const { service, origin } = owned;
  await service.publish(origin.url, { grade: 'B', score: 85 });
  await owned.startAndServe();
  await owned.confirm();
  await owned.setListing({ listed: false });
  service.advance(1_000);
  await service.publish(origin.url, { grade: 'A', score: 99 });

  expect((await service.get(`/v1/project?host=${origin.host}`)).statusCode).toBe(404);
  for (const path of ['/v1/directory', `/v1/directory?q=localhost`, '/v1/featured']) {
    expect((await service.get(path)).json()).toMatchObject({ count: 0, projects: [] });
  }
  const { changes } = await service.store.changes.list({ sinceMs: 0, limit: 10 });
  expect(changes).toEqual([]);
  expect((await service.store.exports.takeSnapshot(10)).count).toBe(0);

  // Look-ups of one origin answer as ever.
  expect((await service.get(`/v1/status?url=${origin.url}`)).json()).toMatchObject({
    known: true,
    grade: 'A',
  });
  expect((await service.get(`/v1/report?url=${origin.url}`)).json().grade).toBe('A');
});

test('www, parents and siblings are other hosts', async () => {
  await using owned = await startOwnedApp();
  const { store } = owned.service;
  await store.ownership.recordConfirm('shop.example.com', issuedToken('x', clientKey('127.0.0.1')));
  const listed = (url: string) => owned.service.post('/v1/listing', { url, listed: false });
  expect((await listed('https://SHOP.example.com:443/')).statusCode).toBe(200);
  for (const host of ['www.shop.example.com', 'example.com', 'other.example.com']) {
    expect((await listed(`https://${host}`)).statusCode).toBe(403);
  }
});
