import { availableParallelism } from 'node:os';
import { serialize } from '../parse/json/transfer.ts';
import {
  EngineFault,
  type JobAnswer,
  type JobFailure,
  type Task,
  TaskFault,
  TaskLimitExceeded,
} from './job.ts';
import { createMachineScale } from './machine-scale.ts';
import { openThreads, type Threads } from './threads.ts';
import {
  openEndlessAccount,
  openScanAccount,
  type ScanAccount,
  type WorkAccount,
} from './work-account.ts';

const DEFAULTS = {
  /** Threads for first tries: one a core, from 2 to 8. Second tries have half as many more. */
  threads: Math.min(Math.max(availableParallelism(), 2), 8),
  /** Processor time of one task. */
  cpuMs: 1_000,
  /** Processor time of the first try of a task. */
  firstTryMs: 100,
  /** Processor time of all tasks of one scan over the origin's own documents. */
  originMs: 5_000,
  /** Processor time of all tasks of one scan over what third parties said. */
  standingMs: 2_500,
  /** A scan that used less is light. */
  lightMs: 500,
  /** Time on the wall of one task. */
  wallMs: 10_000,
  /** Old-space heap of a thread, MiB. */
  heapMb: 64,
  /** Time after which a thread without a task ends; the next task boots another one. */
  idleMs: 60_000,
  /** Tasks that may wait: a hundred scans. */
  maxWaiting: 2_500,
  /** Told of tasks that threw twice, and of errors that belong to no task; by default nobody is. */
  onError: (_error: Error): void => {},
};
const START_MS = 60_000;

export type PoolOptions = Readonly<Partial<typeof DEFAULTS>>;

export type PoolTask = {
  /** File URL of the module whose export does the work. */
  readonly module: string;
  /** A synchronous function of one argument, pure: it may be run again. */
  readonly exportName: string;
  /** Plain data; arrives frozen. */
  readonly input: unknown;
  /** Pays for the task's time; default: an account without limit. */
  readonly account?: WorkAccount;
  readonly signal?: AbortSignal;
};

export type WorkerPool = ReturnType<typeof createWorkerPool>;

export type PoolLoad = {
  /** The greatest number of threads for first tries. */
  readonly threads: number;
  /** Threads that run now: none before the first task, and none after an idle while. */
  readonly alive: number;
  /** Number of tasks, as is `waiting`. */
  readonly running: number;
  readonly waiting: number;
};

const WORKER = new URL('./worker.ts', import.meta.url);

export function createWorkerPool(options: PoolOptions = {}) {
  const settings = { ...DEFAULTS, ...options, startMs: START_MS, entry: WORKER };
  const { threads, onError } = settings;
  const quick = openThreads(settings);
  const slow = openThreads({ ...settings, threads: Math.max(1, Math.floor(threads / 2)) });
  const machine = createMachineScale((task) => tasks.run(task));
  const tasks = createTaskRunner(
    { quick, slow },
    {
      firstTryMs: () => settings.firstTryMs * machine.scale(),
      cpuMs: () => settings.cpuMs * machine.scale(),
      // A machine that could not be measured is taken for a fast one.
      afterCut: () => machine.calibrate().catch(() => undefined),
    },
  );
  const endless = openEndlessAccount('').origin;
  let scans = 0;

  async function runTask(task: Task): Promise<unknown> {
    try {
      return await tasks.run(task);
    } catch (error) {
      if (error instanceof TaskFault) onError(error);
      throw error;
    }
  }

  return {
    /** Boots the threads of first tries that are not there, and loads `modules` on them; resolves once they have. */
    start: (modules: readonly string[] = []): Promise<void> => quick.start(modules),
    /** The budgets of one scan; a replay has none, because its recording says what became of them. */
    openScan(kind: 'scan' | 'replay' = 'scan'): ScanAccount {
      scans += 1;
      const key = String(scans);
      if (kind === 'replay') return openEndlessAccount(key);
      const { originMs, standingMs, lightMs } = settings;
      const budgets = { origin: originMs, standing: standingMs, lightMs };
      // The machine may be measured while the scan asks its first questions.
      return openScanAccount(key, budgets, machine.scale);
    },
    /**
     * The function's answer, for the caller to parse. Rejects with TaskLimitExceeded, TaskFault,
     * EngineFault, or the signal's reason.
     */
    run({ module, exportName, input, account = endless, signal }: PoolTask): Promise<unknown> {
      const work = () => ({ modules: [module], exportName, input: serialize(input) }) as const;
      return runTask({ name: exportName, work, account, signal });
    },
    /** The same of a task that serializes its own input, when a thread is free for it. */
    runTask,
    /**
     * Measures this machine, once: on a slow one every limit of processor time is as much longer. The
     * first task that is cut waits for it, so callers need not.
     */
    calibrate: machine.calibrate,
    /** Slowness of this machine relative to the one that the limits were chosen on. */
    scale: machine.scale,
    load(): PoolLoad {
      const [first, later] = [quick.counts(), slow.counts()];
      return {
        threads,
        alive: first.alive + later.alive,
        running: first.running + later.running,
        waiting: first.waiting + later.waiting,
      };
    },
    /** Kills what runs and refuses what waits. */
    async close(): Promise<void> {
      tasks.close();
      await Promise.all([quick.close(), slow.close()]);
    },
  };
}

type TaskLimits = {
  /** Processor time of a first try, ms. */
  firstTryMs(): number;
  /** Processor time of any later try, ms. */
  cpuMs(): number;
  /** Runs before a task that was out of time is tried again: its limits may be too short for this machine. */
  afterCut(): Promise<void>;
};

/** Threads of first and later tries, so that long tries do not delay first ones. Both may be the same threads. */
type Tries = {
  /** First tries. */
  readonly quick: Threads;
  /** Later tries, and all tasks of a scan that was cut before. */
  readonly slow: Threads;
};

/**
 * Two failures of a kind decide: a task that twice exceeds its limits, or twice throws, was given too
 * much; a thread that twice fails on its own is our fault. A first try that ran out of a time shorter
 * than the later ones' is not a failure, only the reason for a longer one.
 */
export function createTaskRunner({ quick, slow }: Tries, limits: TaskLimits) {
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
    /** Rejects with TaskLimitExceeded, TaskFault, EngineFault, or the signal's reason. */
    async run(task: Task): Promise<unknown> {
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
    /** Ends every task, running or waiting, with EngineFault. */
    close(): void {
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
