import type { Worker } from 'node:worker_threads';

export type DeadlineOptions = {
  /** Limit of processor time. A task that waits on a busy machine uses none. */
  readonly cpuMs: number;
  /** Limit of elapsed time, also for a task whose processor time grows slowly or cannot be read. */
  readonly wallMs: number;
};

/**
 * The limit that ended a task.
 * - `cpu`: the task used up its processor time.
 * - `stuck`: `wallMs` elapsed, and the thread never told its processor time, as during one long native call.
 * - `starved`: `wallMs` elapsed, and the thread had used less than its processor time.
 */
export type Expiry = 'cpu' | 'stuck' | 'starved';

/** Poll interval for a thread that is close to its limit. */
const MIN_POLL_MS = 25;

/**
 * Starts the deadline of a task. Returns a function that stops it.
 * @param cpuAtStart processor time of the thread at the start of the task; null if Node does not tell it
 * @param expire called at most once
 */
export function armDeadline(
  worker: Worker,
  cpuAtStart: NodeJS.CpuUsage | null,
  { cpuMs, wallMs }: DeadlineOptions,
  expire: (expiry: Expiry) => void,
): () => void {
  let usedMs: number | null = null;
  let pollTimer: NodeJS.Timeout | undefined;
  let isArmed = true;

  const end = (expiry: Expiry) => {
    if (!isArmed) return;
    disarm();
    expire(expiry);
  };
  const wallTimer = setTimeout(() => end(usedMs === null ? 'stuck' : 'starved'), wallMs);
  const disarm = () => {
    isArmed = false;
    clearTimeout(wallTimer);
    clearTimeout(pollTimer);
  };
  const checkUsage = async () => {
    usedMs = (await readUsedMs(worker, cpuAtStart)) ?? usedMs;
    if (usedMs === null || !isArmed) return;
    if (usedMs >= cpuMs) end('cpu');
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
