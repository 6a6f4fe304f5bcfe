/** A second `POST /v1/watch` of a host replaces its watch, and keeps its waiting events and its part of the quota. */
import { expect, test } from 'vitest';
import { replyAgreed, replyStatus, startReceiver, verifySignature } from './receiver.ts';
import { OFFER, toSellerScan } from './seller-report.ts';
import { storeWatch, toAgreedWatch } from './watch-state.ts';
import { HOST, startWatchedApp, type WatchedApp } from './watched-app.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const RATE_LIMITED = { environment: { RATE_LIMIT: 'on' } };

test('waiting events go to the new receiver once it agrees, signed with the new secret', async () => {
  await using newReceiver = await startReceiver(replyStatus(500));
  await using watched = await startWatchedApp({ alsoAllow: [newReceiver.host] });
  const { app, receiver } = watched;
  app.scanner.will(HOST, toSellerScan());
  await watched.startAgreed();
  receiver.setReply(replyStatus(500));
  await app.publish(HOST, toSellerScan({}, { ...OFFER, amount: '90000' }));
  await watched.settle();
  expect(receiver.eventTypes().at(-1)).toBe('terms.changed');
  const undelivered = receiver.received.at(-1);

  const { secret = '' } = (await watched.watch({ webhook: newReceiver.url })).body;
  await watched.settle();
  // Before the receiver agrees, only the request to agree is sent.
  expect(newReceiver.eventTypes()).toEqual(['watch.started']);
  newReceiver.setReply(replyAgreed);
  await watched.advance(5_000);
  expect(newReceiver.eventTypes()).toEqual(['watch.started', 'watch.started', 'terms.changed']);
  const event = newReceiver.received.at(-1);
  if (event === undefined) throw new Error('the event is lost');
  verifySignature(secret, event);
  expect(event.body).toBe(undelivered?.body);
  expect(event.id).toBe(undelivered?.id);
});

test('a change of terms before the first look of the new watch is reported', async () => {
  await using watched = await startWatchedApp();
  watched.app.scanner.will(HOST, toSellerScan());
  await watched.startAgreed();
  await watched.advance(DAY_MS - (watched.app.now() % DAY_MS));
  watched.app.scanner.will(HOST, toSellerScan({}, { ...OFFER, amount: '90000' }));
  await watched.startAgreed();
  expect(watched.receiver.eventTypes().slice(-2)).toEqual(['watch.started', 'terms.changed']);
});

async function createWatch(watched: WatchedApp, url = HOST) {
  const { listingKey } = await watched.proveControl(url);
  const answer = await watched.app.post('/v1/watch', {
    url,
    webhook: watched.receiver.url,
    listingKey,
  });
  return {
    status: answer.statusCode,
    retryAfter: answer.headers['retry-after'],
    body: answer.json(),
  };
}

test("an agreed watch may be replaced once in ten minutes, even if the host's owner stops it in between", async () => {
  await using watched = await startWatchedApp(RATE_LIMITED);
  expect((await createWatch(watched)).status).toBe(200);
  await watched.settle();
  const replaced = await createWatch(watched);
  const replacedAtMs = watched.app.now();
  expect(replaced.status).toBe(200);
  await watched.settle();
  watched.app.advance(MINUTE_MS);
  const tooEarly = await createWatch(watched);
  const restMs = replacedAtMs + 10 * MINUTE_MS - watched.app.now();
  expect(tooEarly).toMatchObject({ status: 429, retryAfter: String(Math.ceil(restMs / 1_000)) });
  expect(tooEarly.body).toMatchObject({ error: 'rate_limited', message: expect.any(String) });
  const { secret } = replaced.body;
  expect((await watched.call('stop', secret)).body).toMatchObject({ state: 'ended' });
  expect((await createWatch(watched)).status).toBe(429);
  watched.app.advance(restMs);
  expect((await createWatch(watched)).status).toBe(200);
});

test('a watch to which its receiver has not agreed may be replaced three times in ten minutes', async () => {
  await using watched = await startWatchedApp(RATE_LIMITED);
  watched.receiver.setReply(replyStatus(500));
  const statuses: number[] = [];
  for (let n = 0; n < 5; n += 1) statuses.push((await createWatch(watched)).status);
  expect(statuses).toEqual([200, 200, 200, 200, 429]);
  watched.app.advance(10 * MINUTE_MS);
  expect((await createWatch(watched)).status).toBe(200);
});

test('without rate limits a watch may be replaced at any time', async () => {
  await using watched = await startWatchedApp();
  for (let n = 0; n < 6; n += 1) {
    expect((await createWatch(watched)).status).toBe(200);
    await watched.settle();
  }
});

/** From this address, a caller proves control of the host and creates a watch. */
async function createWatchFrom({ app, receiver }: WatchedApp, host: string, from: string) {
  const post = async (path: string, payload: object) => {
    const call = { method: 'POST', url: path, remoteAddress: from } as const;
    return (await app.app.inject({ ...call, payload: { url: host, ...payload } })).json();
  };
  const { token } = await post('/v1/verify/start', {});
  app.challenges.set(host, token);
  await post('/v1/verify/confirm', {});
  return post('/v1/watch', { webhook: receiver.url });
}

test('three watches of a client, and three of a watched domain, may wait for the agreement of a receiver', async () => {
  await using watched = await startWatchedApp();
  watched.receiver.setReply(replyStatus(500));
  const refusal = { error: 'too_many_watches' };
  const secrets: string[] = [];
  for (let n = 0; n < 3; n += 1) {
    secrets.push((await createWatchFrom(watched, `shop${n}.com`, '203.0.113.1')).secret);
  }
  expect(await createWatchFrom(watched, 'shop3.com', '203.0.113.1')).toMatchObject(refusal);
  // A second watch of the same host replaces the first watch.
  secrets[2] = (await createWatchFrom(watched, 'shop2.com', '203.0.113.1')).secret;
  expect(secrets[2]).toMatch(/^whsec_/);
  await watched.call('stop', secrets[0] ?? '', 'shop0.com');
  expect(await createWatchFrom(watched, 'shop3.com', '203.0.113.1')).toMatchObject({
    host: 'shop3.com',
  });
  for (let n = 0; n < 3; n += 1) {
    const host = `a${n}.rival.com`;
    expect(await createWatchFrom(watched, host, `198.51.100.${n}`)).toMatchObject({ host });
  }
  const fourth = await createWatchFrom(watched, 'a3.rival.com', '198.51.100.3');
  expect(fourth).toMatchObject(refusal);
  expect(fourth.message).toContain('rival.com');
  // The waiting watches of other clients do not count against a new client.
  for (let n = 10; n < 30; n += 1) {
    const host = `honest${n}.com`;
    expect(await createWatchFrom(watched, host, `203.0.113.${n}`)).toMatchObject({ host });
  }
});

test('at most five hosts of a registrable domain are watched, and all ports of an IP address count as one domain', async () => {
  await using watched = await startWatchedApp();
  for (let n = 0; n < 5; n += 1) await watched.startAgreed({ url: `a${n}.example.com` });
  const sixth = await createWatchFrom(watched, 'a5.example.com', '198.51.100.5');
  expect(sixth).toMatchObject({ error: 'too_many_watches' });
  expect(sixth.message).toContain('example.com');
  for (const host of ['one.github.io', 'two.github.io']) {
    expect(await createWatchFrom(watched, host, '198.51.100.6')).toMatchObject({ host });
  }
  const { store } = watched.app;
  for (let port = 1; port <= 5; port += 1) {
    const changes = { domain: '127.0.0.1', receiver: `r${port}.dev` };
    await storeWatch(store, toAgreedWatch(`127.0.0.1:${port}`, watched.app.now(), changes));
  }
  const addressHost = watched.receiver.host;
  expect(await createWatchFrom(watched, addressHost, '198.51.100.7')).toMatchObject({
    error: 'too_many_watches',
  });
});

/** Adds 100 agreed watches of one receiver. `richCount` hosts are of rich.com, and each other host has its own domain. */
async function fillReceiver({ app, receiver }: WatchedApp, richCount: number) {
  for (let n = 0; n < 100; n += 1) {
    const isRich = n < richCount;
    const host = isRich ? `a${n}.rich.com` : `shop${n}.com`;
    const domain = isRich ? 'rich.com' : host;
    const changes = { createdAtMs: app.now() + n, webhook: receiver.url, receiver: receiver.host };
    await storeWatch(app.store, toAgreedWatch(host, app.now(), { domain, ...changes }));
  }
}

test('a receiver with 100 agreed watches takes no new host, but a watched host may replace its watch', async () => {
  await using watched = await startWatchedApp();
  await fillReceiver(watched, 0);
  const stranger = await createWatchFrom(watched, 'new.com', '203.0.113.1');
  expect(stranger).toMatchObject({ error: 'too_many_watches' });
  const { secret } = await createWatchFrom(watched, 'shop7.com', '203.0.113.2');
  expect(secret).toMatch(/^whsec_/);
  // The replaced watch still counts in the quota while the new watch waits.
  expect(await createWatchFrom(watched, 'new.com', '203.0.113.1')).toMatchObject({
    error: 'too_many_watches',
  });
  await watched.settle();
  const { body } = await watched.call('status', secret, 'shop7.com');
  expect(body).toMatchObject({ state: 'active' });
});

test('when a receiver with 100 watches agrees to a new domain, the newest watch of the domain with most watches ends', async () => {
  await using watched = await startWatchedApp();
  await fillReceiver(watched, 3);
  const areActive = () =>
    Promise.all(
      [0, 1, 2].map(async (n) => {
        const newest = await watched.app.store.watches.findNewest(`a${n}.rich.com`);
        return newest?.endedAtMs === null;
      }),
    );
  const { secret } = await createWatchFrom(watched, 'poor.com', '203.0.113.1');
  expect(await areActive()).toEqual([true, true, true]);
  await watched.settle();
  expect(await areActive()).toEqual([true, true, false]);
  const { body } = await watched.call('status', secret, 'poor.com');
  expect(body).toMatchObject({ state: 'active' });
  // A domain that has a watch does not get the room of another domain.
  expect(await createWatchFrom(watched, 'b.poor.com', '203.0.113.2')).toMatchObject({
    error: 'too_many_watches',
  });
});
