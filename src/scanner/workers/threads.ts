import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Worker } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { Attempt } from './attempt.ts';
import { createFairQueue } from './fair-queue.ts';
import {
  isThreadMessage,
  type Job,
  type JobAnswer,
  type JobResult,
  type LoadJob,
  type Work,
} from './job.ts';
import type { WorkAccount } from './work-account.ts';

export type ThreadsOptions = {
  /** Greatest number of threads. A thread boots when a task needs it. */
  readonly threads: number;
  /** File URL of the module that a thread runs: `worker.ts`, or another one with the same default export. */
  readonly entry: URL;
  readonly heapMb: number;
  /** Limit of elapsed time for one attempt. */
  readonly wallMs: number;
  /** Limit of the time until a task starts, ms. A slow machine boots a thread and loads modules in this time. */
  readonly startMs: number;
  /** Time in ms after which a thread without a task ends. */
  readonly idleMs: number;
  readonly maxWaiting: number;
  /** Further arguments of Node for each thread. Only tests set them. */
  readonly execArgv?: readonly string[] | undefined;
  /** Called with an error outside all tasks, such as the error of a timer that a task did not stop. */
  readonly onError: (error: Error) => void;
};

export type AttemptRequest = {
  readonly account: WorkAccount;
  /**
   * Called when a thread is free. If it were called earlier, waiting scans would hold their documents twice in
   * memory.
   */
  readonly work: () => Work;
  /**
   * Limit of processor time. Called when a thread is free, because the scan's remaining budget changes until then.
   */
  readonly cpuMs: () => number;
  readonly signal: AbortSignal;
};

/** Threads that run one task at a time, and that can be killed separately. A new thread replaces a failed thread. */
export type Threads = {
  /** Rejects with PoolSaturated, with the errors of `work` and `cpuMs`, or with the signal's reason. */
  attempt(request: AttemptRequest): Promise<JobAnswer>;
  /** Boots all missing threads, and loads `modules` on all threads. Resolves at the end, and never rejects. */
  start(modules: readonly string[]): Promise<void>;
  counts(): { readonly alive: number; readonly running: number; readonly waiting: number };
  /** Kills all threads. */
  close(): Promise<void>;
};

/** V8 would take 48 MB a thread and keep them. Tasks are short and need less. */
const YOUNG_HEAP_MB = 8;

/**
 * Hazard: V8 ends the whole process, not the worker, when one native call allocates more than about
 * 16 MB beyond the heap limit (JSON.parse of millions of values, an array of tens of millions).
 * Bodies are capped and JSON is measured before it is parsed; buffers are banned in checks.
 */
export function openThreads(options: ThreadsOptions): Threads {
  const { threads, wallMs, startMs, maxWaiting, onError } = options;
  const piscina = createPiscina(options);
  const queue = createFairQueue({ maxRunning: threads, maxWaiting });
  const attempts = new Map<number, Attempt>();
  const watchedThreads = new WeakSet<Worker>();
  let lastTicket = 0;

  piscina.on('message', (message: unknown) => {
    if (!isThreadMessage(message)) return;
    const sender = attempts.get(message.ticket);
    if (message.kind === 'failed') sender?.fail(message.failure, message.cpuMs);
    else sender?.start(findThread(message.threadId), message.cpu);
  });
  // Without a listener a throw between tasks would end the process.
  piscina.on('error', onError);

  const findThread = (id: number) => piscina.threads.find(({ threadId }) => threadId === id);

  /** Hazard: a thread that dies before its first message has no task in Piscina, so its task would wait forever. */
  function watchBoots(): void {
    for (const thread of piscina.threads.filter((each) => !watchedThreads.has(each))) {
      watchedThreads.add(thread);
      // The newest waiting task needs this thread. Earlier ones may be on other threads that still load modules.
      const fail = (error: Error) =>
        [...attempts.values()].findLast(({ isStarted }) => !isStarted)?.failBoot(error);
      thread.once('error', fail);
      // From the first message on Piscina knows to which task an error belongs.
      thread.once('message', () => thread.off('error', fail));
    }
  }

  async function runJob(
    { work, cpuMs, signal }: AttemptRequest,
    onStarted: () => void,
  ): Promise<JobAnswer> {
    signal.throwIfAborted();
    lastTicket += 1;
    const ticket = lastTicket;
    const limits = { cpuMs: cpuMs(), wallMs, startMs, onStarted };
    const job: Job = { ...work(), kind: 'work', ticket };
    const current = new Attempt(limits);
    attempts.set(ticket, current);
    const abandon = () => current.fail({ kind: 'thread-failed', detail: 'given up' });
    signal.addEventListener('abort', abandon, { once: true });
    try {
      const answer = piscina.run(job, { signal: current.killSignal });
      watchBoots();
      return await answer;
    } catch (error) {
      signal.throwIfAborted();
      return current.toAnswer(error);
    } finally {
      signal.removeEventListener('abort', abandon);
      attempts.delete(ticket);
      current.stopTimers();
    }
  }

  return {
    async attempt(request) {
      const endWait = request.account.startWait();
      try {
        return await queue.run(request.account, () => runJob(request, endWait), request.signal);
      } finally {
        endWait();
      }
    },
    async start(modules) {
      const missing = Math.max(threads - piscina.threads.length, 0);
      // One job for each thread, all sent at once, so that Piscina boots the missing threads for them.
      const length = modules.length > 0 ? threads : missing;
      const loading = Array.from({ length }, () => piscina.run({ kind: 'load', modules }));
      watchBoots();
      await Promise.allSettled(loading);
    },
    counts: () => ({ alive: piscina.threads.length, ...queue.counts() }),
    close: () => piscina.destroy(),
  };
}

function createPiscina({ threads, entry, heapMb, idleMs, execArgv }: ThreadsOptions) {
  return new Piscina<Job | LoadJob, JobResult>({
    filename: fileURLToPath(entry),
    minThreads: 0,
    maxThreads: threads,
    idleTimeout: idleMs,
    // The default would block the thread while it waits for a task, and with it the thread's other events.
    atomics: 'async',
    recordTiming: false,
    env: createThreadEnvironment(),
    resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: YOUNG_HEAP_MB },
    ...(execArgv ? { execArgv: [...execArgv] } : {}),
  });
}

/**
 * Returns the environment variables of worker threads. They get no settings of the process, because those contain keys.
 * Threads do not inherit the compile cache. With this variable, they use the cache from their first module on.
 */
export function createThreadEnvironment(): Readonly<Record<string, string>> {
  const folder = getCompileCacheDir();
  // Node returns its own subfolder of the cache folder, and the variable must name the parent folder.
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) };
}
