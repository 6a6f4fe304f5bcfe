import type { Serialized } from '../parse/json/transfer.ts';
import type { WorkAccount } from './work-account.ts';

/** A failure of our own. The scan ends, nothing is charged, and nothing is stored. */
export class EngineFault extends Error {
  override readonly name: string = 'EngineFault';
}

/** The queue of tasks is full. Callers answer "try again later". */
export class PoolSaturated extends EngineFault {
  override readonly name = 'PoolSaturated';
}

export type Limit = 'time' | 'memory' | 'stack';

/**
 * A task exceeded its limits twice, or its scan has used up its budget of processor time. The cause is the input, not
 * the machine.
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

/** A task threw an error twice. This is a defect of ours, and only this task fails. */
export class TaskFault extends Error {
  override readonly name = 'TaskFault';

  constructor(task: string, detail: string) {
    super(`${task} threw twice: ${detail}`);
  }
}

/** A task as it is sent to a thread. */
export type Work = {
  /** File URLs. The first module exports the function. The function gets the other modules after its input. */
  readonly modules: readonly [string, ...string[]];
  readonly exportName: string;
  readonly input: Serialized;
  /** True if the function gets its input serialized. By default it gets frozen data. */
  readonly isRaw?: boolean;
  /** True if the function may return a promise. By default a returned promise is an error. */
  readonly mayReturnPromise?: boolean;
};

/** Work that the pool attempts until it succeeds or fails twice. */
export type Task = {
  /** Names the task in error messages. */
  readonly name: string;
  /** Called for each attempt when a thread is free, so that a waiting task holds no serialized input. */
  readonly work: () => Work;
  /** The processor time of the task is charged to this account. */
  readonly account: WorkAccount;
  /** Limit of processor time for each try, ms. Default: the limits of the pool. */
  readonly cpuMs?: number;
  readonly signal?: AbortSignal | undefined;
};

/** One attempt of a task. */
export type Job = Work & {
  readonly kind: 'work';
  /** Identifies the attempt in messages between the threads. */
  readonly ticket: number;
};

/** Loads modules into a thread before a task needs them. */
export type LoadJob = { readonly kind: 'load'; readonly modules: readonly string[] };

/** `threw`: the function threw an error. `thread-failed`: the thread failed, and its input was not the cause. */
export type JobFailure =
  | { readonly kind: 'limit'; readonly limit: Limit }
  | { readonly kind: 'threw' | 'thread-failed'; readonly detail: string };

/** Processor time that an attempt used. */
type Cost = { readonly cpuMs: number };

/** The result of an attempt that succeeded. */
export type JobResult = Cost & { readonly kind: 'done'; readonly output: unknown };
export type JobAnswer = JobResult | (JobFailure & Cost);

/** Sent by a thread during an attempt. A JobResult is not a message: the thread's function returns it. */
export type ThreadMessage = { readonly ticket: number } & (
  | {
      /** The modules are loaded, and the function is called next. The deadline starts now. */
      readonly kind: 'started';
      readonly threadId: number;
      /** Processor time of the thread so far; null if Node cannot tell (before 23.9). */
      readonly cpu: NodeJS.CpuUsage | null;
    }
  | (Cost & { readonly kind: 'failed'; readonly failure: JobFailure })
);

export function isThreadMessage(message: unknown): message is ThreadMessage {
  return typeof message === 'object' && message !== null && 'ticket' in message;
}
