/** The worker threads that run checks and plans: what a task may cost, and what its failure means. */
import { availableParallelism } from 'node:os';
import { serialize } from '../../parse/json/transfer.ts';
import { TaskFault } from '../errors.ts';
import type { Job } from './job.ts';
import { createJudges, type Judges } from './judges.ts';
import { createMachineScale } from './machine-scale.ts';
import { createTaskRunner } from './task-runner.ts';
import { openThread, THREAD_LIMITS, type Thread } from './thread.ts';
import { createThreadQueue } from './thread-queue.ts';
import {
  openEndlessAccount,
  openScanAccount,
  type ScanAccount,
  type WorkAccount,
} from './work-account.ts';

export type PoolOptions = {
  /** Default: one a core, from 2 to 8. */
  readonly threads?: number;
  /** CPU time of one task, default 1,000. */
  readonly cpuMs?: number;
  /** CPU time of the first try of a task, default 100. */
  readonly firstTryMs?: number;
  /** CPU time of all tasks of one scan over the origin's own documents, default 5,000. */
  readonly originMs?: number;
  /** CPU time of all tasks of one scan over what third parties said, default 2,500. */
  readonly standingMs?: number;
  /** One of several threads takes only scans that used less than this, default 500. */
  readonly lightMs?: number;
  /** Time on the wall of one task, default 10,000. */
  readonly wallMs?: number;
  /** Old-space heap of a thread, default 64. */
  readonly heapMb?: number;
  /** Until a thread without a task ends, default 60,000; its next task boots another. */
  readonly idleMs?: number;
  /** Tasks that may wait, default 2,500: a hundred scans. */
  readonly maxWaiting?: number;
  /** Opened with THREAD_LIMITS and booting already: the one thread of this pool. */
  readonly booted?: Thread;
  /** Told of tasks that threw twice, and of errors that belong to no task; default: dropped. */
  readonly onError?: (error: Error) => void;
};

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

export type Pool = Judges & {
  /**
   * Boots the threads that are not there, so that they load while others work; resolves once they do.
   * `modules`: file URLs of what their tasks will need.
   */
  start(modules?: readonly string[]): Promise<void>;
  /** The budgets of one scan; a replay has none, because its recording says what became of them. */
  openScan(kind?: 'scan' | 'replay'): ScanAccount;
  /**
   * The function's answer, for the caller to parse. Rejects with TaskLimitExceeded, TaskFault,
   * EngineFault, or the signal's reason.
   */
  run(task: PoolTask): Promise<unknown>;
  /**
   * Measures this machine, once: on a slow one every limit of CPU time is as much longer. The first
   * task that is cut waits for it, so callers need not.
   */
  calibrate(): Promise<void>;
  load(): PoolLoad;
  /** Kills what runs and refuses what waits. */
  close(): Promise<void>;
};

export type PoolLoad = {
  /** That there may be. */
  readonly threads: number;
  /** That are there: none before the first task, and after a while without any. */
  readonly alive: number;
  /** Tasks. */
  readonly running: number;
  readonly waiting: number;
};

const DEFAULTS = {
  ...THREAD_LIMITS,
  cpuMs: 1_000,
  firstTryMs: 100,
  originMs: 5_000,
  standingMs: 2_500,
  lightMs: 500,
  maxWaiting: 2_500,
} as const satisfies PoolOptions & { startMs: number };

export function createPool(options: PoolOptions = {}): Pool {
  const settings = { ...DEFAULTS, ...options };
  const threads = options.booted
    ? [options.booted]
    : Array.from({ length: options.threads ?? defaultThreads() }, () => openThread(settings));
  const queue = createThreadQueue(threads, settings);
  const machine = createMachineScale((task) => tasks.run(task, undefined));
  const tasks = createTaskRunner(queue, {
    firstTryMs: () => settings.firstTryMs * machine.scale(),
    cpuMs: () => settings.cpuMs * machine.scale(),
    // A machine that could not be measured is taken for a fast one.
    afterCut: () => machine.calibrate().catch(() => undefined),
  });
  const endless = openEndlessAccount('').origin;
  let scans = 0;

  return {
    async start(modules) {
      await Promise.all(threads.map((thread) => tasks.start(thread, modules)));
    },
    openScan(kind = 'scan') {
      scans += 1;
      const key = String(scans);
      if (kind === 'replay') return openEndlessAccount(key);
      const { originMs, standingMs, lightMs } = settings;
      // The machine may be measured while the scan asks its first questions.
      return openScanAccount(
        key,
        { origin: originMs, standing: standingMs, lightMs },
        machine.scale,
      );
    },
    async run({ module, exportName, input, account = endless, signal }) {
      const address = (ticket: number): Job => {
        return { kind: 'run', ticket, module, exportName, input: serialize(input) };
      };
      try {
        return await tasks.run({ name: exportName, address, account }, signal);
      } catch (error) {
        if (error instanceof TaskFault) settings.onError(error);
        throw error;
      }
    },
    ...createJudges(tasks, settings.onError),
    calibrate: machine.calibrate,
    load() {
      const alive = threads.filter((thread) => thread.isAlive()).length;
      return { threads: threads.length, alive, ...queue.counts() };
    },
    async close() {
      tasks.close();
      await Promise.all(threads.map((thread) => thread.close()));
    },
  };
}

function defaultThreads(): number {
  return Math.min(Math.max(availableParallelism(), 2), 8);
}
