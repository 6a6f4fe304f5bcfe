/**
 * One worker thread that can be killed, and is a fresh one after every failure. It boots for its
 * first task and ends after a while without any. Callers submit one task at a time.
 *
 * Hazard: V8 ends the whole process, not the worker, when one native call allocates more than about
 * 16 MB beyond the heap limit (JSON.parse of millions of values, an array of tens of millions).
 * Bodies are capped and JSON is measured before it is parsed; buffers are banned in checks.
 */
import { fileURLToPath } from 'node:url';
import type { Worker } from 'node:worker_threads';
import type { Piscina } from 'piscina';
import { armDeadline, type DeadlineOptions, type Expiry } from './deadline.ts';
import {
  type Answer,
  type Failure,
  isStarted,
  type Job,
  type LoadJob,
  type Started,
} from './job.ts';
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

const WORKER = fileURLToPath(new URL('./worker.ts', import.meta.url));

export function openThread(options: ThreadOptions): Thread {
  let running: Promise<Piscina> | null = null;
  let idle: NodeJS.Timeout | undefined;
  let uses = 0;
  const gone = new Set<Promise<void>>();

  function retire(): void {
    clearTimeout(idle);
    if (running === null) return;
    const ending = running
      .then((piscina) => piscina.destroy())
      .catch(options.onError)
      .finally(() => gone.delete(ending));
    gone.add(ending);
    running = null;
  }

  /** Boots a thread where there is none, and lets it rest when it was the last use. */
  async function use<Result>(work: (piscina: Piscina) => Promise<Result>): Promise<Result> {
    clearTimeout(idle);
    uses += 1;
    try {
      running ??= boot(options);
      return await work(await running);
    } finally {
      uses -= 1;
      if (uses === 0) idle = setTimeout(retire, options.idleMs).unref();
    }
  }

  return {
    attempt(job, cpuMs, signal) {
      const deadline = { cpuMs, wallMs: options.wallMs };
      return use(async (piscina) => {
        const answer = await attempt(piscina, deadline, options.startMs, job, signal);
        // Where the thread was killed or crashed, Piscina has put a new one in its place already.
        if (answer.kind !== 'done' && answer.alive) retire();
        return answer;
      });
    },
    async boot() {
      await use(async () => undefined).catch(() => undefined);
    },
    async load(modules) {
      const job: LoadJob = { kind: 'load', modules };
      await use((piscina) => piscina.run(job)).catch(() => undefined);
    },
    isAlive: () => running !== null,
    async close() {
      retire();
      await Promise.all(gone);
    },
  };
}

async function boot(options: ThreadOptions): Promise<Piscina> {
  // Loaded with the first task: a service at rest has none.
  const { Piscina } = await import('piscina');
  const piscina = new Piscina({
    filename: WORKER,
    name: 'work',
    // Equal, or an idle thread is ended and started again, with all modules to load.
    minThreads: 1,
    maxThreads: 1,
    // The default blocks the thread while it waits, and freezes whatever else lives on it.
    atomics: 'async',
    resourceLimits: {
      maxOldGenerationSizeMb: options.heapMb,
      maxYoungGenerationSizeMb: YOUNG_HEAP_MB,
    },
    env: threadEnvironment(),
  });
  // Without a listener a throw between tasks would end the host.
  piscina.on('error', options.onError);
  return piscina;
}

type Ended = Answer & { readonly alive: boolean };
type Why = Expiry | 'never-started';

async function attempt(
  piscina: Piscina,
  deadline: DeadlineOptions,
  startMs: number,
  job: Job,
  signal: AbortSignal,
): Promise<Ended> {
  signal.throwIfAborted();
  const killer = new AbortController();
  const kill = () => killer.abort();
  let expiry: Why | undefined;
  let startedAt: number | undefined;
  const expire = (why: Why) => {
    expiry = why;
    kill();
  };
  let disarm = () => {};
  const booting = setTimeout(() => expire('never-started'), startMs);
  const onMessage = (message: unknown) => {
    if (!isStarted(message) || message.ticket !== job.ticket) return;
    clearTimeout(booting);
    startedAt = performance.now();
    const worker = workerOf(piscina, message);
    if (worker) disarm = armDeadline(worker, message.cpu, deadline, expire);
  };

  piscina.on('message', onMessage);
  signal.addEventListener('abort', kill, { once: true });
  try {
    const answer: Answer = await piscina.run(job, { signal: killer.signal });
    return { ...answer, alive: true };
  } catch (error) {
    signal.throwIfAborted();
    // What was killed cannot say what it used: all that it was given, or the time since it began.
    const ranMs = startedAt === undefined ? 0 : performance.now() - startedAt;
    const cpuMs = Math.min(ranMs, deadline.cpuMs);
    return { ...toFailure(error, expiry), cpuMs, alive: false };
  } finally {
    signal.removeEventListener('abort', kill);
    piscina.off('message', onMessage);
    clearTimeout(booting);
    disarm();
  }
}

function workerOf(piscina: Piscina, { threadId }: Started): Worker | undefined {
  return piscina.threads.find((one) => one.threadId === threadId);
}

function toFailure(error: unknown, expiry: Why | undefined): Failure {
  if (expiry === 'cpu' || expiry === 'stuck') return { kind: 'limit', limit: 'time' };
  if (expiry === 'starved') return { kind: 'trouble', detail: 'the thread got no CPU time' };
  if (expiry === 'never-started') return { kind: 'trouble', detail: 'the thread did not start' };
  const code = codeOf(error);
  if (code === 'ERR_WORKER_OUT_OF_MEMORY') return { kind: 'limit', limit: 'memory' };
  const detail = error instanceof Error ? error.message : String(error);
  // What ends a thread in the middle of its work, as a floating rejection does, is the work's own.
  return { kind: code === 'ERR_WORKER_INIT_FAILED' ? 'trouble' : 'threw', detail };
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
