import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Worker } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { armDeadline, type Expiry } from './deadline.ts';
import { createFairQueue } from './fair-queue.ts';
import {
  isThreadMessage,
  type Job,
  type JobAnswer,
  type JobFailure,
  type JobResult,
  type LoadJob,
  type ThreadMessage,
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

export type JobAttempt = {
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

/** Threads that can be killed separately. A new thread replaces a failed thread. */
export type Threads = {
  /** Rejects with PoolSaturated, with the errors of `work` and `cpuMs`, or with the signal's reason. */
  attempt(attempt: JobAttempt): Promise<JobAnswer>;
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
  let lastTicket = 0;

  piscina.on('message', (message: unknown) => {
    if (!isThreadMessage(message)) return;
    attempts.get(message.ticket)?.handleMessage(message);
  });
  // Without a listener a throw between tasks would end the process.
  piscina.on('error', onError);

  const findThread = (id: number) => piscina.threads.find(({ threadId }) => threadId === id);
  const watchedThreads = new WeakSet<Worker>();
  /** Watches new threads. A thread that fails while it boots has no task yet, so Piscina would let the task wait. */
  function watchBoots(): void {
    for (const thread of piscina.threads.filter((each) => !watchedThreads.has(each))) {
      watchedThreads.add(thread);
      const fail = (error: Error) => {
        // Piscina gave the last task to this thread. Earlier tasks may be on other threads that still load modules.
        const booting = [...attempts.values()].findLast(({ isStarted }) => !isStarted());
        booting?.fail(toBootFailure(error));
      };
      thread.once('error', fail);
      // The first message says that the thread is ready. From now on Piscina knows to which task an error belongs.
      thread.once('message', () => thread.off('error', fail));
    }
  }

  async function attempt(
    { work, cpuMs, signal }: JobAttempt,
    onStarted: () => void,
  ): Promise<JobAnswer> {
    signal.throwIfAborted();
    const limits = { cpuMs: cpuMs(), wallMs, startMs, onStarted };
    lastTicket += 1;
    const ticket = lastTicket;
    const job: Job = { ...work(), kind: 'work', ticket };
    const running = startAttempt(limits, findThread);
    attempts.set(ticket, running);
    const abandon = () => running.fail({ kind: 'thread-failed', detail: 'given up' });
    signal.addEventListener('abort', abandon, { once: true });
    try {
      const answer = piscina.run(job, { signal: running.killSignal });
      watchBoots();
      return await answer;
    } catch (error) {
      signal.throwIfAborted();
      return running.toAnswer(error);
    } finally {
      signal.removeEventListener('abort', abandon);
      attempts.delete(ticket);
      running.end();
    }
  }

  return {
    async attempt(request) {
      const endWait = request.account.startWait();
      try {
        return await queue.run(request.account, () => attempt(request, endWait), request.signal);
      } finally {
        endWait();
      }
    },
    async start(modules) {
      const missing = Math.max(threads - piscina.threads.length, 0);
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
    env: threadEnvironment(),
    resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: YOUNG_HEAP_MB },
    ...(execArgv ? { execArgv: [...execArgv] } : {}),
  });
}

/** An attempt that runs on a thread. Its first failure kills the thread. */
type Attempt = {
  readonly killSignal: AbortSignal;
  isStarted(): boolean;
  handleMessage(message: ThreadMessage): void;
  fail(failure: JobFailure, cpuMs?: number): void;
  /** Returns the answer of an attempt that rejected with `error`. */
  toAnswer(error: unknown): JobAnswer;
  /** Stops the timers. */
  end(): void;
};

type AttemptLimits = Pick<ThreadsOptions, 'wallMs' | 'startMs'> & {
  readonly cpuMs: number;
  /** Called when the thread begins the task. Until then the task waits for us. */
  readonly onStarted: () => void;
};

function startAttempt(
  limits: AttemptLimits,
  findThread: (threadId: number) => Worker | undefined,
): Attempt {
  const killer = new AbortController();
  let firstFailure: JobFailure | undefined;
  let usedMs: number | undefined;
  let startedAtMs: number | undefined;
  let disarm = () => {};
  const fail = (failure: JobFailure, cpuMs?: number) => {
    firstFailure ??= failure;
    usedMs ??= cpuMs;
    killer.abort();
  };
  const expire = (expiry: Expiry) => fail(toExpiryFailure(expiry));
  const bootTimer = setTimeout(() => fail(NEVER_STARTED), limits.startMs);
  return {
    killSignal: killer.signal,
    isStarted: () => startedAtMs !== undefined,
    fail,
    handleMessage(message) {
      if (message.kind === 'failed') return fail(message.failure, message.cpuMs);
      clearTimeout(bootTimer);
      startedAtMs = performance.now();
      limits.onStarted();
      const thread = findThread(message.threadId);
      if (thread) disarm = armDeadline(thread, message.cpu, limits, expire);
    },
    toAnswer(error) {
      // A killed thread cannot tell its processor time. We charge the elapsed time, at most its limit.
      const ranMs = startedAtMs === undefined ? 0 : performance.now() - startedAtMs;
      return {
        ...(firstFailure ?? toJobFailure(error)),
        cpuMs: usedMs ?? Math.min(ranMs, limits.cpuMs),
      };
    },
    end() {
      clearTimeout(bootTimer);
      disarm();
    },
  };
}

const NEVER_STARTED: JobFailure = { kind: 'thread-failed', detail: 'the thread did not start' };

function toExpiryFailure(expiry: Expiry): JobFailure {
  if (expiry === 'starved')
    return { kind: 'thread-failed', detail: 'the thread got no processor time' };
  return { kind: 'limit', limit: 'time' };
}

function toBootFailure(error: Error): JobFailure {
  const failure = toJobFailure(error);
  return failure.kind === 'threw' ? { ...failure, kind: 'thread-failed' } : failure;
}

/** An error that ends a thread during a task, such as an unhandled rejection, counts as an error of the task. */
function toJobFailure(error: unknown): JobFailure {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ERR_WORKER_OUT_OF_MEMORY') return { kind: 'limit', limit: 'memory' };
  const detail = error instanceof Error ? error.message : typeof error;
  return { kind: code === 'ERR_WORKER_INIT_FAILED' ? 'thread-failed' : 'threw', detail };
}

/**
 * Returns the environment variables of worker threads. They get no settings of the process, because those contain keys.
 * Threads do not inherit the compile cache. With this variable, they use the cache from their first module on.
 */
export function threadEnvironment(): Readonly<Record<string, string>> {
  const folder = getCompileCacheDir();
  // Node returns its own subfolder of the cache folder, and the variable must name the parent folder.
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) };
}
