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

/** CPU time of the task so far; null where the thread is gone and cannot say. */
type CpuClock = () => Promise<number | null> | number;

function cpuClock(worker: Worker, atStart: Started['cpu']): CpuClock {
  if (typeof worker.cpuUsage !== 'function' || atStart === null) return processClock();
  return async () => {
    try {
      const { user, system } = await worker.cpuUsage(atStart);
      return (user + system) / 1_000;
    } catch {
      return null;
    }
  };
}

/**
 * Node before 24.6 does not tell what a thread used. Half of what the whole process used is then
 * the nearest thing: on an idle machine a task that never ends is killed at twice its limit, and on
 * one that lets us hardly run it is left alone, as the time on the wall would not leave it.
 */
function processClock(): CpuClock {
  const before = process.cpuUsage();
  const began = performance.now();
  return () => {
    const { user, system } = process.cpuUsage(before);
    return Math.min((user + system) / 1_000, performance.now() - began) / 2;
  };
}
