import { expect, test } from 'vitest';
import { replyAgreed, replyStatus, startReceiver, verifySignature } from './receiver.ts';
import { startWatchedApp, type WatchedApp } from './watched-app.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
/** Waits between the ten tries of one event. */
const RETRY_WAITS_MS = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
];

/** Returns the state of the watch, and its newest delivery. */
async function readNewest(watched: WatchedApp, secret: string) {
  const { body } = await watched.call('status', secret);
  const [newest] = body['deliveries'] as { id: string; status: string; tries: number }[];
  return { state: body['state'], ...newest };
}

test('an undelivered event is sent ten times by the schedule, with one id and new signatures, and then dropped', async () => {
  await using watched = await startWatchedApp();
  const { receiver } = watched;
  const secret = await watched.startAgreed();
  receiver.setReply(replyStatus(500));
  await watched.call('test', secret);
  await watched.settle();
  for (const [index, waitMs] of RETRY_WAITS_MS.entries()) {
    await watched.advance(waitMs - 1);
    expect(receiver.received).toHaveLength(index + 2);
    await watched.advance(1);
    expect(receiver.received).toHaveLength(index + 3);
  }
  expect(await readNewest(watched, secret)).toMatchObject({
    state: 'active',
    status: 'failed',
    tries: 10,
  });
  const tries = receiver.received.slice(1);
  expect(new Set(tries.map(({ id }) => id)).size).toBe(1);
  expect(new Set(tries.map(({ headers }) => headers['webhook-timestamp'])).size).toBe(10);
  for (const attempt of tries) verifySignature(secret, attempt);

  // The next event is sent at once.
  receiver.setReply(replyAgreed);
  await watched.call('test', secret);
  await watched.settle();
  expect(await readNewest(watched, secret)).toMatchObject({ status: 'delivered', tries: 1 });
}, 120_000);

test('five days of failed deliveries end the watch, and days without events do not count', async () => {
  await using watched = await startWatchedApp();
  const secret = await watched.startAgreed();
  watched.receiver.setReply(replyStatus(500));
  await watched.call('test', secret);
  await watched.settle();
  for (const waitMs of RETRY_WAITS_MS) await watched.advance(waitMs);
  // No event is due.
  await watched.advance(10 * 24 * HOUR_MS);
  await watched.call('test', secret);
  await watched.settle();
  for (const waitMs of RETRY_WAITS_MS.slice(0, 8)) {
    expect(await readNewest(watched, secret)).toMatchObject({ state: 'active' });
    await watched.advance(waitMs);
  }
  expect(await readNewest(watched, secret)).toMatchObject({ state: 'ended', status: 'failed' });
}, 120_000);

test('Retry-After delays the next try by at most a day, with 429 and 503 only', async () => {
  await using watched = await startWatchedApp();
  const { receiver, app } = watched;
  const secret = await watched.startAgreed();
  const inAnHour = new Date(Date.now() + HOUR_MS).toUTCString();
  /** Status, `Retry-After`, and the wait that follows. */
  const rows = [
    [429, '60', MINUTE_MS],
    [503, '999999', 24 * HOUR_MS],
    [500, '60', 30 * MINUTE_MS],
  ] as const;
  receiver.setReply(replyStatus(429, { 'retry-after': rows[0][1] }));
  await watched.call('test', secret);
  await watched.settle();
  for (const [index, [, , waitMs]] of rows.entries()) {
    const [code, retryAfter] = rows[index + 1] ?? [503, inAnHour];
    receiver.setReply(replyStatus(code, { 'retry-after': retryAfter }));
    const receivedBefore = receiver.received.length;
    await watched.advance(waitMs - SECOND_MS);
    expect(receiver.received).toHaveLength(receivedBefore);
    await watched.advance(SECOND_MS);
    expect(receiver.received).toHaveLength(receivedBefore + 1);
  }
  expect(app.now()).toBeGreaterThan(0);
});

test('events arrive in order, because an undelivered event delays all later events', async () => {
  await using watched = await startWatchedApp();
  const { receiver } = watched;
  const secret = await watched.startAgreed();
  receiver.setReply(replyStatus(500));
  for (let n = 0; n < 3; n += 1) await watched.call('test', secret);
  await watched.settle();
  expect(receiver.received).toHaveLength(2);
  receiver.setReply(replyAgreed);
  await watched.advance(5 * SECOND_MS);
  const ids = receiver.received.slice(1).map(({ id }) => id);
  const { body } = await watched.call('status', secret);
  const storedIds = (body['deliveries'] as { id: string }[])
    .map(({ id }) => id)
    .toReversed()
    .slice(1);
  expect([...new Set(ids)]).toEqual(storedIds);
  expect(ids).toHaveLength(4);
});

test('a receiver gets at most 60 events a minute, and further events later', async () => {
  await using watched = await startWatchedApp();
  const secret = await watched.startAgreed();
  for (let n = 0; n < 64; n += 1) await watched.call('test', secret);
  await watched.settle();
  expect(watched.receiver.received).toHaveLength(60);
  await watched.advance(MINUTE_MS);
  expect(watched.receiver.received).toHaveLength(65);
});

test('the status lists the newest 20 events', async () => {
  await using watched = await startWatchedApp();
  const secret = await watched.startAgreed();
  for (let n = 0; n < 25; n += 1) await watched.call('test', secret);
  await watched.settle();
  const { body } = await watched.call('status', secret);
  expect(body['deliveries']).toHaveLength(20);
});

test('all receivers in one network together get two events a second', async () => {
  const receivers = await Promise.all(Array.from({ length: 5 }, () => startReceiver()));
  await using watched = await startWatchedApp({ alsoAllow: receivers.map(({ host }) => host) });
  for (const [n, { url: webhook }] of receivers.entries()) {
    await watched.proveControl(`shop${n}.com`);
    expect((await watched.watch({ url: `shop${n}.com`, webhook })).status).toBe(200);
  }
  await watched.settle();
  const seconds = receivers.map(({ received }) => received[0]?.headers['webhook-timestamp']);
  expect(new Set(seconds).size).toBeGreaterThanOrEqual(3);
  expect(receivers.map((receiver) => receiver.eventTypes())).toEqual(
    receivers.map(() => ['watch.started']),
  );
  for (const receiver of receivers) await receiver[Symbol.asyncDispose]();
});
