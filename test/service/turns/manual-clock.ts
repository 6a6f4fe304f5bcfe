import { setImmediate as nextTurn } from 'node:timers/promises';

/** Waits twenty turns of the event loop. All work that needs no time is then done. */
export async function runPending(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await nextTurn();
}

/** A clock that moves when it is told to, and wakes those who wait on it. */
export class ManualClock {
  #nowMs = Date.UTC(2026, 8, 1, 12);
  readonly #sleepers = new Set<{ readonly atMs: number; readonly wake: () => void }>();

  readonly now = (): number => this.#nowMs;

  readonly wait = (ms: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const sleeper = { atMs: this.#nowMs + ms, wake: resolve };
      this.#sleepers.add(sleeper);
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });

  /** Number of waiting sleepers. */
  get sleepers(): number {
    return this.#sleepers.size;
  }

  advance(ms: number): void {
    this.#nowMs += ms;
    for (const sleeper of this.#sleepers) {
      if (sleeper.atMs > this.#nowMs) continue;
      this.#sleepers.delete(sleeper);
      sleeper.wake();
    }
  }
}
