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
  /** Number of threads for first tries: one for each core, from 2 to 8. Later tries have half as many, of their own. */
  threads: Math.min(Math.max(availableParallelism(), 2), 8),
  /** Limit of processor time for a later try of a task. */
  cpuMs: 1_000,
  /** Limit of processor time for the first try of a task. */
  firstTryMs: 100,
  /** Budget of processor time for all tasks of one scan that read documents of the origin. */
  originMs: 5_000,
  /** Budget of processor time for all tasks of one scan that read data of third parties. */
  standingMs: 2_500,
  /** A scan is light while it has used less processor time than this. A light scan that is late was delayed by us. */
  lightMs: 500,
  /** Limit of elapsed time for one try. */
  wallMs: 10_000,
  /** Old-space heap of a thread, MiB. */
  heapMb: 64,
  /** Time after which a thread without a task ends; the next task boots another one. */
  idleMs: 60_000,
  /** Greatest number of waiting tasks: those of a hundred scans. */
  maxWaiting: 2_500,
  /** Called with the errors of tasks that threw twice, and with errors that belong to no task. */
  onError: (_error: Error): void => {},
};
const MAX_START_MS = 60_000;
/** A thread for later tries keeps the documents of a large scan, and few scans need such a thread. */
const SLOW_IDLE_MS = 1_000;

export type PoolOptions = Readonly<Partial<typeof DEFAULTS>>;

export type PoolTask = {
  /** File URL of the module whose export does the work. */
  readonly module: string;
  /** Name of a synchronous function of one argument. It must be pure, because it may be run again. */
  readonly exportName: string;
  /** Plain data. The function gets it frozen. */
  readonly input: unknown;
  /** The processor time of the task is charged to this account. Default: an account without limit. */
  readonly account?: WorkAccount;
  readonly signal?: AbortSignal;
};

export type WorkerPool = ReturnType<typeof createWorkerPool>;

const WORKER_ENTRY = new URL('./worker.ts', import.meta.url);

export function createWorkerPool(options: PoolOptions = {}) {
  const settings = { ...DEFAULTS, ...options, startMs: MAX_START_MS, entry: WORKER_ENTRY };
  const { threads, onError } = settings;
  const quick = openThreads(settings);
  const slow = openThreads({
    ...settings,
    threads: Math.max(1, Math.floor(threads / 2)),
    idleMs: Math.min(settings.idleMs, SLOW_IDLE_MS),
  });
  const machine = createMachineScale((task) => runner.run(task));
  const runner = createTaskRunner(
    { quick, slow },
    {
      firstTryMs: () => settings.firstTryMs * machine.getScale(),
      cpuMs: () => settings.cpuMs * machine.getScale(),
      // If the measurement fails, the machine counts as fast.
      beforeLongTry: () => machine.calibrate().catch(() => undefined),
    },
  );
  const endless = openEndlessAccount().origin;
  let scanCount = 0;

  async function runTask(task: Task): Promise<unknown> {
    try {
      return await runner.run(task);
    } catch (error) {
      if (error instanceof TaskFault) onError(error);
      throw error;
    }
  }

  return {
    /** Boots all threads for first tries, and loads `modules` on them. Resolves at the end. */
    start: (modules: readonly string[] = []): Promise<void> => quick.start(modules),
    /** Opens the budgets of one scan. A replay has no limits: its recording states the budgets that the scan spent. */
    openScan(kind: 'scan' | 'replay' = 'scan'): ScanAccount {
      scanCount += 1;
      const key = String(scanCount);
      if (kind === 'replay') return openEndlessAccount(key);
      const { originMs, standingMs, lightMs } = settings;
      const budgets = { origin: originMs, standing: standingMs, lightMs };
      // The account gets a function, because the machine may be measured after the scan has begun.
      return openScanAccount(key, budgets, machine.getScale);
    },
    /**
     * Runs a task and returns the function's output, which the caller must parse. Rejects with TaskLimitExceeded,
     * TaskFault, EngineFault, or the signal's reason.
     */
    run({ module, exportName, input, account = endless, signal }: PoolTask): Promise<unknown> {
      const work = () => ({ modules: [module], exportName, input: serialize(input) }) as const;
      return runTask({ name: exportName, work, account, signal });
    },
    /** Runs a task that serializes its own input when a thread is free. Rejects like `run`. */
    runTask,
    /**
     * Measures this machine once. On a slow machine all limits of processor time are longer by the same factor. Callers
     * need not wait: the first task that runs out of time waits for the measurement.
     */
    calibrate: machine.calibrate,
    /** Returns the factor on all limits of processor time, which is greater on a slow machine. */
    getScale: machine.getScale,
    /** Counts the tasks, and the threads now (`alive`). `threads` is the greatest number of threads for first tries. */
    readLoad() {
      const [quickCounts, slowCounts] = [quick.counts(), slow.counts()];
      return {
        threads,
        alive: quickCounts.alive + slowCounts.alive,
        running: quickCounts.running + slowCounts.running,
        waiting: quickCounts.waiting + slowCounts.waiting,
      };
    },
    /** Kills running tasks and rejects waiting ones. */
    async close(): Promise<void> {
      runner.close();
      await Promise.all([quick.close(), slow.close()]);
    },
  };
}

type TaskLimits = {
  /** Processor time of a first try, ms. */
  firstTryMs(): number;
  /** Processor time of any later try, ms. */
  cpuMs(): number;
  /** Called after a first try ran out of time. It may adapt the limits to a slow machine. */
  beforeLongTry(): Promise<void>;
};

/** Later tries have threads of their own, so that long tries do not delay first ones. */
type TryThreads = {
  /** Run first tries. */
  readonly quick: Threads;
  /** Run later tries, and all tasks of an account in which a first try ran out of time. */
  readonly slow: Threads;
};

/**
 * Runs each task again after its first failure. The second failure of the same kind decides the error. A task that
 * exceeds its limits twice rejects with TaskLimitExceeded, and one that throws twice with TaskFault. Two failures of
 * threads are our own fault (EngineFault). A first try with a shorter time limit does not count if it only ran out of
 * time.
 */
export function createTaskRunner({ quick, slow }: TryThreads, limits: TaskLimits) {
  const closing = new AbortController();
  const isFirstTryShorter = () => limits.firstTryMs() < limits.cpuMs();

  async function attempt(task: Task, isLong: boolean, signal: AbortSignal): Promise<JobAnswer> {
    const { name, account, work } = task;
    // Called when a thread is free. Other tasks of the scan may have spent the budget by then.
    const cpuMs = () => {
      if (account.isSpent()) throw new TaskLimitExceeded(name, 'budget');
      const limitMs = task.cpuMs ?? (isLong ? limits.cpuMs() : limits.firstTryMs());
      return Math.min(limitMs, account.remainingMs());
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
      const throwIfRepeated = createRepeatGuard(name);
      let isLong = account.needsSlowThreads();
      for (;;) {
        if (account.isSpent()) throw new TaskLimitExceeded(name, 'budget');
        const answer = await attempt(task, isLong, signal);
        if (answer.kind === 'done') return answer.output;
        const isOutOfTime = answer.kind === 'limit' && answer.limit === 'time';
        const canGetMoreTime = !isLong && task.cpuMs === undefined && isFirstTryShorter();
        if (isOutOfTime && canGetMoreTime) {
          account.sendToSlowThreads();
          await limits.beforeLongTry();
        } else throwIfRepeated(answer);
        isLong = true;
      }
    },
    /** Ends all running and waiting tasks with EngineFault. */
    close(): void {
      closing.abort(new EngineFault('The engine was closed; start the scan again elsewhere.'));
    },
  };
}

/** Returns a function that throws at the second failure of the same kind. */
function createRepeatGuard(name: string): (failure: JobFailure) => void {
  const seenKinds = new Set<JobFailure['kind']>();
  return (failure) => {
    if (!seenKinds.has(failure.kind)) {
      seenKinds.add(failure.kind);
      return;
    }
    if (failure.kind === 'limit') throw new TaskLimitExceeded(name, failure.limit);
    if (failure.kind === 'threw') throw new TaskFault(name, failure.detail);
    throw new EngineFault(`${name} failed twice: ${failure.detail}`);
  };
}
