/**
 * Tasks on killable threads. A first try is short; what takes longer begins anew, behind every scan
 * that used less. Then two failures of a kind decide: a task that twice exceeds its limits, or twice
 * throws, was given too much; a thread that twice fails on its own is our fault.
 */
import type { LoadedModule } from '../catalog/load-module.ts';
import { EngineFault, TaskFault, TaskLimitExceeded } from '../errors.ts';
import type { Answer, Failure, Job } from './job.ts';
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
  /** Boots a thread that is not there; it loads what others have loaded before its first task. */
  start(thread: Thread): Promise<void>;
  /** As `start`; loads the modules there, and on every thread that boots later. */
  load(thread: Thread, urls: readonly string[]): Promise<readonly LoadedModule[] | null>;
  /** Rejects with TaskLimitExceeded, TaskFault, EngineFault, or the signal's reason. */
  run(task: Task, signal: AbortSignal | undefined): Promise<unknown>;
  /** Ends every task, running or waiting, with EngineFault. */
  close(): void;
};

export function createTaskRunner(queue: ThreadQueue<Thread>, limits: TaskLimits): TaskRunner {
  const closing = new AbortController();
  const modules = new Set<string>();
  let tickets = 0;

  async function start(thread: Thread): Promise<void> {
    if (thread.isAlive()) return;
    const booting = thread.boot();
    if (modules.size > 0) thread.load([...modules]);
    await booting;
  }

  /** One attempt, on the next thread whose turn it is. */
  async function attempt(task: Task, isLong: boolean, signal: AbortSignal): Promise<Answer> {
    const { account } = task;
    const { thread, release } = await queue.acquire({ account, isLong }, signal);
    let ready: Promise<unknown> | undefined;
    let isShort = false;
    try {
      if (account.isSpent()) throw new TaskLimitExceeded(task.name, 'budget');
      const ownMs = task.cpuMs ?? (isLong ? limits.cpuMs() : limits.firstTryMs());
      const cpuMs = Math.min(ownMs, account.leftMs());
      tickets += 1;
      const job = task.address(tickets);
      start(thread);
      modules.add(job.module);
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

  return {
    start,
    async load(thread, urls) {
      const isAlive = thread.isAlive();
      const known = [...modules].filter((url) => !urls.includes(url));
      for (const url of urls) modules.add(url);
      const loaded = await thread.load(isAlive ? urls : [...urls, ...known]);
      return loaded === null ? null : loaded.slice(0, urls.length);
    },
    async run(task, callerSignal) {
      const { account } = task;
      const signal = AbortSignal.any([closing.signal, ...(callerSignal ? [callerSignal] : [])]);
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
