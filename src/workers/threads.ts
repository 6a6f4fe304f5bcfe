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
  /** Threads that there may be. They boot for their first task. */
  readonly threads: number;
  /** File URL of what a thread loads first; its default export is that of worker.ts. */
  readonly entry: URL;
  readonly heapMb: number;
  /** Time on the wall of one attempt. */
  readonly wallMs: number;
  /** Time in ms for a task to start, which includes booting a thread and loading modules on a slow machine. */
  readonly startMs: number;
  /** Time in ms after which a thread without a task ends. */
  readonly idleMs: number;
  readonly maxWaiting: number;
  /** Further arguments of Node on each thread: tests watch its sockets. */
  readonly execArgv?: readonly string[] | undefined;
  /** Told of an error outside any task, such as the throw of a timer that a task left behind. */
  readonly onError: (error: Error) => void;
};

export type JobAttempt = {
  readonly account: WorkAccount;
  /** Called when a thread is free: many scans that wait would else hold their documents twice. */
  readonly work: () => Work;
  /** Processor time that it may take. Called in its turn, as what its scan has left. */
  readonly cpuMs: () => number;
  readonly signal: AbortSignal;
};

/** Threads that can be killed one by one; each is a fresh one after a failure. */
export type Threads = {
  /** Rejects with PoolSaturated, with what `work` and `cpuMs` throw, or with the signal's reason. */
  attempt(attempt: JobAttempt): Promise<JobAnswer>;
  /** Boots the threads that are not there, and loads `modules` on all; resolves once they have; never rejects. */
  start(modules: readonly string[]): Promise<void>;
  counts(): { readonly alive: number; readonly running: number; readonly waiting: number };
  /** Kills what runs. */
  close(): Promise<void>;
};

/** V8 would take 48 a thread, and keep them; tasks are short and small. */
const YOUNG_HEAP_MB = 8;

/**
 * Hazard: V8 ends the whole process, not the worker, when one native call allocates more than about
 * 16 MB beyond the heap limit (JSON.parse of millions of values, an array of tens of millions).
 * Bodies are capped and JSON is measured before it is parsed; buffers are banned in checks.
 */
export function openThreads(options: ThreadsOptions): Threads {
  const { threads, wallMs, startMs, maxWaiting, onError } = options;
  const piscina = createPiscina(options);
  const queue = createFairQueue({ places: threads, maxWaiting });
  const trials = new Map<number, Trial>();
  let tickets = 0;

  piscina.on('message', (message: unknown) => {
    if (!isThreadMessage(message)) return;
    trials.get(message.ticket)?.hear(message);
  });
  // Without a listener a throw between tasks would end the process.
  piscina.on('error', onError);

  const watched = new WeakSet<Worker>();
  /** A thread that breaks as it boots has no task yet, and the one that waits for it would wait on. */
  function watchBoots(): void {
    for (const thread of piscina.threads.filter((one) => !watched.has(one))) {
      watched.add(thread);
      const fail = (error: Error) => {
        // The last one: those before it may be on other threads, which load their modules.
        const booting = [...trials.values()].findLast(({ isStarted }) => !isStarted());
        booting?.fail(brokenBoot(error));
      };
      thread.once('error', fail);
      // The first message says that the thread is ready: from then on Piscina knows whose its errors are.
      thread.once('message', () => thread.off('error', fail));
    }
  }

  async function attempt({ work, cpuMs, signal }: JobAttempt): Promise<JobAnswer> {
    signal.throwIfAborted();
    const limits = { cpuMs: cpuMs(), wallMs, startMs };
    tickets += 1;
    const ticket = tickets;
    const job: Job = { ...work(), kind: 'work', ticket };
    const trial = openTrial(limits, (id) => piscina.threads.find((one) => one.threadId === id));
    trials.set(ticket, trial);
    const abandon = () => trial.fail({ kind: 'trouble', detail: 'given up' });
    signal.addEventListener('abort', abandon, { once: true });
    try {
      const answer = piscina.run(job, { signal: trial.killed });
      watchBoots();
      return await answer;
    } catch (error) {
      signal.throwIfAborted();
      return trial.failure(error);
    } finally {
      signal.removeEventListener('abort', abandon);
      trials.delete(ticket);
      trial.end();
    }
  }

  return {
    attempt: (one) => queue.run(one.account, () => attempt(one), one.signal),
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
    // The default blocks the thread while it waits, and freezes whatever else lives on it.
    atomics: 'async',
    recordTiming: false,
    env: threadEnvironment(),
    resourceLimits: {
      maxOldGenerationSizeMb: heapMb,
      maxYoungGenerationSizeMb: YOUNG_HEAP_MB,
    },
    ...(execArgv ? { execArgv: [...execArgv] } : {}),
  });
}

/** One run of a task: it is killed by its first failure. */
type Trial = {
  readonly killed: AbortSignal;
  isStarted(): boolean;
  hear(said: ThreadMessage): void;
  fail(failure: JobFailure, cpuMs?: number): void;
  /** The answer of a run that rejected with `error`. */
  failure(error: unknown): JobAnswer;
  /** Disarms its timers. */
  end(): void;
};

type TrialLimits = {
  readonly cpuMs: number;
  readonly wallMs: number;
  readonly startMs: number;
};

function openTrial(
  limits: TrialLimits,
  findThread: (threadId: number) => Worker | undefined,
): Trial {
  const killer = new AbortController();
  let known: JobFailure | undefined;
  let usedMs: number | undefined;
  let startedAt: number | undefined;
  let disarm = () => {};
  const fail = (failure: JobFailure, cpuMs?: number) => {
    known ??= failure;
    usedMs ??= cpuMs;
    killer.abort();
  };
  const booting = setTimeout(() => fail(NEVER_STARTED), limits.startMs);
  return {
    killed: killer.signal,
    isStarted: () => startedAt !== undefined,
    fail,
    hear(said) {
      if (said.kind === 'failed') return fail(said.failure, said.cpuMs);
      clearTimeout(booting);
      startedAt = performance.now();
      const thread = findThread(said.threadId);
      if (thread) disarm = armDeadline(thread, said.cpu, limits, (why) => fail(expired(why)));
    },
    failure(error) {
      // A thread that was killed cannot say what it used: all that it was given, or the time since it began.
      const ranMs = startedAt === undefined ? 0 : performance.now() - startedAt;
      return { ...(known ?? failureOf(error)), cpuMs: usedMs ?? Math.min(ranMs, limits.cpuMs) };
    },
    end() {
      clearTimeout(booting);
      disarm();
    },
  };
}

const NEVER_STARTED: JobFailure = { kind: 'trouble', detail: 'the thread did not start' };

function expired(why: Expiry): JobFailure {
  if (why === 'starved') return { kind: 'trouble', detail: 'the thread got no processor time' };
  return { kind: 'limit', limit: 'time' };
}

function brokenBoot(error: Error): JobFailure {
  const failure = failureOf(error);
  return failure.kind === 'threw' ? { ...failure, kind: 'trouble' } : failure;
}

/** An error that ends a thread in the middle of its work, as a floating rejection does, is the work's own. */
function failureOf(error: unknown): JobFailure {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ERR_WORKER_OUT_OF_MEMORY') return { kind: 'limit', limit: 'memory' };
  const detail = error instanceof Error ? error.message : typeof error;
  return { kind: code === 'ERR_WORKER_INIT_FAILED' ? 'trouble' : 'threw', detail };
}

/**
 * The environment of worker threads. Settings of the process hold keys, and no task needs them. Threads inherit no compile
 * cache: by its variable they have it from their first module on, and load no compiler of types.
 */
export function threadEnvironment(): Readonly<Record<string, string>> {
  const folder = getCompileCacheDir();
  // It names the folder of this version of Node, inside of the one that was given.
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) };
}
