import { expect, test } from 'vitest';
import { AGREES, status as answers, startReceiver, verifySignature } from './receiver.ts';
import { startWatchedApp, type WatchedApp } from './watched-app.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const WAITS_MS = [
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

async function newest(watched: WatchedApp, secret: string) {
  const { body } = await watched.call('status', secret);
  const [first] = body['deliveries'] as { id: string; status: string; tries: number }[];
  return { state: body['state'], ...first };
}

test('an event is sent again by the schedule, with one id and new signatures, and then dropped', async () => {
  await using watched = await startWatchedApp();
  const { receiver } = watched;
  const secret = await watched.agreed();
  receiver.answer(answers(500));
  await watched.call('test', secret);
  await watched.settle();
  for (const [index, waitMs] of WAITS_MS.entries()) {
    await watched.pass(waitMs - 1);
    expect(receiver.received).toHaveLength(index + 2);
    await watched.pass(1);
    expect(receiver.received).toHaveLength(index + 3);
  }
  expect(await newest(watched, secret)).toMatchObject({
    state: 'active',
    status: 'failed',
    tries: 10,
  });
  const tries = receiver.received.slice(1);
  expect(new Set(tries.map(({ id }) => id)).size).toBe(1);
  expect(new Set(tries.map(({ headers }) => headers['webhook-timestamp'])).size).toBe(10);
  for (const one of tries) verifySignature(secret, one);

  // The next event does not wait.
  receiver.answer(AGREES);
  await watched.call('test', secret);
  await watched.settle();
  expect(await newest(watched, secret)).toMatchObject({ status: 'delivered', tries: 1 });
}, 120_000);

test('five days of failed deliveries end the watch; days without events do not count', async () => {
  await using watched = await startWatchedApp();
  const secret = await watched.agreed();
  watched.receiver.answer(answers(500));
  await watched.call('test', secret);
  await watched.settle();
  for (const waitMs of WAITS_MS) await watched.pass(waitMs);
  // No event is due.
  await watched.pass(10 * 24 * HOUR_MS);
  await watched.call('test', secret);
  await watched.settle();
  for (const waitMs of WAITS_MS.slice(0, 8)) {
    expect(await newest(watched, secret)).toMatchObject({ state: 'active' });
    await watched.pass(waitMs);
  }
  expect(await newest(watched, secret)).toMatchObject({ state: 'ended', status: 'failed' });
}, 120_000);

test('429 and 503 delay the next try by at most a day; other statuses do not', async () => {
  await using watched = await startWatchedApp();
  const { receiver, app } = watched;
  const secret = await watched.agreed();
  const inAnHour = new Date(Date.now() + HOUR_MS).toUTCString();
  const rows = [
    [429, '60', MINUTE_MS],
    [503, '999999', 24 * HOUR_MS],
    [500, '60', 30 * MINUTE_MS],
  ] as const;
  receiver.answer(answers(429, { 'retry-after': rows[0][1] }));
  await watched.call('test', secret);
  await watched.settle();
  for (const [index, [, , waitMs]] of rows.entries()) {
    const [code, after] = rows[index + 1] ?? [503, inAnHour];
    receiver.answer(answers(code, { 'retry-after': after }));
    const before = receiver.received.length;
    await watched.pass(waitMs - SECOND_MS);
    expect(receiver.received).toHaveLength(before);
    await watched.pass(SECOND_MS);
    expect(receiver.received).toHaveLength(before + 1);
  }
  expect(app.now()).toBeGreaterThan(0);
});

test('events arrive in order: a waiting event delays those after it', async () => {
  await using watched = await startWatchedApp();
  const { receiver } = watched;
  const secret = await watched.agreed();
  receiver.answer(answers(500));
  for (let n = 0; n < 3; n += 1) await watched.call('test', secret);
  await watched.settle();
  expect(receiver.received).toHaveLength(2);
  receiver.answer(AGREES);
  await watched.pass(5 * SECOND_MS);
  const ids = receiver.received.slice(1).map(({ id }) => id);
  const { body } = await watched.call('status', secret);
  const stored = (body['deliveries'] as { id: string }[])
    .map(({ id }) => id)
    .toReversed()
    .slice(1);
  expect([...new Set(ids)]).toEqual(stored);
  expect(ids).toHaveLength(4);
});

test('a receiver gets 60 events a minute, and further events later', async () => {
  await using watched = await startWatchedApp();
  const secret = await watched.agreed();
  for (let n = 0; n < 64; n += 1) await watched.call('test', secret);
  await watched.settle();
  expect(watched.receiver.received).toHaveLength(60);
  await watched.pass(MINUTE_MS);
  expect(watched.receiver.received).toHaveLength(65);
});

test('the status lists the newest 20 events', async () => {
  await using watched = await startWatchedApp();
  const secret = await watched.agreed();
  for (let n = 0; n < 25; n += 1) await watched.call('test', secret);
  await watched.settle();
  const { body } = await watched.call('status', secret);
  expect(body['deliveries']).toHaveLength(20);
});

test('all receivers in one network together get two events a second', async () => {
  const receivers = await Promise.all(Array.from({ length: 5 }, () => startReceiver()));
  await using watched = await startWatchedApp({ alsoAllow: receivers.map(({ host }) => host) });
  for (const [n, { url: webhook }] of receivers.entries()) {
    await watched.prove(`shop${n}.com`);
    expect((await watched.watch({ url: `shop${n}.com`, webhook })).status).toBe(200);
  }
  await watched.settle();
  const seconds = receivers.map(({ received }) => received[0]?.headers['webhook-timestamp']);
  expect(new Set(seconds).size).toBeGreaterThanOrEqual(3);
  expect(receivers.map((receiver) => receiver.types())).toEqual(
    receivers.map(() => ['watch.started']),
  );
  for (const receiver of receivers) await receiver[Symbol.asyncDispose]();
});
