import type { Worker } from 'node:worker_threads';
import type { JobAnswer, JobFailure } from './job.ts';

export type AttemptLimits = {
  /** Limit of the time until the task starts, ms. */
  readonly startMs: number;
  /** Limit of processor time. A task that waits on a busy machine uses none. */
  readonly cpuMs: number;
  /** Limit of elapsed time, also for a task whose processor time grows slowly or cannot be read. */
  readonly wallMs: number;
  /** Called when the thread begins the task. Until then the task waits for us. */
  readonly onStarted: () => void;
};

/** One try of a task. Its thread boots or loads modules, then runs the task. The first failure kills the thread. */
export class Attempt {
  readonly #limits: AttemptLimits;
  readonly #killer = new AbortController();
  #disarm: () => void;
  #startedAtMs: number | null = null;
  #failure: JobFailure | null = null;
  #usedMs: number | null = null;

  constructor(limits: AttemptLimits) {
    this.#limits = limits;
    const bootTimer = setTimeout(() => this.fail(NEVER_STARTED), limits.startMs);
    this.#disarm = () => clearTimeout(bootTimer);
  }

  /** Aborted by the first failure. */
  get killSignal(): AbortSignal {
    return this.#killer.signal;
  }

  get isStarted(): boolean {
    return this.#startedAtMs !== null;
  }

  /**
   * The thread calls the function now, so the deadline begins.
   * @param cpu processor time of the thread so far; null if Node cannot tell
   */
  start(thread: Worker | undefined, cpu: NodeJS.CpuUsage | null): void {
    this.stopTimers();
    this.#startedAtMs = performance.now();
    this.#limits.onStarted();
    if (thread === undefined) return;
    this.#disarm = armDeadline(thread, cpu, this.#limits, (failure) => this.fail(failure));
  }

  /** @param cpuMs processor time of the task as its thread measured it; null if the thread reported none */
  fail(failure: JobFailure, cpuMs: number | null = null): void {
    this.#failure ??= failure;
    this.#usedMs ??= cpuMs;
    this.#killer.abort();
  }

  /** The thread died before the task began, so the task is not the cause, unless the thread had too little memory. */
  failBoot(error: Error): void {
    const failure = toJobFailure(error);
    this.fail(failure.kind === 'threw' ? { ...failure, kind: 'thread-failed' } : failure);
  }

  /** Returns the answer of an attempt that rejected with `error`. */
  toAnswer(error: unknown): JobAnswer {
    // A killed thread cannot tell its processor time. We charge the elapsed time, at most its limit.
    const ranMs = this.#startedAtMs === null ? 0 : performance.now() - this.#startedAtMs;
    const cpuMs = this.#usedMs ?? Math.min(ranMs, this.#limits.cpuMs);
    return { ...(this.#failure ?? toJobFailure(error)), cpuMs };
  }

  stopTimers(): void {
    this.#disarm();
  }
}

const NEVER_STARTED: JobFailure = { kind: 'thread-failed', detail: 'the thread did not start' };
const OUT_OF_TIME: JobFailure = { kind: 'limit', limit: 'time' };
const STARVED: JobFailure = { kind: 'thread-failed', detail: 'the thread got no processor time' };

/** An error that ends a thread during a task, such as an unhandled rejection, counts as an error of the task. */
function toJobFailure(error: unknown): JobFailure {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ERR_WORKER_OUT_OF_MEMORY') return { kind: 'limit', limit: 'memory' };
  const detail = error instanceof Error ? error.message : typeof error;
  return { kind: code === 'ERR_WORKER_INIT_FAILED' ? 'thread-failed' : 'threw', detail };
}

/** Poll interval for a thread that is close to its limit. */
const MIN_POLL_MS = 25;

/**
 * Starts the deadline of a task. Returns a function that stops it.
 * @param cpuAtStart processor time of the thread at the start of the task; null if Node cannot tell
 * @param expire called at most once
 */
function armDeadline(
  worker: Worker,
  cpuAtStart: NodeJS.CpuUsage | null,
  { cpuMs, wallMs }: AttemptLimits,
  expire: (failure: JobFailure) => void,
): () => void {
  let usedMs: number | null = null;
  let pollTimer: NodeJS.Timeout | undefined;
  let isArmed = true;

  const end = (failure: JobFailure) => {
    if (!isArmed) return;
    disarm();
    expire(failure);
  };
  // A thread that never told its processor time is in one long native call, and its input is the cause.
  const wallTimer = setTimeout(() => end(usedMs === null ? OUT_OF_TIME : STARVED), wallMs);
  const disarm = () => {
    isArmed = false;
    clearTimeout(wallTimer);
    clearTimeout(pollTimer);
  };
  const checkUsage = async () => {
    usedMs = (await readUsedMs(worker, cpuAtStart)) ?? usedMs;
    if (usedMs === null || !isArmed) return;
    if (usedMs >= cpuMs) end(OUT_OF_TIME);
    else pollTimer = setTimeout(checkUsage, Math.max(cpuMs - usedMs, MIN_POLL_MS));
  };
  pollTimer = setTimeout(checkUsage, cpuMs);
  return disarm;
}

/** Reads the processor time of the task so far, ms; null if the thread has ended, or Node cannot tell (before 24.6). */
async function readUsedMs(worker: Worker, start: NodeJS.CpuUsage | null): Promise<number | null> {
  if (typeof worker.cpuUsage !== 'function' || start === null) return null;
  try {
    const { user, system } = await worker.cpuUsage(start);
    return (user + system) / 1_000;
  } catch {
    return null;
  }
}
