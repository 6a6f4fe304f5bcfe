import { PoolSaturated } from './job.ts';
import type { WorkAccount } from './work-account.ts';

export type FairQueueOptions = {
  /** Greatest number of tasks that run at once. */
  readonly maxRunning: number;
  readonly maxWaiting: number;
};

type WaitingTask = { readonly account: WorkAccount; readonly begin: () => void };

/** The queue changes to another scan only if that scan used this much less, because a change costs parsing. */
const MIN_LEAD_MS = 25;

/**
 * A queue that next runs a task of the scan that used least processor time. It cannot be a `taskQueue` of Piscina
 * (5.3.2): a task that can be killed has a `signal`, and Piscina keeps such tasks in an unbounded list of its own. A
 * PQueue does not fit. It would start another task as soon as a signal aborts, although the thread has not ended
 * yet.
 */
export function createFairQueue({ maxRunning, maxWaiting }: FairQueueOptions) {
  const waiting = new Set<WaitingTask>();
  let runningCount = 0;
  let lastAccount: WorkAccount | undefined;

  function startTasks(): void {
    while (runningCount < maxRunning) {
      const next = chooseNext(waiting, lastAccount);
      if (next === undefined) return;
      waiting.delete(next);
      lastAccount = next.account;
      runningCount += 1;
      next.begin();
    }
  }

  async function waitForTurn(account: WorkAccount, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const task = { account, begin: resolve };
    waiting.add(task);
    startTasks();
    if (waiting.size > maxWaiting && waiting.delete(task)) {
      throw new PoolSaturated(`${maxWaiting} tasks wait already. Try again in a few seconds.`);
    }
    const leave = () => {
      if (waiting.delete(task)) reject(signal.reason);
    };
    signal.addEventListener('abort', leave, { once: true });
    await promise.finally(() => signal.removeEventListener('abort', leave));
  }

  return {
    /**
     * Runs `work` when its turn comes. Rejects with the error of `work`, with the signal's reason, or with
     * PoolSaturated.
     */
    async run<T>(account: WorkAccount, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
      await waitForTurn(account, signal);
      try {
        return await work();
      } finally {
        runningCount -= 1;
        startTasks();
      }
    },
    counts: () => ({ running: runningCount, waiting: waiting.size }),
  };
}

/** Among equals, the task that arrived first is next. The scan served last goes on until another used clearly less. */
function chooseNext(
  waiting: Iterable<WaitingTask>,
  lastAccount: WorkAccount | undefined,
): WaitingTask | undefined {
  let leastUsedTask: WaitingTask | undefined;
  let sameScanTask: WaitingTask | undefined;
  for (const task of waiting) {
    if (
      leastUsedTask === undefined ||
      task.account.scanUsedMs() < leastUsedTask.account.scanUsedMs()
    )
      leastUsedTask = task;
    if (task.account === lastAccount) sameScanTask ??= task;
  }
  if (leastUsedTask === undefined || sameScanTask === undefined) return leastUsedTask;
  const aheadMs = sameScanTask.account.scanUsedMs() - leastUsedTask.account.scanUsedMs();
  return aheadMs <= MIN_LEAD_MS ? sameScanTask : leastUsedTask;
}
