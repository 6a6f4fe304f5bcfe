/**
 * Tasks on killable threads. A first try is short; what takes longer begins anew, behind every scan
 * that used less. Then two failures of a kind decide: a task that twice exceeds its limits, or twice
 * throws, was given too much; a thread that twice fails on its own is our fault.
 */
import { EngineFault, TaskFault, TaskLimitExceeded } from '../errors.ts';
import { type Answer, type Failure, type Job, modulesOf } from './job.ts';
import type { Thread } from './thread.ts';
import type { ThreadQueue } from './thread-queue.ts';
import type { WorkAccount } from './work-account.ts';

export type Task = {
  readonly name: string;
  address(ticket: number): Job;
  readonly account: WorkAccount;
  /** CPU time of each try, ms; default as TaskLimits has it. */
  readonly cpuMs?: number;
};

export type TaskLimits = {
  /** CPU time of a first try, ms. */
  firstTryMs(): number;
  /** CPU time of any later try, ms. */
  cpuMs(): number;
  /** Runs before a task that was out of time is tried again: its limits may be too short for this machine. */
  afterCut(): Promise<void>;
};

export type TaskRunner = {
  /**
   * Boots a thread that is not there; resolves once it does. Before its first task it loads these
   * modules, and what others have loaded.
   */
  start(thread: Thread, urls?: readonly string[]): Promise<void>;
  /** Rejects with TaskLimitExceeded, TaskFault, EngineFault, or the signal's reason. */
  run(task: Task, signal: AbortSignal | undefined): Promise<unknown>;
  /**
   * A single short try, where the account is good for one: its failure is an answer, and leaves the
   * account as light as it was. Rejects as `run`.
   */
  tryOnce(task: Task, signal: AbortSignal | undefined): Promise<Answer>;
  /** Ends every task, running or waiting, with EngineFault. */
  close(): void;
};

export function createTaskRunner(queue: ThreadQueue<Thread>, limits: TaskLimits): TaskRunner {
  const closing = new AbortController();
  const modules = new Set<string>();
  let tickets = 0;

  async function start(thread: Thread, urls: readonly string[] = []): Promise<void> {
    for (const url of urls) modules.add(url);
    const missing = thread.isAlive() ? urls : [...modules];
    const booting = thread.isAlive() ? undefined : thread.boot();
    if (missing.length > 0) thread.load(missing);
    await booting;
  }

  /** One attempt, on the next thread whose turn it is. */
  async function attempt(task: Task, isLong: boolean, signal: AbortSignal): Promise<Answer> {
    const { account } = task;
    const { thread, release } = await queue.acquire({ account, isLong }, signal);
    let ready: Promise<void> | undefined;
    let isShort = false;
    try {
      if (account.isSpent()) throw new TaskLimitExceeded(task.name, 'budget');
      const ownMs = task.cpuMs ?? (isLong ? limits.cpuMs() : limits.firstTryMs());
      const cpuMs = Math.min(ownMs, account.leftMs());
      tickets += 1;
      const job = task.address(tickets);
      start(thread);
      for (const url of modulesOf(job)) modules.add(url);
      const answer = await thread.attempt(job, cpuMs, signal);
      account.charge(answer.cpuMs);
      if (answer.kind !== 'done') ready = thread.load([...modules]);
      isShort = task.cpuMs === undefined && answer.kind === 'limit' && answer.limit === 'time';
      return answer;
    } finally {
      release(ready);
      if (isShort) await limits.afterCut();
    }
  }

  function endOf(callerSignal: AbortSignal | undefined): AbortSignal {
    return AbortSignal.any([closing.signal, ...(callerSignal ? [callerSignal] : [])]);
  }

  return {
    start,
    async tryOnce(task, callerSignal) {
      const { account, name } = task;
      if (account.isHeavy()) return { kind: 'trouble', detail: 'not tried', cpuMs: 0 };
      if (account.isSpent()) throw new TaskLimitExceeded(name, 'budget');
      return await attempt(task, false, endOf(callerSignal));
    },
    async run(task, callerSignal) {
      const { account } = task;
      const signal = endOf(callerSignal);
      const throwIfRepeated = retryOnce(task.name);
      let isLong = account.isHeavy();
      for (;;) {
        if (account.isSpent()) throw new TaskLimitExceeded(task.name, 'budget');
        const answer = await attempt(task, isLong, signal);
        if (answer.kind === 'done') return answer.output;
        const wasCut = !isLong && answer.kind === 'limit' && answer.limit === 'time';
        if (wasCut) account.markHeavy();
        isLong ||= wasCut;
        if (!wasCut) throwIfRepeated(answer);
      }
    },
    close() {
      closing.abort(new EngineFault('The engine was closed; start the scan again elsewhere.'));
    },
  };
}

/** Throws at the second failure of a kind; before that the task is tried again. */
function retryOnce(name: string): (failure: Failure) => void {
  const known = new Set<Failure['kind']>();
  return (failure) => {
    if (!known.has(failure.kind)) {
      known.add(failure.kind);
      return;
    }
    if (failure.kind === 'limit') throw new TaskLimitExceeded(name, failure.limit);
    if (failure.kind === 'threw') throw new TaskFault(name, failure.detail);
    throw new EngineFault(`${name} failed twice: ${failure.detail}`);
  };
}
