import { PoolSaturated } from './job.ts';
import type { WorkAccount } from './work-account.ts';

export type FairQueueOptions = {
  /** Tasks that run at once. */
  readonly places: number;
  readonly maxWaiting: number;
};

type Waiting = { readonly account: WorkAccount; readonly begin: () => void };

/** A smaller lead does not justify a change to another scan, whose documents the threads have yet to parse. */
const ABOUT_EQUAL_MS = 25;

/**
 * Chooses the next task: that of the scan that used least. It stands before Piscina, not in its `taskQueue`: a
 * task that can be killed has a `signal`, and Piscina (5.3.2) keeps those in a list of its own, in
 * about the order of arrival and without a bound, and never shows them to `taskQueue`. A PQueue does not serve either: it
 * frees the place of a task when its signal aborts, while the thread still ends.
 */
export function createFairQueue({ places, maxWaiting }: FairQueueOptions) {
  const waiting = new Set<Waiting>();
  let running = 0;
  let servedLast: WorkAccount | undefined;

  function serve(): void {
    while (running < places) {
      const next = chooseNext(waiting, servedLast);
      if (next === undefined) return;
      waiting.delete(next);
      servedLast = next.account;
      running += 1;
      next.begin();
    }
  }

  async function turn(account: WorkAccount, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const entry = { account, begin: resolve };
    waiting.add(entry);
    serve();
    if (waiting.size > maxWaiting && waiting.delete(entry)) {
      throw new PoolSaturated(`${maxWaiting} tasks wait already. Try again in a few seconds.`);
    }
    const leave = () => {
      if (waiting.delete(entry)) reject(signal.reason);
    };
    signal.addEventListener('abort', leave, { once: true });
    await promise.finally(() => signal.removeEventListener('abort', leave));
  }

  return {
    /** Runs `work` in its turn. Rejects as it does, with the signal's reason, or with PoolSaturated. */
    async run<T>(account: WorkAccount, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
      await turn(account, signal);
      try {
        return await work();
      } finally {
        running -= 1;
        serve();
      }
    },
    counts: () => ({ running, waiting: waiting.size }),
  };
}

/** Among equals in order of arrival; the scan that was served last goes on while it is about as far. */
function chooseNext(
  waiting: Iterable<Waiting>,
  servedLast: WorkAccount | undefined,
): Waiting | undefined {
  let first: Waiting | undefined;
  let again: Waiting | undefined;
  for (const one of waiting) {
    if (first === undefined || one.account.scanUsedMs() < first.account.scanUsedMs()) first = one;
    if (one.account === servedLast) again ??= one;
  }
  if (first === undefined || again === undefined) return first;
  const aheadMs = again.account.scanUsedMs() - first.account.scanUsedMs();
  return aheadMs <= ABOUT_EQUAL_MS ? again : first;
}
