/**
 * One worker thread that can be killed, and is a fresh one after every failure. Callers submit one
 * task at a time.
 *
 * Hazard: V8 ends the whole process, not the worker, when one native call allocates more than about
 * 16 MB beyond the heap limit (JSON.parse of millions of values, an array of tens of millions).
 * Bodies are capped and JSON is measured before it is parsed; buffers are banned in checks.
 */
import { fileURLToPath } from 'node:url';
import type { Worker } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { armDeadline, type DeadlineOptions, type Expiry } from './deadline.ts';
import { type Answer, isStarted, type Job, type Started } from './job.ts';

export type ThreadOptions = DeadlineOptions & {
  readonly heapMb: number;
  /** Until a task must have started: to boot the thread and load modules, on a slow machine. */
  readonly startMs: number;
  /** What broke outside any task, such as a timer that a task left behind. */
  readonly onStray: (error: Error) => void;
};

export type Thread = {
  /** Rejects with the signal's reason and nothing else. */
  attempt(job: Job, signal: AbortSignal): Promise<Answer>;
  /** Kills what runs. */
  close(): Promise<void>;
};

/** V8 would take 48 a thread, and keep them; tasks are short and small. */
const YOUNG_HEAP_MB = 8;

const WORKER = fileURLToPath(new URL('./worker.ts', import.meta.url));

export function openThread(options: ThreadOptions): Thread {
  let piscina = boot(options);
  const gone = new Set<Promise<void>>();

  function retire(): void {
    const ending = piscina.destroy().finally(() => gone.delete(ending));
    gone.add(ending);
  }

  return {
    async attempt(job, signal) {
      const answer = await attempt(piscina, options, job, signal);
      // Where the thread was killed or crashed, Piscina has put a new one in its place already.
      if (answer.kind !== 'done' && answer.alive) {
        retire();
        piscina = boot(options);
      }
      return answer;
    },
    async close() {
      retire();
      await Promise.all(gone);
    },
  };
}

function boot(options: ThreadOptions): Piscina {
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
    // Settings of the host hold keys; no task has any use for them.
    env: {},
  });
  // Without a listener a throw between tasks would end the host.
  piscina.on('error', options.onStray);
  return piscina;
}

async function attempt(
  piscina: Piscina,
  options: ThreadOptions,
  job: Job,
  signal: AbortSignal,
): Promise<Answer & { readonly alive: boolean }> {
  signal.throwIfAborted();
  const killer = new AbortController();
  const kill = () => killer.abort();
  let expiry: Expiry | 'never-started' | undefined;
  const expire = (why: Expiry | 'never-started') => {
    expiry = why;
    kill();
  };
  let disarm = () => {};
  const booting = setTimeout(() => expire('never-started'), options.startMs);
  const onMessage = (message: unknown) => {
    if (!isStarted(message) || message.ticket !== job.ticket) return;
    clearTimeout(booting);
    const worker = workerOf(piscina, message);
    if (worker) disarm = armDeadline(worker, message.cpu, options, expire);
  };

  piscina.on('message', onMessage);
  signal.addEventListener('abort', kill, { once: true });
  try {
    const answer: Answer = await piscina.run(job, { signal: killer.signal });
    return { ...answer, alive: true };
  } catch (error) {
    signal.throwIfAborted();
    return { ...toAnswer(error, expiry), alive: false };
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

function toAnswer(error: unknown, expiry: Expiry | 'never-started' | undefined): Answer {
  if (expiry === 'cpu' || expiry === 'stuck') return { kind: 'limit', limit: 'time' };
  if (expiry === 'starved') return { kind: 'fault', detail: 'the thread got no CPU time' };
  if (expiry === 'never-started') return { kind: 'fault', detail: 'the thread did not start' };
  if (codeOf(error) === 'ERR_WORKER_OUT_OF_MEMORY') return { kind: 'limit', limit: 'memory' };
  return { kind: 'fault', detail: error instanceof Error ? error.message : String(error) };
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
