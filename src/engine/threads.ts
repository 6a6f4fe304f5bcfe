/**
 * Worker threads that can be killed. Callers submit at most one task per thread.
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
  readonly size: number;
  readonly heapMb: number;
  /** Until a task must have started: to boot a thread and load modules, on a slow machine. */
  readonly startMs: number;
  /** What broke outside any task, such as a timer that a task left behind. */
  readonly onStray: (error: Error) => void;
};

export type Threads = {
  /** Never rejects but with the signal's reason. */
  attempt(job: Job, signal?: AbortSignal): Promise<Answer>;
  /** Kills what runs. */
  close(): Promise<void>;
};

/** V8 would take 48 a thread, and keep them; tasks are short and small. */
const YOUNG_HEAP_MB = 8;

const WORKER = fileURLToPath(new URL('./worker.ts', import.meta.url));

export function openThreads(options: ThreadOptions): Threads {
  const piscina = new Piscina({
    filename: WORKER,
    name: 'work',
    // Equal, or idle threads are ended and started again, with all modules to load.
    minThreads: options.size,
    maxThreads: options.size,
    // The default blocks the thread while it waits, and freezes whatever else lives on it.
    atomics: 'async',
    resourceLimits: {
      maxOldGenerationSizeMb: options.heapMb,
      maxYoungGenerationSizeMb: YOUNG_HEAP_MB,
    },
    // Settings of the host hold keys; no task has any use for them.
    env: {},
  });
  const pending = new Map<number, (started: Started) => void>();
  piscina.on('message', (message: unknown) => {
    if (isStarted(message)) pending.get(message.ticket)?.(message);
  });
  // Without a listener a throw between tasks would end the host.
  piscina.on('error', options.onStray);

  return {
    attempt: (job, signal) => attempt(piscina, pending, options, job, signal),
    close: () => piscina.destroy(),
  };
}

async function attempt(
  piscina: Piscina,
  pending: Map<number, (started: Started) => void>,
  options: ThreadOptions,
  job: Job,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  signal?.throwIfAborted();
  const killer = new AbortController();
  const kill = () => killer.abort();
  let expiry: Expiry | 'never-started' | undefined;
  const expire = (why: Expiry | 'never-started') => {
    expiry = why;
    kill();
  };
  let disarm = () => {};
  const booting = setTimeout(() => expire('never-started'), options.startMs);

  pending.set(job.ticket, ({ threadId, cpu }) => {
    clearTimeout(booting);
    const worker = piscina.threads.find((one: Worker) => one.threadId === threadId);
    if (worker) disarm = armDeadline(worker, cpu, options, expire);
  });
  signal?.addEventListener('abort', kill, { once: true });
  try {
    const answer: Answer = await piscina.run(job, { signal: killer.signal });
    return answer;
  } catch (error) {
    signal?.throwIfAborted();
    return toAnswer(error, expiry);
  } finally {
    signal?.removeEventListener('abort', kill);
    pending.delete(job.ticket);
    clearTimeout(booting);
    disarm();
  }
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
