import {
  EngineFault,
  type JobAnswer,
  type JobFailure,
  TaskFault,
  TaskLimitExceeded,
  type Work,
} from './job.ts';
import type { Threads } from './threads.ts';
import type { WorkAccount } from './work-account.ts';

export type Task = {
  /** For messages. */
  readonly name: string;
  readonly work: () => Work;
  /** Pays for its time. */
  readonly account: WorkAccount;
  /** Processor time of each try, ms; default as TaskLimits has it. */
  readonly cpuMs?: number;
  readonly signal?: AbortSignal | undefined;
};

export type TaskLimits = {
  /** Processor time of a first try, ms. */
  firstTryMs(): number;
  /** Processor time of any later try, ms. */
  cpuMs(): number;
  /** Runs before a task that was out of time is tried again: its limits may be too short for this machine. */
  afterCut(): Promise<void>;
};

export type TaskRunner = {
  /** Rejects with TaskLimitExceeded, TaskFault, EngineFault, or the signal's reason. */
  run(task: Task): Promise<unknown>;
  /** Ends every task, running or waiting, with EngineFault. */
  close(): void;
};

/** Threads of first and later tries, so that long tries do not delay first ones. Both may be the same threads. */
export type Tries = {
  /** First tries. */
  readonly quick: Threads;
  /** Later tries, and all tasks of a scan that was cut before. */
  readonly slow: Threads;
};

/**
 * Two failures of a kind decide: a task that twice exceeds its limits, or twice throws, was given too
 * much; a thread that twice fails on its own is our fault. A first try that ran out of a time shorter
 * than the later ones' is no failure, only the reason for a longer one.
 */
export function createTaskRunner({ quick, slow }: Tries, limits: TaskLimits): TaskRunner {
  const closing = new AbortController();
  const isShort = () => limits.firstTryMs() < limits.cpuMs();

  async function attempt(task: Task, isLong: boolean, signal: AbortSignal): Promise<JobAnswer> {
    const { name, account, work } = task;
    const cpuMs = () => {
      if (account.isSpent()) throw new TaskLimitExceeded(name, 'budget');
      const ownMs = task.cpuMs ?? (isLong ? limits.cpuMs() : limits.firstTryMs());
      return Math.min(ownMs, account.leftMs());
    };
    const threads = isLong ? slow : quick;
    const answer = await threads.attempt({ account, work, cpuMs, signal });
    account.charge(answer.cpuMs);
    return answer;
  }

  return {
    async run(task) {
      const { name, account } = task;
      const signal = AbortSignal.any([closing.signal, ...(task.signal ? [task.signal] : [])]);
      const throwIfRepeated = retryOnce(name);
      let isLong = account.isHeavy();
      for (;;) {
        if (account.isSpent()) throw new TaskLimitExceeded(name, 'budget');
        const answer = await attempt(task, isLong, signal);
        if (answer.kind === 'done') return answer.output;
        const isCut = !isLong && task.cpuMs === undefined && isShort() && isOutOfTime(answer);
        if (isCut) {
          account.markHeavy();
          await limits.afterCut();
        } else throwIfRepeated(answer);
        isLong = true;
      }
    },
    close() {
      closing.abort(new EngineFault('The engine was closed; start the scan again elsewhere.'));
    },
  };
}

function isOutOfTime(answer: JobAnswer): boolean {
  return answer.kind === 'limit' && answer.limit === 'time';
}

/** Throws at the second failure of a kind; before that the task is tried again. */
function retryOnce(name: string): (failure: JobFailure) => void {
  const known = new Set<JobFailure['kind']>();
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
