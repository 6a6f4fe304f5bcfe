/** POST /v1/listing changes what the directory shows of a host, for its verified owner only. */
import { expect, test } from 'vitest';
import { toClientKey } from '../../../../src/service/turns/client-key.ts';
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

    const hideAnswer = await owned.setListing({ listed: false });
    expect(hideAnswer.statusCode).toBe(200);
    expect(hideAnswer.json()).toEqual({
      host: origin.host,
      listed: false,
      enrichmentSuppressed: false,
    });
    expect((await service.get(`/v1/project?host=${origin.host}`)).statusCode).toBe(404);
    expect((await service.get('/v1/directory')).json().count).toBe(0);

    const showAnswer = await owned.setListing({ listed: true });
    expect(showAnswer.json()).toEqual({
      host: origin.host,
      listed: true,
      enrichmentSuppressed: false,
    });
    expect((await service.get(`/v1/project?host=${origin.host}`)).json().verified).toBe(true);
  },
);

test('interface spec 7: a client that did not prove control cannot change the listing', async () => {
  await using owned = await startOwnedApp();
  await owned.startAndServe();
  for (const settings of [{ listed: false }, { listed: true }, { suppressEnrichment: true }, {}]) {
    const answer = await owned.setListing(settings);
    expect(answer.statusCode).toBe(403);
    expect(answer.json()).toMatchObject({ error: 'not_verified', charged: false });
    expect(answer.json().message).toContain('/v1/verify/start');
  }
  expect(owned.origin.visits).toEqual([]);
});

test('a record with suppressed branding shows the host and no text of the origin', async () => {
  await using owned = await startOwnedApp();
  const { service, origin } = owned;
  await service.publish(origin.url);
  await owned.startAndServe();
  await owned.confirm();
  const answer = await owned.setListing({ suppressEnrichment: true });
  expect(answer.json()).toEqual({ host: origin.host, listed: true, enrichmentSuppressed: true });
  const suppressedRecord = {
    displayName: origin.host,
    description: '',
    iconUrl: null,
    ogImageUrl: null,
    grade: 'A',
  };
  expect((await service.get(`/v1/project?host=${origin.host}`)).json()).toMatchObject(
    suppressedRecord,
  );
  expect((await service.get('/v1/directory')).json().projects).toMatchObject([suppressedRecord]);
  expect((await service.get('/v1/featured')).json().projects).toMatchObject([suppressedRecord]);

  // A setting that the call does not name stays as it is.
  expect((await owned.setListing({ listed: true })).json().enrichmentSuppressed).toBe(true);
  service.advance(1_000);
  await service.publish(origin.url, { branding: { displayName: 'New name' } });
  expect((await service.get(`/v1/project?host=${origin.host}`)).json()).toMatchObject(
    suppressedRecord,
  );
  await owned.setListing({ suppressEnrichment: false });
  expect((await service.get(`/v1/project?host=${origin.host}`)).json().displayName).toBe(
    'New name',
  );
});

test('for an hour after a confirm, only the client that called start or a holder of the listing key can change the listing', async () => {
  await using owned = await startOwnedApp();
  const { service, origin } = owned;
  await service.publish(origin.url);
  const { token, listingKey } = (await owned.start()).json();
  origin.serve(token);
  // Anybody may call confirm. The rights go to the client that called start.
  expect((await owned.confirm(STRANGER)).json().verified).toBe(true);
  expect((await owned.setListing({ listed: false })).json().listed).toBe(false);
  origin.serve('no token');
  for (const settings of [{ listed: true, suppressEnrichment: false }, { listed: false }]) {
    const refusal = await owned.setListing(settings, STRANGER);
    expect(refusal.statusCode).toBe(403);
    expect(refusal.json()).toMatchObject({ error: 'not_your_proof', charged: false });
    expect(refusal.json().message).toContain('/v1/verify/start');
  }
  const withKey = await owned.setListing({ listed: true, listingKey }, STRANGER);
  expect(withKey.json()).toMatchObject({ listed: true });
  expect(withKey.body).not.toContain(listingKey);
  const withWrongKey = await owned.setListing({ listed: true, listingKey: token }, STRANGER);
  expect(withWrongKey.json()).toMatchObject({ error: 'not_your_proof' });
});

test('all addresses of one IPv6 /64 count as the client that called start', async () => {
  await using owned = await startOwnedApp();
  await owned.startAndServe('2001:db8:1:2::1');
  await owned.confirm(STRANGER);
  expect((await owned.setListing({ listed: true }, '2001:db8:1:2:ffff::9')).statusCode).toBe(200);
  // A proxy may state the port of the connection.
  expect((await owned.setListing({ listed: true }, '[2001:db8:1:2::2]:5')).statusCode).toBe(200);
  const fromNextBlock = await owned.setListing({ listed: true }, '2001:db8:1:3::1');
  expect(fromNextBlock.json()).toMatchObject({ error: 'not_your_proof' });
});

test('a setting made with the listing key can be changed only with that key, or after a new proof', async () => {
  await using owned = await startOwnedApp();
  const { service, origin } = owned;
  const { token, listingKey } = (await owned.start()).json();
  origin.serve(token);
  await owned.confirm();
  await owned.setListing({ listed: true, listingKey }, STRANGER);
  // Neither the client that started nor a stranger can change the setting without the key.
  for (const from of [undefined, STRANGER]) {
    const refusal = await owned.setListing({ listed: false }, from);
    expect(refusal.json()).toMatchObject({ error: 'not_your_proof' });
  }
  // A call that changes no value is allowed, and the setting still belongs to the key.
  expect((await owned.setListing({ listed: true })).statusCode).toBe(200);
  expect((await owned.setListing({ suppressEnrichment: true })).statusCode).toBe(200);
  expect((await owned.setListing({ listed: false })).statusCode).toBe(403);

  // A second confirm of the same token is not a new proof.
  await owned.confirm(STRANGER);
  expect((await owned.setListing({ listed: false })).statusCode).toBe(403);
  expect((await owned.setListing({ listed: false, listingKey })).json().listed).toBe(false);
  service.advance(1_000);
  await owned.startAndServe();
  await owned.confirm();
  expect((await owned.setListing({ listed: true })).json().listed).toBe(true);
  const withOldKey = await owned.setListing({ listed: false, listingKey });
  expect(withOldKey.json()).toMatchObject({ error: 'not_your_proof' });
});

test('the hour begins at the first confirm of a token, and a second confirm does not extend it', async () => {
  await using owned = await startOwnedApp();
  const { service } = owned;
  const { token, listingKey } = (await owned.start()).json();
  owned.origin.serve(token);
  await owned.confirm();
  service.advance(HOUR_MS - 1);
  await owned.confirm(STRANGER);
  expect((await owned.setListing({ listed: true })).statusCode).toBe(200);
  service.advance(1);
  for (const settings of [{ listed: true }, { listed: true, listingKey }]) {
    const refusal = await owned.setListing(settings);
    expect(refusal.statusCode).toBe(403);
    expect(refusal.json()).toMatchObject({ error: 'not_verified' });
  }
});

test('a stranger whose call makes the service read the token file does not overrule a proof made meanwhile', async () => {
  await using owned = await startOwnedApp();
  const { service, origin } = owned;
  const firstToken = await owned.startAndServe();
  await owned.confirm();
  service.advance(1_000);
  const { tokenHash, keyHash } = { tokenHash: 'later', keyHash: 'its key' };
  const client = 'the owner';
  origin.answer((response) => {
    const { ownership } = service.store;
    void ownership
      .recordConfirm(origin.host, { tokenHash, keyHash, client, block: client })
      .then(() => response.end(firstToken));
  });
  const refusal = await owned.setListing({ listed: false }, STRANGER);
  expect(refusal.json()).toMatchObject({ error: 'not_your_proof' });
  expect((await service.store.listing.get(origin.host)).settings.listed).toBe(true);
});

test('an hour after the confirm, a token that is still served only allows hiding the host', async () => {
  await using owned = await startOwnedApp();
  const { service, origin } = owned;
  await service.publish(origin.url);
  await owned.startAndServe();
  await owned.confirm();
  service.advance(HOUR_MS - 1);
  expect((await owned.setListing({ listed: true })).statusCode).toBe(200);
  service.advance(1);

  const refusedShow = await owned.setListing({ listed: true });
  expect(refusedShow.statusCode).toBe(403);
  expect(refusedShow.json().message).toContain('/v1/verify/start');
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

test('an hour after the confirm, an owner who serves no token has to prove control again', async () => {
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

test("a stranger whose calls make the service read the token file uses up the stranger's fetches, not the owner's", async () => {
  await using owned = await startOwnedApp();
  const { service, origin } = owned;
  await owned.startAndServe();
  await owned.confirm();
  service.advance(HOUR_MS);
  const visitsBefore = origin.visits.length;
  for (let count = 1; count <= 5; count += 1) {
    expect((await owned.setListing({ listed: false }, STRANGER)).statusCode).toBe(200);
  }
  expect((await owned.setListing({ listed: false }, STRANGER)).statusCode).toBe(429);
  expect(origin.visits.length - visitsBefore).toBe(5);
  await owned.startAndServe();
  expect((await owned.confirm()).json().verified).toBe(true);
  expect((await owned.setListing({ listed: true })).json().listed).toBe(true);
});

test('an opted-out origin stays out of every list if somebody else has it scanned again', async () => {
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

  // The status and the report of the origin are still available.
  expect((await service.get(`/v1/status?url=${origin.url}`)).json()).toMatchObject({
    known: true,
    grade: 'A',
  });
  expect((await service.get(`/v1/report?url=${origin.url}`)).json().grade).toBe('A');
});

test('a proof for a host does not cover its www name, parent or sibling', async () => {
  await using owned = await startOwnedApp();
  const { store } = owned.service;
  await store.ownership.recordConfirm(
    'shop.example.com',
    issuedToken('x', toClientKey('127.0.0.1')),
  );
  const hide = (url: string) => owned.service.post('/v1/listing', { url, listed: false });
  expect((await hide('https://SHOP.example.com:443/')).statusCode).toBe(200);
  for (const host of ['www.shop.example.com', 'example.com', 'other.example.com']) {
    expect((await hide(`https://${host}`)).statusCode).toBe(403);
  }
});
