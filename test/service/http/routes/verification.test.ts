/** POST /v1/verify/start and /v1/verify/confirm prove control of a host. */
import { expect, test } from 'vitest';
import { startOwnedApp } from '../../ownership/start-owned-app.ts';

const HOUR_MS = 3_600_000;
const STRANGER = '203.0.113.9';

test.each(['0.1.0', '0.3.0'] as const)(
  'interface spec 2.5, 3 and 5, %s: the token, served at the path, verifies the owner',
  async (revision) => {
    await using owned = await startOwnedApp(revision);
    const { service, origin } = owned;
    await service.publish(origin.url);
    const startAnswer = await owned.start();
    expect(startAnswer.statusCode).toBe(200);
    expect(startAnswer.json()).toEqual({
      host: origin.host,
      token: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      listingKey: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      wellKnownPath: '/.well-known/scanner-challenge',
      instructions: expect.stringContaining(`${origin.url}/.well-known/scanner-challenge`),
      expiresInSec: 3600,
    });
    expect(startAnswer.headers['cache-control']).toBe('no-store');

    origin.serve(`${startAnswer.json().token}\n`);
    const confirmAnswer = await owned.confirm();
    expect(confirmAnswer.statusCode).toBe(200);
    expect(confirmAnswer.json()).toEqual({
      host: origin.host,
      verified: true,
      instructions: expect.stringContaining('Remove the file'),
    });
    // A second confirm gets the same answer while the token is valid.
    expect((await owned.confirm()).json().verified).toBe(true);
    const record = await service.get(`/v1/project?host=${origin.host}`);
    expect(record.json().verified).toBe(true);
    expect(origin.visits[0]?.headers['user-agent']).toBe('x402-conformance-scanner/test');
  },
);

test('the store keeps only hashes of the token and of the listing key', async () => {
  await using owned = await startOwnedApp();
  const { token, listingKey } = (await owned.start()).json();
  expect(listingKey).not.toBe(token);
  const [liveToken] = await owned.service.store.ownership.findLiveTokens(owned.origin.host);
  expect(liveToken?.tokenHash).toMatch(/^[0-9a-f]{64}$/);
  expect(liveToken?.keyHash).toMatch(/^[0-9a-f]{64}$/);
  expect(JSON.stringify(liveToken)).not.toContain(token);
  expect(JSON.stringify(liveToken)).not.toContain(listingKey);
});

test.each([
  ['no file', null, 'wrong_status'],
  ['another text', (token: string) => token.slice(1), 'mismatch'],
  ['the token in quotes', (token: string) => `"${token}"`, 'mismatch'],
  ['a leading space', (token: string) => ` ${token}`, 'mismatch'],
  ['an empty file', () => '', 'mismatch'],
  ['513 bytes', (token: string) => token.padEnd(513), 'too_large'],
  ['a second line', (token: string) => `${token}\n${token}`, 'mismatch'],
  ['a NUL after the token', (token: string) => `${token}\0`, 'mismatch'],
])(
  '%s at the path does not verify the owner, and the token stays valid',
  async (_case, toText, reason) => {
    await using owned = await startOwnedApp();
    const { origin } = owned;
    const { token } = (await owned.start()).json();
    if (toText !== null) origin.serve(toText(token));
    const refusal = await owned.confirm();
    expect(refusal.statusCode).toBe(200);
    expect(refusal.json()).toEqual({
      host: origin.host,
      verified: false,
      reason,
      instructions: expect.any(String),
    });
    origin.serve(token);
    expect((await owned.confirm()).json().verified).toBe(true);
  },
);

test.each([
  ['512 bytes', (token: string) => token.padEnd(512)],
  ['a Windows line end and a tab', (token: string) => `${token}\r\n\t`],
])('trailing whitespace is trimmed: %s', async (_case, toText) => {
  await using owned = await startOwnedApp();
  owned.origin.serve(toText((await owned.start()).json().token));
  expect((await owned.confirm()).json().verified).toBe(true);
});

test('a redirect is not followed, not even to the path of the token', async () => {
  await using owned = await startOwnedApp();
  const { origin } = owned;
  const { token } = (await owned.start()).json();
  let answersSent = 0;
  origin.answer((response) => {
    answersSent += 1;
    if (answersSent === 1)
      response.writeHead(302, { location: '/.well-known/scanner-challenge' }).end();
    else response.end(token);
  });
  expect((await owned.confirm()).json()).toMatchObject({ verified: false, reason: 'redirected' });
  expect(answersSent).toBe(1);
});

test('a page with the token and another status does not verify', async () => {
  await using owned = await startOwnedApp();
  const { token } = (await owned.start()).json();
  owned.origin.answer((response) => void response.writeHead(403).end(token));
  expect((await owned.confirm()).json()).toMatchObject({ verified: false, reason: 'wrong_status' });
});

test('an origin that closes the connection is unreachable', async () => {
  await using owned = await startOwnedApp();
  await owned.start();
  owned.origin.answer((response) => void response.destroy());
  expect((await owned.confirm()).json()).toMatchObject({ verified: false, reason: 'unreachable' });
});

test('interface spec 8: a token is valid for 3600 s, and then the owner has to start again', async () => {
  await using owned = await startOwnedApp();
  const { service, origin } = owned;
  await owned.startAndServe();
  service.advance(HOUR_MS - 1);
  expect((await owned.confirm()).json().verified).toBe(true);
  service.advance(1);
  const visits = origin.visits.length;
  expect((await owned.confirm()).json()).toMatchObject({
    verified: false,
    reason: 'no_live_token',
    instructions: expect.stringContaining('/v1/verify/start'),
  });
  expect(origin.visits).toHaveLength(visits);
});

test('a confirm without a start sends no request to the host', async () => {
  await using owned = await startOwnedApp();
  expect((await owned.confirm()).json()).toMatchObject({
    verified: false,
    reason: 'no_live_token',
  });
  expect(owned.origin.visits).toEqual([]);
});

test('a new start leaves older tokens valid, and the ninth start of a client is 429', async () => {
  await using owned = await startOwnedApp();
  const firstToken = await owned.startAndServe();
  expect((await owned.start(STRANGER)).json().token).not.toBe(firstToken);
  for (let count = 2; count <= 8; count += 1) expect((await owned.start()).statusCode).toBe(200);
  const ninthStart = await owned.start();
  expect(ninthStart.statusCode).toBe(429);
  expect(ninthStart.json()).toMatchObject({ error: 'challenge_limit', charged: false });
  expect(ninthStart.headers).toMatchObject({
    'retry-after': '3600',
    'ratelimit-limit': '8',
    'ratelimit-remaining': '0',
    'ratelimit-reset': '3600',
  });
  expect((await owned.start(STRANGER)).statusCode).toBe(200);
  expect((await owned.confirm()).json().verified).toBe(true);
  owned.service.advance(HOUR_MS);
  expect((await owned.start()).statusCode).toBe(200);
});

test('addresses of one IPv6 /64 are one client, and the next /64 is another client', async () => {
  await using owned = await startOwnedApp();
  for (let count = 1; count <= 8; count += 1) await owned.start(`2001:db8:1:2::${count}`);
  expect((await owned.start('2001:db8:1:2:ffff::1')).statusCode).toBe(429);
  expect((await owned.start('2001:db8:1:3::1')).statusCode).toBe(200);
});

test('a client has five failed confirms an hour, and a stranger cannot use up the confirms of the owner', async () => {
  await using owned = await startOwnedApp();
  const { origin, service } = owned;
  const token = await owned.startAndServe();
  origin.serve('wrong');
  for (let count = 1; count <= 5; count += 1) {
    expect((await owned.confirm(STRANGER)).json().reason).toBe('mismatch');
  }
  const refusal = await owned.confirm(STRANGER);
  expect(refusal.statusCode).toBe(429);
  expect(refusal.json()).toMatchObject({ error: 'confirm_limit', charged: false });
  // Fetches of one host begin 10 s apart, so the first of the five was 40 s ago.
  expect(refusal.headers).toMatchObject({
    'retry-after': '3560',
    'ratelimit-limit': '5',
    'ratelimit-remaining': '0',
    'ratelimit-reset': '3560',
  });
  expect(origin.visits).toHaveLength(5);

  origin.serve(token);
  expect((await owned.confirm()).json().verified).toBe(true);
  service.advance(HOUR_MS);
  await owned.startAndServe();
  expect((await owned.confirm(STRANGER)).json().verified).toBe(true);
});

test('failed confirms with the listing key of a live token are counted separately', async () => {
  await using owned = await startOwnedApp();
  const { origin } = owned;
  const { token, listingKey } = (await owned.start()).json();
  for (let count = 1; count <= 5; count += 1) await owned.confirm();
  expect((await owned.confirm()).statusCode).toBe(429);
  expect((await owned.confirmWith('not a key')).statusCode).toBe(429);
  expect((await owned.confirmWith(listingKey)).json().reason).toBe('wrong_status');
  origin.serve(token);
  expect((await owned.confirmWith(listingKey)).json().verified).toBe(true);
  expect((await owned.confirm()).statusCode).toBe(429);
});

test('no number of strangers locks an owner out', async () => {
  await using owned = await startOwnedApp();
  await owned.start();
  owned.origin.serve('wrong');
  for (let client = 1; client <= 14; client += 1) {
    for (let count = 1; count <= 5; count += 1) await owned.confirm(`198.51.${client}.100`);
  }
  expect(owned.origin.visits).toHaveLength(70);
  await owned.startAndServe();
  expect((await owned.confirm()).json().verified).toBe(true);
});

test('a confirm before the token is served does not block the next confirm', async () => {
  await using owned = await startOwnedApp();
  const { service } = owned;
  const { token } = (await owned.start()).json();
  const beganAtMs = service.now();
  expect((await owned.confirm()).json().reason).toBe('wrong_status');
  owned.origin.serve(token);
  expect((await owned.confirm()).json().verified).toBe(true);
  expect(service.now() - beganAtMs).toBe(10_000);
});
