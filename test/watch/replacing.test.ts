/** A second `POST /v1/watch` keeps waiting events, is limited in number, and keeps the place of the watch. */
import { expect, test } from 'vitest';
import { AGREES, status as answers, startReceiver, verifySignature } from './receiver.ts';
import { OFFER, sells } from './seller-report.ts';
import { stateOf, storeWatch } from './watch-state.ts';
import { HOST, startWatchedApp, type WatchedApp } from './watched-app.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const WITH_RATE_LIMITS = { environment: { RATE_LIMIT: 'on' } };

test('waiting events go to the new receiver once it agrees, signed with the new secret', async () => {
  await using next = await startReceiver(answers(500));
  await using watched = await startWatchedApp({ alsoAllow: [next.host] });
  const { app, receiver } = watched;
  app.scanner.will(HOST, sells());
  await watched.agreed();
  receiver.answer(answers(500));
  await app.publish(HOST, sells({}, { ...OFFER, amount: '90000' }));
  watched.watching.onPublished(HOST);
  await watched.settle();
  expect(receiver.types().at(-1)).toBe('terms.changed');
  const waiting = receiver.received.at(-1);

  const { secret = '' } = (await watched.watch({ webhook: next.url })).body;
  await watched.settle();
  // Before the receiver agrees, only the request to agree is sent.
  expect(next.types()).toEqual(['watch.started']);
  next.answer(AGREES);
  await watched.pass(5_000);
  expect(next.types()).toEqual(['watch.started', 'watch.started', 'terms.changed']);
  const event = next.received.at(-1);
  if (event === undefined) throw new Error('the event is lost');
  verifySignature(secret, event);
  expect(event.body).toBe(waiting?.body);
  expect(event.id).toBe(waiting?.id);
});

test('a change before the first look of the new watch is reported', async () => {
  await using watched = await startWatchedApp();
  watched.app.scanner.will(HOST, sells());
  await watched.agreed();
  await watched.pass(DAY_MS - (watched.app.now() % DAY_MS));
  watched.app.scanner.will(HOST, sells({}, { ...OFFER, amount: '90000' }));
  await watched.agreed();
  expect(watched.receiver.types().slice(-2)).toEqual(['watch.started', 'terms.changed']);
});

async function create(watched: WatchedApp, url = HOST) {
  const { listingKey } = await watched.prove(url);
  const answer = await watched.app.post('/v1/watch', {
    url,
    webhook: watched.receiver.url,
    listingKey,
  });
  return { status: answer.statusCode, after: answer.headers['retry-after'], body: answer.json() };
}

test('an agreed watch may be replaced once in ten minutes, also if it was stopped in between', async () => {
  await using watched = await startWatchedApp(WITH_RATE_LIMITS);
  expect((await create(watched)).status).toBe(200);
  await watched.settle();
  const changed = await create(watched);
  const changedAtMs = watched.app.now();
  expect(changed.status).toBe(200);
  await watched.settle();
  watched.app.advance(MINUTE_MS);
  const again = await create(watched);
  const left = changedAtMs + 10 * MINUTE_MS - watched.app.now();
  expect(again).toMatchObject({ status: 429, after: String(Math.ceil(left / 1_000)) });
  expect(again.body).toMatchObject({ error: 'rate_limited', message: expect.any(String) });
  const { secret } = changed.body;
  expect((await watched.call('stop', secret)).body).toMatchObject({ state: 'ended' });
  expect((await create(watched)).status).toBe(429);
  watched.app.advance(left);
  expect((await create(watched)).status).toBe(200);
});

test('a watch without an agreement may be replaced three times at once', async () => {
  await using watched = await startWatchedApp(WITH_RATE_LIMITS);
  watched.receiver.answer(answers(500));
  const statuses: number[] = [];
  for (let n = 0; n < 5; n += 1) statuses.push((await create(watched)).status);
  expect(statuses).toEqual([200, 200, 200, 200, 429]);
  watched.app.advance(10 * MINUTE_MS);
  expect((await create(watched)).status).toBe(200);
});

test('without rate limits a watch may be replaced at any time', async () => {
  await using watched = await startWatchedApp();
  for (let n = 0; n < 6; n += 1) {
    expect((await create(watched)).status).toBe(200);
    await watched.settle();
  }
});

/** Creates a watch of a host whose owner proved control, called from this address. */
async function createFrom({ app, receiver }: WatchedApp, host: string, from: string) {
  const post = async (path: string, payload: object) => {
    const call = { method: 'POST', url: path, remoteAddress: from } as const;
    return (await app.app.inject({ ...call, payload: { url: host, ...payload } })).json();
  };
  const { token } = await post('/v1/verify/start', {});
  app.challenges.set(host, { kind: 'served', text: token });
  await post('/v1/verify/confirm', {});
  return post('/v1/watch', { webhook: receiver.url });
}

test('three watches of a client may wait for a receiver, and three of a watched domain', async () => {
  await using watched = await startWatchedApp();
  watched.receiver.answer(answers(500));
  const refused = { error: 'too_many_watches' };
  const secrets: string[] = [];
  for (let n = 0; n < 3; n += 1) {
    secrets.push((await createFrom(watched, `shop${n}.com`, '203.0.113.1')).secret);
  }
  expect(await createFrom(watched, 'shop3.com', '203.0.113.1')).toMatchObject(refused);
  // A second watch of the same host replaces its first one.
  secrets[2] = (await createFrom(watched, 'shop2.com', '203.0.113.1')).secret;
  expect(secrets[2]).toMatch(/^whsec_/);
  await watched.call('stop', secrets[0] ?? '', 'shop0.com');
  expect(await createFrom(watched, 'shop3.com', '203.0.113.1')).toMatchObject({
    host: 'shop3.com',
  });
  for (let n = 0; n < 3; n += 1) {
    const host = `a${n}.rival.com`;
    expect(await createFrom(watched, host, `198.51.100.${n}`)).toMatchObject({ host });
  }
  const fourth = await createFrom(watched, 'a3.rival.com', '198.51.100.3');
  expect(fourth).toMatchObject(refused);
  expect(fourth.message).toContain('rival.com');
  // Waiting watches of strangers do not take the place of the next owner.
  for (let n = 10; n < 30; n += 1) {
    const host = `honest${n}.com`;
    expect(await createFrom(watched, host, `203.0.113.${n}`)).toMatchObject({ host });
  }
});

test('five hosts of a registrable domain are watched; an address counts as one, on any port', async () => {
  await using watched = await startWatchedApp();
  for (let n = 0; n < 5; n += 1) await watched.agreed({ url: `a${n}.example.com` });
  const sixth = await createFrom(watched, 'a5.example.com', '198.51.100.5');
  expect(sixth).toMatchObject({ error: 'too_many_watches' });
  expect(sixth.message).toContain('example.com');
  for (const host of ['one.github.io', 'two.github.io']) {
    expect(await createFrom(watched, host, '198.51.100.6')).toMatchObject({ host });
  }
  const { store } = watched.app;
  for (let port = 1; port <= 5; port += 1) {
    const more = { domain: '127.0.0.1', receiver: `r${port}.dev` };
    await storeWatch(store, stateOf(`127.0.0.1:${port}`, watched.app.now(), more));
  }
  const allowed = watched.receiver.host;
  expect(await createFrom(watched, allowed, '198.51.100.7')).toMatchObject({
    error: 'too_many_watches',
  });
});

/** Adds 100 agreed watches of one receiver: `rich` of them are hosts of rich.com, the others each have their own domain. */
async function fillReceiver({ app, receiver }: WatchedApp, rich: number) {
  for (let n = 0; n < 100; n += 1) {
    const isRich = n < rich;
    const host = isRich ? `a${n}.rich.com` : `shop${n}.com`;
    const domain = isRich ? 'rich.com' : host;
    const at = { createdAtMs: app.now() + n, webhook: receiver.url, receiver: receiver.host };
    await storeWatch(app.store, stateOf(host, app.now(), { domain, ...at }));
  }
}

test("one of a receiver's 100 agreed watches may have a new secret", async () => {
  await using watched = await startWatchedApp();
  await fillReceiver(watched, 0);
  const stranger = await createFrom(watched, 'new.com', '203.0.113.1');
  expect(stranger).toMatchObject({ error: 'too_many_watches' });
  const { secret } = await createFrom(watched, 'shop7.com', '203.0.113.2');
  expect(secret).toMatch(/^whsec_/);
  // Its place stays reserved while it waits.
  expect(await createFrom(watched, 'new.com', '203.0.113.1')).toMatchObject({
    error: 'too_many_watches',
  });
  await watched.settle();
  const { body } = await watched.call('status', secret, 'shop7.com');
  expect(body).toMatchObject({ state: 'active' });
});

test('with 100 agreed watches, the newest of a domain with several ends when a domain without any agrees', async () => {
  await using watched = await startWatchedApp();
  await fillReceiver(watched, 3);
  const states = () =>
    Promise.all(
      [0, 1, 2].map(async (n) => {
        const version = await watched.app.store.watches.findNewest(`a${n}.rich.com`);
        return version?.endedAtMs === null;
      }),
    );
  const { secret } = await createFrom(watched, 'poor.com', '203.0.113.1');
  expect(await states()).toEqual([true, true, true]);
  await watched.settle();
  expect(await states()).toEqual([true, true, false]);
  const { body } = await watched.call('status', secret, 'poor.com');
  expect(body).toMatchObject({ state: 'active' });
  // A domain that has a watch does not get the place of another domain.
  expect(await createFrom(watched, 'b.poor.com', '203.0.113.2')).toMatchObject({
    error: 'too_many_watches',
  });
});
