import { expect, test } from 'vitest';
import { replyStatus, verifySignature } from './receiver.ts';
import { HOST, startWatchedApp } from './watched-app.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

test('when the receiver repeats the challenge of the event, the watch starts with a scan', async () => {
  await using watched = await startWatchedApp();
  const { app, receiver } = watched;
  await watched.proveControl();
  const { status, body } = await watched.watch();
  expect(status).toBe(200);
  expect(body).toEqual({
    host: HOST,
    secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    endsAt: new Date(app.now() + 30 * DAY_MS).toISOString(),
    feedUrl: `https://scanner.example/o/${HOST}/feed.atom`,
  });
  const { secret = '' } = body;
  const pending = await watched.call('status', secret);
  expect(pending.body).toMatchObject({ state: 'pending', nextLookAt: null });
  expect((await watched.call('test', secret)).body).toMatchObject({ error: 'not_agreed' });

  await watched.settle();
  expect(receiver.eventTypes()).toEqual(['watch.started']);
  const [started] = receiver.received;
  if (started === undefined) throw new Error('no event came');
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
  expect(app.scanner.scannedHosts).toEqual([HOST]);
  const active = await watched.call('status', secret);
  expect(active.body).toMatchObject({
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
  const nextLookAtMs = Date.parse(String(active.body['nextLookAt']));
  expect(nextLookAtMs).toBeGreaterThan(app.now());
  expect(nextLookAtMs).toBeLessThanOrEqual(app.now() + HOUR_MS);
  // The look is private: no public answer shows it.
  expect((await app.get(`/v1/status?url=${HOST}`)).json()).toMatchObject({ known: false });
  expect(watched.app.troubles).toEqual([]);

  expect((await watched.call('test', secret)).status).toBe(200);
  await watched.settle();
  expect(receiver.eventTypes()).toEqual(['watch.started', 'watch.test']);
  expect((await watched.call('stop', secret)).body).toMatchObject({ state: 'ended' });
  await watched.advance(2 * DAY_MS);
  expect(receiver.eventTypes()).toHaveLength(2);
  expect(app.scanner.scannedHosts).toHaveLength(1);
});

test('a watch whose receiver repeats a wrong challenge ends after 24 hours, without a scan', async () => {
  await using watched = await startWatchedApp();
  const { receiver } = watched;
  receiver.setReply((_received, response) => void response.end('{"challenge":"another"}'));
  await watched.proveControl();
  const { secret = '' } = (await watched.watch()).body;
  for (const ms of [0, 5_000, 5 * MINUTE_MS, 30 * MINUTE_MS]) await watched.advance(ms);
  expect(receiver.received).toHaveLength(4);
  expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(1);
  expect((await watched.call('status', secret)).body).toMatchObject({ state: 'pending' });
  await watched.advance(24 * HOUR_MS);
  expect((await watched.call('status', secret)).body).toMatchObject({ state: 'ended' });
  expect(watched.app.scanner.scannedHosts).toEqual([]);
});

test('a host with a recent proof of control is watched only for its prover or with the listing key', async () => {
  await using watched = await startWatchedApp();
  expect((await watched.watch()).body).toMatchObject({ error: 'not_verified' });
  const { listingKey } = await watched.proveControl();
  const stranger = { method: 'POST', url: '/v1/watch', remoteAddress: '203.0.113.9' } as const;
  const watchAsStranger = async (more: object) => {
    const payload = { url: HOST, webhook: watched.receiver.url, ...more };
    return (await watched.app.app.inject({ ...stranger, payload })).json();
  };
  expect(await watchAsStranger({})).toMatchObject({ error: 'not_your_proof' });
  expect(await watchAsStranger({ listingKey: 'x'.repeat(43) })).toMatchObject({
    error: 'not_your_proof',
  });
  expect(await watchAsStranger({ listingKey })).toMatchObject({ host: HOST });
  watched.app.advance(HOUR_MS);
  expect((await watched.watch({ listingKey })).body).toMatchObject({ error: 'not_verified' });
});

test('a wrong secret and a missing watch get the same answer', async () => {
  await using watched = await startWatchedApp();
  const secret = await watched.startAgreed();
  for (const path of ['status', 'test', 'stop'] as const) {
    const wrong = await watched.call(path, `${secret.slice(0, -3)}AA=`);
    const missing = await watched.call(path, secret, 'other.example.com');
    const message = String(wrong.body['message']).replaceAll(HOST, 'other.example.com');
    expect(wrong.status).toBe(403);
    expect(missing.status).toBe(403);
    expect({ ...wrong.body, message }).toEqual(missing.body);
    expect((await watched.call(path, '')).status).toBe(403);
  }
});

test('a second POST /v1/watch replaces the watch and its secret, and starts no second scan that day', async () => {
  await using watched = await startWatchedApp();
  const firstSecret = await watched.startAgreed();
  const secondSecret = await watched.startAgreed();
  expect(secondSecret).not.toBe(firstSecret);
  expect((await watched.call('status', firstSecret)).status).toBe(403);
  expect((await watched.call('status', secondSecret)).body).toMatchObject({ state: 'active' });
  expect(watched.app.scanner.scannedHosts).toEqual([HOST]);
});

test('a webhook URL that the guard would refuse for an origin is refused', async () => {
  await using watched = await startWatchedApp();
  await watched.proveControl();
  const refusedUrls = [
    'http://hooks.example.com/',
    'https://127.0.0.1/',
    'https://10.0.0.1/',
    'https://hooks.example.com:8443/',
    'https://user:pass@hooks.example.com/',
    'https://localhost/',
    'ftp://hooks.example.com/',
    'no url',
  ];
  for (const webhook of refusedUrls) {
    const { status, body } = await watched.watch({ webhook });
    expect({ webhook, status, error: body['error'] }).toEqual({
      webhook,
      status: 400,
      error: 'invalid_url',
    });
  }
});

test('a receiver that answers 410 ends the watch', async () => {
  await using watched = await startWatchedApp();
  const secret = await watched.startAgreed();
  watched.receiver.setReply(replyStatus(410));
  await watched.call('test', secret);
  await watched.call('test', secret);
  await watched.settle();
  const { body } = await watched.call('status', secret);
  expect(body).toMatchObject({
    state: 'ended',
    nextLookAt: null,
    deliveries: [{ status: 'failed', tries: 0 }, { status: 'failed', tries: 1 }, {}],
  });
  expect(watched.receiver.eventTypes()).toEqual(['watch.started', 'watch.test']);
});
