import type { Store } from '../store/store.ts';

export type PurgeTimerOptions = {
  readonly store: Pick<Store, 'purge' | 'now'>;
  readonly intervalMs?: number | undefined;
  readonly onPurged: (removed: Awaited<ReturnType<Store['purge']>>, atMs: number) => void;
  readonly onError: (message: string, error: unknown) => void;
  /** Monotonic clock in ms; default `performance.now`. */
  readonly monotonic?: (() => number) | undefined;
};

const INTERVAL_MS = 10 * 60_000;
/** A larger drift means that the clock was changed or the machine slept. */
const MAX_DRIFT_MS = 3_600_000;

/**
 * Purges the store in the background. A purge trusts the wall clock: after a jump ahead it would delete
 * answers that payers may still fetch. So it skips while the two clocks differ by an hour since the start.
 */
export class PurgeTimer {
  readonly #options: PurgeTimerOptions;
  readonly #wallStartMs: number;
  readonly #monotonicStartMs: number;
  #timer: NodeJS.Timeout | null = null;
  #isStopped = false;

  constructor(options: PurgeTimerOptions) {
    this.#options = options;
    this.#wallStartMs = options.store.now();
    this.#monotonicStartMs = this.#monotonic();
  }

  /** Purges at once too: a process that lives shorter than the interval would never purge. */
  start(): void {
    void this.run();
    this.#timer = setInterval(() => this.run(), this.#options.intervalMs ?? INTERVAL_MS);
    this.#timer.unref();
  }

  /** A running purge ends by itself, or fails when the store closes. */
  stop(): void {
    this.#isStopped = true;
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  /** Never rejects. */
  async run(): Promise<void> {
    const { store, onPurged, onError } = this.#options;
    const driftMs = this.#driftMs();
    if (Math.abs(driftMs) > MAX_DRIFT_MS) {
      const minutes = Math.round(driftMs / 60_000);
      onError(
        `nothing is purged: the clock has moved by ${minutes} minutes since the start; set it right and start again`,
        null,
      );
      return;
    }
    try {
      const atMs = store.now();
      onPurged(await store.purge(atMs), atMs);
    } catch (error) {
      if (!this.#isStopped) onError('a purge failed, and is tried again', error);
    }
  }

  #monotonic(): number {
    return this.#options.monotonic?.() ?? performance.now();
  }

  #driftMs(): number {
    const wall = this.#options.store.now() - this.#wallStartMs;
    return wall - (this.#monotonic() - this.#monotonicStartMs);
  }
}
