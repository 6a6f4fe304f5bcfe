import type { Serialized } from '../parse/json/transfer.ts';
import type { WorkAccount } from './work-account.ts';

/** The failure is ours: the scan is abandoned, uncharged, and nothing is stored. */
export class EngineFault extends Error {
  override readonly name: string = 'EngineFault';
}

/** The queue is full; callers answer "try again later". */
export class PoolSaturated extends EngineFault {
  override readonly name = 'PoolSaturated';
}

export type Limit = 'time' | 'memory' | 'stack';

/**
 * A task broke limits twice, or its scan used up its budget of processor time: its input is at fault,
 * not the machine.
 */
export class TaskLimitExceeded extends Error {
  override readonly name = 'TaskLimitExceeded';
  readonly limit: Limit | 'budget';

  constructor(task: string, limit: Limit | 'budget') {
    super(
      limit === 'budget'
        ? `${task} was not run: its scan used up its processor time.`
        : `${task} exceeded its limit of ${limit} twice.`,
    );
    this.limit = limit;
  }
}

/** A task threw twice on its input: a defect of ours that costs only this task. */
export class TaskFault extends Error {
  override readonly name = 'TaskFault';

  constructor(task: string, detail: string) {
    super(`${task} threw twice: ${detail}`);
  }
}

/** A task as it is sent to a thread. */
export type Work = {
  /** File URLs. The first exports the function; it is given the others after its input. */
  readonly modules: readonly [string, ...string[]];
  readonly exportName: string;
  readonly input: Serialized;
  /** The function takes its input serialized; by default as frozen data. */
  readonly isRaw?: boolean;
  /** The function may return a promise; by default that is a fault. */
  readonly mayWait?: boolean;
};

export type Task = {
  /** For messages. */
  readonly name: string;
  readonly work: () => Work;
  /** Pays for its time. */
  readonly account: WorkAccount;
  /** Processor time of each try, ms; default: the limits of the pool. */
  readonly cpuMs?: number;
  readonly signal?: AbortSignal | undefined;
};

export type Job = Work & {
  readonly kind: 'work';
  /** Names the attempt in messages. */
  readonly ticket: number;
};

/** Loads what tasks will need, so that the next one does not wait for it. */
export type LoadJob = { readonly kind: 'load'; readonly modules: readonly string[] };

/** `threw`: the function did, on its input. `trouble`: the thread failed, whatever the input. */
export type JobFailure =
  | { readonly kind: 'limit'; readonly limit: Limit }
  | { readonly kind: 'threw' | 'trouble'; readonly detail: string };

type Cost = { readonly cpuMs: number };

export type JobResult = Cost & { readonly kind: 'done'; readonly output: unknown };
export type JobAnswer = JobResult | (JobFailure & Cost);

export type ThreadMessage = { readonly ticket: number } & (
  | {
      /** The modules are loaded and the function is called next: the deadline runs from here on. */
      readonly kind: 'started';
      readonly threadId: number;
      /** Processor time of the thread so far; null if Node does not tell (before 23.9). */
      readonly cpu: NodeJS.CpuUsage | null;
    }
  | { readonly kind: 'failed'; readonly failure: JobFailure; readonly cpuMs: number }
);

export function isThreadMessage(message: unknown): message is ThreadMessage {
  return typeof message === 'object' && message !== null && 'ticket' in message;
}
