/**
 * The queue in front of the threads: scans take turns, and the clock of a task does not run while it
 * waits, as it would in the thread's own queue of messages.
 */
import { PoolSaturated } from '../errors.ts';
import type { WorkAccount } from './work-account.ts';

/** What a task asks for. */
export type Claim = {
  readonly account: WorkAccount;
  /** Longer than a first try. */
  readonly isLong: boolean;
};

export type Held<Thread> = {
  readonly thread: Thread;
  /** Gives the thread to the next in line, where it is not ready yet as soon as it is; once only. */
  release(ready?: Promise<void>): void;
};

export type ThreadQueue<Thread> = {
  /** The scan that used least goes first. Rejects with the signal's reason, or PoolSaturated. */
  acquire(claim: Claim, signal?: AbortSignal): Promise<Held<Thread>>;
  counts(): { readonly running: number; readonly waiting: number };
};

export type ThreadQueueOptions = {
  /** Claims that may wait. */
  readonly maxWaiting: number;
};

type Waiting<Thread> = Claim & { readonly grant: (held: Held<Thread>) => void };

/** Differences that are no reason to let another scan go first: its documents are parsed here. */
const ABOUT_EQUAL_MS = 25;

export function createThreadQueue<Thread>(
  threads: readonly Thread[],
  { maxWaiting }: ThreadQueueOptions,
): ThreadQueue<Thread> {
  /** The thread that takes only first tries of light scans, so that it is free again soon. */
  const reserved = threads.length > 1 ? threads[0] : undefined;
  const free = new Set(threads);
  const servedLast = new Map<Thread, WorkAccount>();
  const waiting = new Set<Waiting<Thread>>();
  let running = 0;

  function mayTake(thread: Thread, { account, isLong }: Claim): boolean {
    return thread !== reserved || (account.isLight() && !isLong);
  }

  function nextFor(thread: Thread): Waiting<Thread> | undefined {
    const candidates = [...waiting].filter((one) => mayTake(thread, one));
    return chooseNext(candidates, servedLast.get(thread));
  }

  function hold(thread: Thread): Held<Thread> {
    let held = true;
    running += 1;
    const giveBack = () => {
      free.add(thread);
      serve();
    };
    return {
      thread,
      release(ready) {
        // A thread that were given back twice would be given two tasks.
        if (!held) return;
        held = false;
        running -= 1;
        // A thread that boots serves no claim while another one gets free.
        if (ready === undefined) giveBack();
        else ready.then(giveBack, giveBack);
      },
    };
  }

  function serve(): void {
    // The reserved thread is the last to be taken, so that it is there when a light scan comes.
    for (const thread of [...free].sort(
      (a, b) => Number(a === reserved) - Number(b === reserved),
    )) {
      const next = nextFor(thread);
      if (next === undefined) continue;
      waiting.delete(next);
      free.delete(thread);
      servedLast.set(thread, next.account);
      next.grant(hold(thread));
    }
  }

  return {
    async acquire(claim, signal) {
      signal?.throwIfAborted();
      const { promise, resolve, reject } = Promise.withResolvers<Held<Thread>>();
      const entry = { ...claim, grant: resolve };
      waiting.add(entry);
      serve();
      if (waiting.size > maxWaiting && waiting.delete(entry)) {
        throw new PoolSaturated(`${maxWaiting} tasks wait already. Try again in a few seconds.`);
      }
      const leave = () => {
        if (waiting.delete(entry)) reject(signal?.reason);
      };
      signal?.addEventListener('abort', leave, { once: true });
      try {
        return await promise;
      } finally {
        signal?.removeEventListener('abort', leave);
      }
    },
    counts: () => ({ running, waiting: waiting.size }),
  };
}

/** The scan that used least, unless the one that the thread served last is about as far: in order of arrival among equals. */
function chooseNext<C extends Claim>(
  candidates: readonly C[],
  servedLast: WorkAccount | undefined,
): C | undefined {
  let first: C | undefined;
  let again: C | undefined;
  for (const one of candidates) {
    if (first === undefined || isBefore(one, first)) first = one;
    if (again === undefined && !one.isLong && one.account === servedLast) again = one;
  }
  if (first === undefined || again === undefined) return first;
  const aheadMs = again.account.scanUsedMs() - first.account.scanUsedMs();
  return aheadMs <= ABOUT_EQUAL_MS ? again : first;
}

function isBefore(one: Claim, other: Claim): boolean {
  const [used, otherUsed] = [one.account.scanUsedMs(), other.account.scanUsedMs()];
  if (used !== otherUsed) return used < otherUsed;
  return !one.isLong && other.isLong;
}
