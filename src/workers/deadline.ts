import type { Worker } from 'node:worker_threads';

export type DeadlineOptions = {
  /** Processor time counts, so that a slow machine is not a finding. */
  readonly cpuMs: number;
  /** Ends a task that uses no processor time, or whose use cannot be read. */
  readonly wallMs: number;
};

/**
 * `cpu`: the task used up its processor time. `stuck`: the time on the wall is over and nothing told
 * its use, as in one long native call. `starved`: it is over, and the thread hardly ran.
 */
export type Expiry = 'cpu' | 'stuck' | 'starved';

/** Poll interval for a thread that is close to its limit. */
const MIN_POLL_MS = 25;

/** Starts now; `expire` is called at most once. The function returned disarms it. */
export function armDeadline(
  worker: Worker,
  atStart: NodeJS.CpuUsage | null,
  { cpuMs, wallMs }: DeadlineOptions,
  expire: (why: Expiry) => void,
): () => void {
  const clock = cpuClock(worker, atStart);
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
    usedMs = (await clock()) ?? usedMs;
    if (usedMs === null || !armed) return;
    if (usedMs >= cpuMs) end('cpu');
    else poll = setTimeout(ask, Math.max(cpuMs - usedMs, MIN_POLL_MS));
  };
  poll = setTimeout(ask, cpuMs);
  return disarm;
}

/** Processor time of the task so far; null if the thread is gone, or Node does not tell (before 24.6). */
type CpuClock = () => Promise<number | null>;

function cpuClock(worker: Worker, atStart: NodeJS.CpuUsage | null): CpuClock {
  return async () => {
    if (typeof worker.cpuUsage !== 'function' || atStart === null) return null;
    try {
      const { user, system } = await worker.cpuUsage(atStart);
      return (user + system) / 1_000;
    } catch {
      return null;
    }
  };
}
