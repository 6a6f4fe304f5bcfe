/**
 * The queue in front of the threads. Piscina's own would start the clock of a task, and abort it,
 * while it still waits; here a task waits outside and is submitted only when a thread is free.
 */
import { PoolSaturated } from './errors.ts';

export type Slots = {
  /** Waits its turn; resolves to the function that gives the slot back. Rejects on abort. */
  acquire(signal?: AbortSignal): Promise<() => void>;
  counts(): { readonly running: number; readonly waiting: number };
};

export function createSlots(size: number, maxWaiting: number): Slots {
  let free = size;
  const waiting = new Set<(release: () => void) => void>();

  function release(): void {
    const [next] = waiting;
    if (!next) {
      free += 1;
      return;
    }
    waiting.delete(next);
    next(once(release));
  }

  return {
    async acquire(signal) {
      signal?.throwIfAborted();
      if (free > 0) {
        free -= 1;
        return once(release);
      }
      if (waiting.size >= maxWaiting) {
        throw new PoolSaturated(`${waiting.size} tasks wait already. Try again in a few seconds.`);
      }
      const { promise, resolve, reject } = Promise.withResolvers<() => void>();
      const leave = () => {
        waiting.delete(resolve);
        reject(signal?.reason);
      };
      waiting.add(resolve);
      signal?.addEventListener('abort', leave, { once: true });
      try {
        return await promise;
      } finally {
        signal?.removeEventListener('abort', leave);
      }
    },
    counts: () => ({ running: size - free, waiting: waiting.size }),
  };
}

/** A slot that were given back twice would let two tasks onto one thread. */
function once(action: () => void): () => void {
  let done = false;
  return () => {
    if (done) return;
    done = true;
    action();
  };
}
