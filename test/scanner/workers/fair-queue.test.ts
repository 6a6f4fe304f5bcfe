import { expect, test } from 'vitest';
import { createFairQueue } from '../../../src/scanner/workers/fair-queue.ts';
import { PoolSaturated } from '../../../src/scanner/workers/job.ts';
import { openScanAccount, type ScanAccount } from '../../../src/scanner/workers/work-account.ts';

const SCAN_BUDGETS = { origin: 5_000, standing: 2_500, lightMs: 500 };
const { signal } = new AbortController();

function scanThatUsed(ms: number): ScanAccount {
  const account = openScanAccount(`used ${ms}`, SCAN_BUDGETS);
  account.origin.charge(ms);
  return account;
}

function openQueue({ maxRunning = 1, maxWaiting = 100 } = {}) {
  const queue = createFairQueue({ maxRunning, maxWaiting });
  const order: string[] = [];
  /** Queues a task that adds its name to `order`. */
  const queueTask = (name: string, { origin }: ScanAccount) =>
    queue.run(origin, async () => void order.push(name), signal);
  /** Queues a task that runs until it is released. */
  const queueLongTask = ({ origin }: ScanAccount = scanThatUsed(0)) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    return { release: resolve, done: queue.run(origin, () => promise, signal) };
  };
  return { queue, order, queueTask, queueLongTask };
}

test('the scan that used the least time goes first, and equal scans go in order of arrival', async () => {
  const { order, queueTask, queueLongTask } = openQueue();
  const busy = queueLongTask();
  const heavy = scanThatUsed(900);
  const waiting = [
    queueTask('900, first', heavy),
    queueTask('900, second', heavy),
    queueTask('400', scanThatUsed(400)),
    queueTask('0, first', scanThatUsed(0)),
    queueTask('0, second', scanThatUsed(0)),
  ];
  busy.release();
  await Promise.all(waiting);
  expect(order).toEqual(['0, first', '0, second', '400', '900, first', '900, second']);
});

test('the time that a scan uses while its task waits counts, too', async () => {
  const { order, queueTask, queueLongTask } = openQueue();
  const busy = queueLongTask();
  const waitingScan = scanThatUsed(0);
  const waiting = [queueTask('waiting', waitingScan), queueTask('other', scanThatUsed(50))];
  waitingScan.standing.charge(200);
  busy.release();
  await Promise.all(waiting);
  expect(order).toEqual(['other', 'waiting']);
});

test.each([
  [20, ['last served', 'other']],
  [26, ['other', 'last served']],
])(
  'the scan that was served last goes first if it used at most 25 ms more than others (%i ms)',
  async (usedMs, expected) => {
    const { order, queueTask, queueLongTask } = openQueue();
    const lastServed = scanThatUsed(usedMs);
    const busy = queueLongTask(lastServed);
    const waiting = [queueTask('other', scanThatUsed(0)), queueTask('last served', lastServed)];
    busy.release();
    await Promise.all(waiting);
    expect(order).toEqual(expected);
  },
);

test('at most `maxRunning` tasks run at once', async () => {
  const { queue, order, queueTask, queueLongTask } = openQueue({ maxRunning: 2 });
  const [firstTask, secondTask] = [queueLongTask(), queueLongTask()];
  const thirdTask = queueTask('third', scanThatUsed(0));
  expect(queue.counts()).toEqual({ running: 2, waiting: 1 });
  expect(order).toEqual([]);
  secondTask.release();
  await thirdTask;
  expect(queue.counts()).toEqual({ running: 1, waiting: 0 });
  firstTask.release();
  await firstTask.done;
});

test('a task that fails frees its slot for the next task', async () => {
  const { queue, order, queueTask } = openQueue();
  const fails = queue.run(
    scanThatUsed(0).origin,
    () => Promise.reject(new Error('broken')),
    signal,
  );
  const next = queueTask('next', scanThatUsed(0));
  await expect(fails).rejects.toThrow('broken');
  await next;
  expect(order).toEqual(['next']);
});

test('a task of a caller that gives up leaves the queue, and rejects with the reason of the abort', async () => {
  const { queue, order, queueTask, queueLongTask } = openQueue();
  const busy = queueLongTask();
  const giveUp = new AbortController();
  const abandoned = queue.run(
    scanThatUsed(0).origin,
    async () => order.push('abandoned'),
    giveUp.signal,
  );
  const behind = queueTask('behind', scanThatUsed(0));
  giveUp.abort(new Error('no longer wanted'));
  await expect(abandoned).rejects.toThrow('no longer wanted');
  busy.release();
  await behind;
  expect(order).toEqual(['behind']);
});

test('a task over the limit of waiting tasks is refused', async () => {
  const { queueTask, queueLongTask } = openQueue({ maxWaiting: 1 });
  const busy = queueLongTask();
  const waits = queueTask('waits', scanThatUsed(0));
  await expect(queueTask('too many', scanThatUsed(0))).rejects.toBeInstanceOf(PoolSaturated);
  busy.release();
  await waits;
});
