import { expect, test } from 'vitest';
import { status as answers, verifySignature } from './receiver.ts';
import { HOST, startWatchedApp } from './watched-app.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

test('a receiver that repeats the challenge agrees, and the first scan follows', async () => {
  await using watched = await startWatchedApp();
  const { app, receiver } = watched;
  await watched.prove();
  const { status, body } = await watched.watch();
  expect(status).toBe(200);
  expect(body).toEqual({
    host: HOST,
    secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    endsAt: new Date(app.now() + 30 * DAY_MS).toISOString(),
    feedUrl: `https://scanner.example/o/${HOST}/feed.atom`,
  });
  const { secret = '' } = body;
  const before = await watched.call('status', secret);
  expect(before.body).toMatchObject({ state: 'pending', nextLookAt: null });
  expect((await watched.call('test', secret)).body).toMatchObject({ error: 'not_agreed' });

  await watched.settle();
  expect(receiver.types()).toEqual(['watch.started']);
  const [started] = receiver.received;
  if (started === undefined) throw new Error('nothing came');
  verifySignature(secret, started);
  expect(started.event).toEqual({
    type: 'watch.started',
    timestamp: expect.stringMatching(/Z$/),
    data: {
      host: HOST,
      reportUrl: `https://scanner.example/o/${HOST}`,
      challenge: expect.any(String),
      endsAt: body['endsAt'],
      before: null,
      after: null,
    },
  });
  expect(app.scanner.began).toEqual([HOST]);
  const after = await watched.call('status', secret);
  expect(after.body).toMatchObject({
    host: HOST,
    state: 'active',
    deliveries: [
      {
        id: started.id,
        type: 'watch.started',
        tries: 1,
        status: 'delivered',
        at: expect.any(String),
      },
    ],
  });
  const nextLookAtMs = Date.parse(String(after.body['nextLookAt']));
  expect(nextLookAtMs).toBeGreaterThan(app.now());
  expect(nextLookAtMs).toBeLessThanOrEqual(app.now() + HOUR_MS);
  // The look is private: no public answer shows it.
  expect((await app.get(`/v1/status?url=${HOST}`)).json()).toMatchObject({ known: false });
  expect(watched.troubles).toEqual([]);

  expect((await watched.call('test', secret)).status).toBe(200);
  await watched.settle();
  expect(receiver.types()).toEqual(['watch.started', 'watch.test']);
  expect((await watched.call('stop', secret)).body).toMatchObject({ state: 'ended' });
  await watched.pass(2 * DAY_MS);
  expect(receiver.types()).toHaveLength(2);
  expect(app.scanner.began).toHaveLength(1);
});

test('no other answer agrees, and after 24 hours the watch is over', async () => {
  await using watched = await startWatchedApp();
  const { receiver } = watched;
  receiver.answer((_received, response) => void response.end('{"challenge":"another"}'));
  await watched.prove();
  const { secret = '' } = (await watched.watch()).body;
  for (const ms of [0, 5_000, 5 * MINUTE_MS, 30 * MINUTE_MS]) await watched.pass(ms);
  expect(receiver.received).toHaveLength(4);
  expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(1);
  expect((await watched.call('status', secret)).body).toMatchObject({ state: 'pending' });
  await watched.pass(24 * HOUR_MS);
  expect((await watched.call('status', secret)).body).toMatchObject({ state: 'ended' });
  expect(watched.app.scanner.began).toEqual([]);
});

test('only a caller that may change the listing may watch', async () => {
  await using watched = await startWatchedApp();
  expect((await watched.watch()).body).toMatchObject({ error: 'not_verified' });
  const { listingKey } = await watched.prove();
  const stranger = { method: 'POST', url: '/v1/watch', remoteAddress: '203.0.113.9' } as const;
  const ask = async (more: object) => {
    const payload = { url: HOST, webhook: watched.receiver.url, ...more };
    return (await watched.app.app.inject({ ...stranger, payload })).json();
  };
  expect(await ask({})).toMatchObject({ error: 'not_your_proof' });
  expect(await ask({ listingKey: 'x'.repeat(43) })).toMatchObject({ error: 'not_your_proof' });
  expect(await ask({ listingKey })).toMatchObject({ host: HOST });
  watched.app.advance(HOUR_MS);
  expect((await watched.watch({ listingKey })).body).toMatchObject({ error: 'not_verified' });
});

test('a wrong secret and a missing watch get the same answer', async () => {
  await using watched = await startWatchedApp();
  const secret = await watched.agreed();
  for (const path of ['status', 'test', 'stop'] as const) {
    const wrong = await watched.call(path, `${secret.slice(0, -3)}AA=`);
    const none = await watched.call(path, secret, 'other.example.com');
    const message = String(wrong.body['message']).replaceAll(HOST, 'other.example.com');
    expect(wrong.status).toBe(403);
    expect(none.status).toBe(403);
    expect({ ...wrong.body, message }).toEqual(none.body);
    expect((await watched.call(path, '')).status).toBe(403);
  }
});

test('a second call replaces watch and secret, and starts no second scan that day', async () => {
  await using watched = await startWatchedApp();
  const first = await watched.agreed();
  const second = await watched.agreed();
  expect(second).not.toBe(first);
  expect((await watched.call('status', first)).status).toBe(403);
  expect((await watched.call('status', second)).body).toMatchObject({ state: 'active' });
  expect(watched.app.scanner.began).toEqual([HOST]);
});

test('a webhook passes the same guard as origins', async () => {
  await using watched = await startWatchedApp();
  await watched.prove();
  const refused = [
    'http://hooks.example.com/',
    'https://127.0.0.1/',
    'https://10.0.0.1/',
    'https://hooks.example.com:8443/',
    'https://user:pass@hooks.example.com/',
    'https://localhost/',
    'ftp://hooks.example.com/',
    'no url',
  ];
  for (const webhook of refused) {
    const { status, body } = await watched.watch({ webhook });
    expect({ webhook, status, error: body['error'] }).toEqual({
      webhook,
      status: 400,
      error: 'invalid_url',
    });
  }
});

test('an answer of 410 ends the watch', async () => {
  await using watched = await startWatchedApp();
  const secret = await watched.agreed();
  watched.receiver.answer(answers(410));
  await watched.call('test', secret);
  await watched.call('test', secret);
  await watched.settle();
  const { body } = await watched.call('status', secret);
  expect(body).toMatchObject({
    state: 'ended',
    nextLookAt: null,
    deliveries: [{ status: 'failed', tries: 0 }, { status: 'failed', tries: 1 }, {}],
  });
  expect(watched.receiver.types()).toEqual(['watch.started', 'watch.test']);
});
