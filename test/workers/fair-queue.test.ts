import { expect, test } from 'vitest';
import { createFairQueue } from '../../src/workers/fair-queue.ts';
import { PoolSaturated } from '../../src/workers/job.ts';
import { openScanAccount, type ScanAccount } from '../../src/workers/work-account.ts';

const BUDGETS = { origin: 5_000, standing: 2_500, lightMs: 500 };
const { signal } = new AbortController();

function scanThatUsed(ms: number): ScanAccount {
  const account = openScanAccount(`used ${ms}`, BUDGETS);
  account.origin.charge(ms);
  return account;
}

function queueOf({ maxRunning = 1, maxWaiting = 100 } = {}) {
  const queue = createFairQueue({ maxRunning, maxWaiting });
  const order: string[] = [];
  /** A task that ends as soon as it has its turn. */
  const pass = (name: string, { origin }: ScanAccount) =>
    queue.run(origin, async () => void order.push(name), signal);
  /** A task that runs until it is released. */
  const occupy = ({ origin }: ScanAccount = scanThatUsed(0)) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    return { release: resolve, done: queue.run(origin, () => promise, signal) };
  };
  return { queue, order, pass, occupy };
}

test('the scan that used the least time goes first, and equal scans go in order of arrival', async () => {
  const { order, pass, occupy } = queueOf();
  const busy = occupy();
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
  expect(order).toEqual(['0, first', '0, second', '400', '900, first', '900, second']);
});

test('the time that a scan uses while it waits counts', async () => {
  const { order, pass, occupy } = queueOf();
  const busy = occupy();
  const one = scanThatUsed(0);
  const waiting = [pass('one', one), pass('other', scanThatUsed(50))];
  one.standing.charge(200);
  busy.release();
  await Promise.all(waiting);
  expect(order).toEqual(['other', 'one']);
});

test.each([
  [20, ['mine', 'other']],
  [26, ['other', 'mine']],
])(
  'the last served scan goes on while it used at most 25 ms more (%i ms)',
  async (usedMs, expected) => {
    const { order, pass, occupy } = queueOf();
    const mine = scanThatUsed(usedMs);
    const busy = occupy(mine);
    const waiting = [pass('other', scanThatUsed(0)), pass('mine', mine)];
    busy.release();
    await Promise.all(waiting);
    expect(order).toEqual(expected);
  },
);

test('at most `maxRunning` tasks run at once', async () => {
  const { queue, order, pass, occupy } = queueOf({ maxRunning: 2 });
  const [first, second] = [occupy(), occupy()];
  const third = pass('third', scanThatUsed(0));
  expect(queue.counts()).toEqual({ running: 2, waiting: 1 });
  expect(order).toEqual([]);
  second.release();
  await third;
  expect(queue.counts()).toEqual({ running: 1, waiting: 0 });
  first.release();
  await first.done;
});

test('a task that fails frees its slot for the next task', async () => {
  const { queue, order, pass } = queueOf();
  const fails = queue.run(
    scanThatUsed(0).origin,
    () => Promise.reject(new Error('broken')),
    signal,
  );
  const next = pass('next', scanThatUsed(0));
  await expect(fails).rejects.toThrow('broken');
  await next;
  expect(order).toEqual(['next']);
});

test('a caller that gives up leaves the queue, and gets its own reason', async () => {
  const { queue, order, pass, occupy } = queueOf();
  const busy = occupy();
  const gone = new AbortController();
  const left = queue.run(scanThatUsed(0).origin, async () => order.push('left'), gone.signal);
  const behind = pass('behind', scanThatUsed(0));
  gone.abort(new Error('no longer wanted'));
  await expect(left).rejects.toThrow('no longer wanted');
  busy.release();
  await behind;
  expect(order).toEqual(['behind']);
});

test('a task over the limit of waiting tasks is refused', async () => {
  const { pass, occupy } = queueOf({ maxWaiting: 1 });
  const busy = occupy();
  const waits = pass('waits', scanThatUsed(0));
  await expect(pass('too many', scanThatUsed(0))).rejects.toBeInstanceOf(PoolSaturated);
  busy.release();
  await waits;
});
