/** Who gets a thread next: the scan that used least. */
import { expect, test } from 'vitest';
import { PoolSaturated } from '../../../src/engine/errors.ts';
import { createThreadQueue, type ThreadQueue } from '../../../src/engine/pool/thread-queue.ts';
import { openScanAccount, type ScanAccount } from '../../../src/engine/pool/work-account.ts';

const BUDGETS = { origin: 5_000, standing: 2_500, lightMs: 500 };

function scanThatUsed(ms: number): ScanAccount {
  const account = openScanAccount(`used ${ms}`, BUDGETS);
  account.origin.charge(ms);
  return account;
}

function queueOf(threads: readonly string[], maxWaiting = 100) {
  const queue = createThreadQueue(threads, { maxWaiting });
  const order: string[] = [];
  /** Holds the thread for as long as it takes to say so. */
  const pass = async (name: string, { origin: account }: ScanAccount, isLong = false) => {
    const { thread, release } = await queue.acquire({ account, isLong });
    order.push(`${name} on ${thread}`);
    release();
  };
  return { queue, order, pass };
}

async function occupy(queue: ThreadQueue<string>, account = scanThatUsed(0)) {
  return await queue.acquire({ account: account.origin, isLong: false });
}

test('the scan that used least goes first, in order of arrival among equals', async () => {
  const { queue, order, pass } = queueOf(['only']);
  const busy = await occupy(queue);
  const heavy = scanThatUsed(900);
  const waiting = [
    pass('900, first', heavy),
    pass('900, second', heavy),
    pass('400', scanThatUsed(400)),
    pass('0, first', scanThatUsed(0)),
    pass('0, second', scanThatUsed(0)),
  ];
  busy.release();
  await Promise.all(waiting);
  expect(order).toEqual([
    '0, first on only',
    '0, second on only',
    '400 on only',
    '900, first on only',
    '900, second on only',
  ]);
});

test('a longer task goes behind every scan that used less, and behind equals', async () => {
  const { queue, order, pass } = queueOf(['only']);
  const busy = await occupy(queue);
  const waiting = [
    pass('long, 100', scanThatUsed(100), true),
    pass('short, 99', scanThatUsed(99)),
    pass('short, 100', scanThatUsed(100)),
    pass('short, 101', scanThatUsed(101)),
  ];
  busy.release();
  await Promise.all(waiting);
  expect(order.map((one) => one.replace(' on only', ''))).toEqual([
    'short, 99',
    'short, 100',
    'long, 100',
    'short, 101',
  ]);
});

test('what a scan uses while it waits counts', async () => {
  const { queue, order, pass } = queueOf(['only']);
  const busy = await occupy(queue);
  const one = scanThatUsed(0);
  const waiting = [pass('one', one), pass('other', scanThatUsed(50))];
  one.standing.charge(200);
  busy.release();
  await Promise.all(waiting);
  expect(order).toEqual(['other on only', 'one on only']);
});

test('a thread goes on with the scan whose documents it has read while that used no more to speak of', async () => {
  const { queue, order, pass } = queueOf(['only']);
  const mine = scanThatUsed(20);
  const busy = await occupy(queue, mine);
  const waiting = [pass('other', scanThatUsed(0)), pass('mine', mine)];
  busy.release();
  await Promise.all(waiting);
  expect(order).toEqual(['mine on only', 'other on only']);
});

test('one thread of several takes no task that is longer than a first try', async () => {
  const { queue, order, pass } = queueOf(['light', 'any']);
  const any = await occupy(queue);
  const long = pass('long', scanThatUsed(100), true);
  await pass('short', scanThatUsed(200));
  expect(order).toEqual(['short on light']);
  any.release();
  await long;
  expect(order.at(-1)).toBe('long on any');
});

test('one thread of several takes light scans alone', async () => {
  const { queue, order, pass } = queueOf(['light', 'any']);
  const [first, second] = [await occupy(queue), await occupy(queue)];
  expect([first.thread, second.thread]).toEqual(['any', 'light']);
  const heavy = pass('heavy', scanThatUsed(500));
  const light = pass('light scan', scanThatUsed(499));
  second.release();
  await light;
  expect(order).toEqual(['light scan on light']);
  expect(queue.counts()).toEqual({ running: 1, waiting: 1 });
  first.release();
  await heavy;
  expect(order.at(-1)).toBe('heavy on any');
});

test('a thread that boots is given to nobody; a free one is', async () => {
  const { queue, order, pass } = queueOf(['one']);
  const held = await occupy(queue);
  const booted = Promise.withResolvers<void>();
  held.release(booted.promise);
  const waiting = pass('next', scanThatUsed(0));
  expect(queue.counts()).toEqual({ running: 0, waiting: 1 });
  expect(order).toEqual([]);
  booted.resolve();
  await waiting;
  expect(order).toEqual(['next on one']);
});

test('releasing twice gives the thread once', async () => {
  const { queue } = queueOf(['one']);
  const held = await occupy(queue);
  held.release();
  held.release();
  await occupy(queue);
  expect(queue.counts()).toEqual({ running: 1, waiting: 0 });
  const refused = createThreadQueue(['one'], { maxWaiting: 0 });
  await occupy(refused);
  await expect(occupy(refused)).rejects.toBeInstanceOf(PoolSaturated);
});
