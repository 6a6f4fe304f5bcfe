/**
 * The queue in front of the threads. Piscina's own would start the clock of a task, and abort it,
 * while it still waits; here a task waits outside and is submitted only when a thread is free.
 */
import { PoolSaturated } from '../errors.ts';

export type Held<Slot> = {
  readonly slot: Slot;
  /** Gives the slot to the next in line; once only. */
  release(): void;
};

export type Slots<Slot> = {
  /** First come, first served. Rejects with the signal's reason, or with PoolSaturated. */
  acquire(signal?: AbortSignal): Promise<Held<Slot>>;
  counts(): { readonly running: number; readonly waiting: number };
};

export function createSlots<Slot>(all: readonly Slot[], maxWaiting: number): Slots<Slot> {
  const free = [...all];
  const waiting = new Set<(held: Held<Slot>) => void>();

  function hold(slot: Slot): Held<Slot> {
    let held = true;
    const release = () => {
      // A slot that were given back twice would let two tasks onto one thread.
      if (!held) return;
      held = false;
      const [next] = waiting;
      if (!next) {
        free.push(slot);
        return;
      }
      waiting.delete(next);
      next(hold(slot));
    };
    return { slot, release };
  }

  return {
    async acquire(signal) {
      signal?.throwIfAborted();
      const slot = free.shift();
      if (slot !== undefined) return hold(slot);
      if (waiting.size >= maxWaiting) {
        throw new PoolSaturated(`${waiting.size} tasks wait already. Try again in a few seconds.`);
      }
      const { promise, resolve, reject } = Promise.withResolvers<Held<Slot>>();
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
    counts: () => ({ running: all.length - free.length, waiting: waiting.size }),
  };
}
