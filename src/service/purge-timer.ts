/** Purges the store in the background, unless the clock cannot be trusted. */
import type { Store } from '../store/contract/store.ts';

export type PurgeTimerOptions = {
  readonly store: Pick<Store, 'purge' | 'now'>;
  readonly intervalMs?: number | undefined;
  readonly onPurged: (removed: Awaited<ReturnType<Store['purge']>>, atMs: number) => void;
  readonly onError: (message: string, error: unknown) => void;
  /** Milliseconds that only time moves; default `performance.now`. */
  readonly monotonic?: (() => number) | undefined;
};

const INTERVAL_MS = 10 * 60_000;
/** A clock that has moved so far by itself was set, or the machine was brought back from sleep. */
const MAX_DRIFT_MS = 3_600_000;

/**
 * A purge believes the wall clock: one that jumps ahead would take answers that payers still own. While
 * it has drifted an hour from the monotonic one since the start, nothing is purged.
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

  /** Purges at once as well: a process that never lives for an interval would never purge. */
  start(): void {
    void this.run();
    this.#timer = setInterval(() => this.run(), this.#options.intervalMs ?? INTERVAL_MS);
    this.#timer.unref();
  }

  /** A purge that runs is left to end, or to fail once the store is closed. */
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
