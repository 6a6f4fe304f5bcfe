/** The deadline of one running task: CPU time counts, so that a slow machine is no finding. */
import type { Worker } from 'node:worker_threads';
import type { Started } from './job.ts';

export type DeadlineOptions = {
  readonly cpuMs: number;
  /** Ends what uses no CPU, or whose CPU time cannot be read. */
  readonly wallMs: number;
};

/**
 * `cpu`: the task used up its CPU time. `stuck`: the time on the wall is over and the thread never
 * said what it used, as in one long native call. `starved`: it is over, and the thread hardly ran.
 */
export type Expiry = 'cpu' | 'stuck' | 'starved';

/** How soon a thread that is nearly at its limit is asked again. */
const MIN_POLL_MS = 25;

/** Starts now; `expire` is called at most once. The function returned disarms it. */
export function armDeadline(
  worker: Worker,
  atStart: Started['cpu'],
  { cpuMs, wallMs }: DeadlineOptions,
  expire: (why: Expiry) => void,
): () => void {
  let usedMs: number | null = null;
  let poll: NodeJS.Timeout | undefined;
  let armed = true;

  const end = (why: Expiry) => {
    if (!armed) return;
    disarm();
    expire(why);
  };
  const wall = setTimeout(() => end(usedMs === null ? 'stuck' : 'starved'), wallMs);
  const disarm = () => {
    armed = false;
    clearTimeout(wall);
    clearTimeout(poll);
  };
  const ask = async () => {
    usedMs = (await readCpuMs(worker, atStart)) ?? usedMs;
    if (usedMs === null || !armed) return;
    if (usedMs >= cpuMs) end('cpu');
    else poll = setTimeout(ask, Math.max(cpuMs - usedMs, MIN_POLL_MS));
  };
  poll = setTimeout(ask, cpuMs);
  return disarm;
}

/** Null where it cannot be known: the thread is gone, or Node is older than 24.6. */
async function readCpuMs(worker: Worker, atStart: Started['cpu']): Promise<number | null> {
  if (typeof worker.cpuUsage !== 'function') return null;
  try {
    const { user, system } = await worker.cpuUsage(atStart);
    return (user + system) / 1_000;
  } catch {
    return null;
  }
}
