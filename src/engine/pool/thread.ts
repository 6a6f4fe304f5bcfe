/**
 * One worker thread that can be killed, and is a fresh one after every failure. It boots for its
 * first task and ends after a while without any. Callers submit one task at a time.
 *
 * Hazard: V8 ends the whole process, not the worker, when one native call allocates more than about
 * 16 MB beyond the heap limit (JSON.parse of millions of values, an array of tens of millions).
 * Bodies are capped and JSON is measured before it is parsed; buffers are banned in checks.
 */
import { Worker } from 'node:worker_threads';
import { armDeadline, type DeadlineOptions, type Expiry } from './deadline.ts';
import type { Answer, Failure, Job, LoadJob, Said, Started } from './job.ts';
import { threadEnvironment } from './thread-environment.ts';

export type ThreadOptions = {
  readonly heapMb: number;
  /** Time on the wall of one attempt. */
  readonly wallMs: number;
  /** Until a task must have started: to boot the thread and load modules, on a slow machine. */
  readonly startMs: number;
  /** Until a thread without a task ends. */
  readonly idleMs: number;
  /** What broke outside any task, such as a timer that a task left behind. */
  readonly onError: (error: Error) => void;
};

/** What tasks of a scan are given. */
export const THREAD_LIMITS: ThreadOptions = {
  heapMb: 64,
  wallMs: 10_000,
  startMs: 60_000,
  idleMs: 60_000,
  onError: () => {},
};

export type Thread = {
  /** At most `cpuMs` of CPU time. Rejects with the signal's reason and nothing else. */
  attempt(job: Job, cpuMs: number, signal: AbortSignal): Promise<Answer>;
  /** Once the thread boots, where there was none; never rejects. */
  boot(): Promise<void>;
  /** Once a thread is there that has loaded `modules`; never rejects. */
  load(modules: readonly string[]): Promise<void>;
  /** Whether the thread is there, or boots. */
  isAlive(): boolean;
  /** Kills what runs. */
  close(): Promise<void>;
};

/** V8 would take 48 a thread, and keep them; tasks are short and small. */
const YOUNG_HEAP_MB = 8;

const WORKER = new URL('./worker.ts', import.meta.url);

export function openThread(options: ThreadOptions): Thread {
  let running: Worker | null = null;
  let idle: NodeJS.Timeout | undefined;
  let uses = 0;
  let loads = 0;
  const gone = new Set<Promise<unknown>>();

  function forget(worker: Worker, error: Error | null): void {
    if (running === worker) running = null;
    // What breaks in the middle of a job is the answer to it.
    if (error !== null && uses === 0) options.onError(error);
  }

  function retire(worker = running): void {
    if (worker === null) return;
    if (running === worker) running = null;
    const ending = worker.terminate().finally(() => gone.delete(ending));
    gone.add(ending);
  }

  /** Boots a thread where there is none, and lets it rest when it was the last use. */
  async function use<Result>(work: (worker: Worker) => Promise<Result>): Promise<Result> {
    clearTimeout(idle);
    uses += 1;
    try {
      running ??= startWorker(options, forget);
      const worker = running;
      worker.ref();
      return await work(worker);
    } finally {
      uses -= 1;
      if (uses === 0) {
        running?.unref();
        idle = setTimeout(() => retire(), options.idleMs).unref();
      }
    }
  }

  return {
    async attempt(job, cpuMs, signal) {
      signal.throwIfAborted();
      const deadline = { cpuMs, wallMs: options.wallMs };
      return await use(async (worker) => {
        const answer = await attempt(worker, deadline, options.startMs, job, signal);
        if (answer.kind === 'done') return answer;
        retire(worker);
        signal.throwIfAborted();
        return answer;
      });
    },
    async boot() {
      await use(async () => undefined).catch(() => undefined);
    },
    async load(modules) {
      loads += 1;
      // Tickets of jobs count up from zero.
      const job: LoadJob = { kind: 'load', ticket: -loads, modules };
      await use((worker) => answerTo(worker, job).answer).catch(() => undefined);
    },
    isAlive: () => running !== null,
    async close() {
      clearTimeout(idle);
      retire();
      await Promise.all(gone);
    },
  };
}

/** `onGone` hears of its end, with the error where that was one: without a listener it would end the host. */
function startWorker(
  { heapMb }: ThreadOptions,
  onGone: (worker: Worker, error: Error | null) => void,
): Worker {
  const worker = new Worker(WORKER, {
    name: 'work',
    env: threadEnvironment(),
    resourceLimits: {
      maxOldGenerationSizeMb: heapMb,
      maxYoungGenerationSizeMb: YOUNG_HEAP_MB,
    },
  });
  worker.on('error', (error: Error) => onGone(worker, error));
  return worker.on('exit', () => onGone(worker, null));
}

type Asked = {
  readonly answer: Promise<Answer>;
  /** Resolves `answer`, unless it is there already. */
  readonly settle: (answer: Answer) => void;
};

/** What the thread says to this job, or what became of it. `onStarted` hears where the work begins. */
function answerTo(
  worker: Worker,
  job: Job | LoadJob,
  onStarted?: (started: Started) => void,
): Asked {
  const { promise, resolve } = Promise.withResolvers<Answer>();
  const onMessage = (said: Said) => {
    if (said.ticket !== job.ticket) return;
    if (said.kind === 'answer') resolve(said.answer);
    else onStarted?.(said);
  };
  const onError = (error: Error) => resolve({ ...failureOf(error), cpuMs: 0 });
  const onExit = () => resolve({ kind: 'trouble', detail: 'the thread ended', cpuMs: 0 });
  worker.on('message', onMessage).on('error', onError).on('exit', onExit);
  worker.postMessage(job);
  const answer = promise.finally(() => {
    worker.off('message', onMessage).off('error', onError).off('exit', onExit);
  });
  return { answer, settle: resolve };
}

async function attempt(
  worker: Worker,
  deadline: DeadlineOptions,
  startMs: number,
  job: Job,
  signal: AbortSignal,
): Promise<Answer> {
  let startedAt: number | undefined;
  let disarm = () => {};
  const asked = answerTo(worker, job, ({ cpu }) => {
    clearTimeout(booting);
    startedAt = performance.now();
    disarm = armDeadline(worker, cpu, deadline, (why) => end(expired(why)));
  });
  // What was killed cannot say what it used: all that it was given, or the time since it began.
  const usedMs = () =>
    startedAt === undefined ? 0 : Math.min(performance.now() - startedAt, deadline.cpuMs);
  const end = (failure: Failure) => asked.settle({ ...failure, cpuMs: usedMs() });
  const booting = setTimeout(() => end(NEVER_STARTED), startMs);
  const abort = () => end({ kind: 'trouble', detail: 'given up' });
  signal.addEventListener('abort', abort, { once: true });
  try {
    const answer = await asked.answer;
    return answer.kind === 'done' || answer.cpuMs > 0 ? answer : { ...answer, cpuMs: usedMs() };
  } finally {
    signal.removeEventListener('abort', abort);
    clearTimeout(booting);
    disarm();
  }
}

const NEVER_STARTED: Failure = { kind: 'trouble', detail: 'the thread did not start' };

function expired(why: Expiry): Failure {
  if (why === 'starved') return { kind: 'trouble', detail: 'the thread got no CPU time' };
  return { kind: 'limit', limit: 'time' };
}

/** What ends a thread in the middle of its work, as a floating rejection does, is the work's own. */
function failureOf(error: Error & { readonly code?: string }): Failure {
  if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') return { kind: 'limit', limit: 'memory' };
  return {
    kind: error.code === 'ERR_WORKER_INIT_FAILED' ? 'trouble' : 'threw',
    detail: error.message,
  };
}
