/** The timers of an idle service. This file does not import the modules that send requests to indexes. */

import type { RefreshingStanding } from '../../scanner/indexes/create-standing.ts';
import type { Store } from '../store/store.ts';

export type PurgeTimerOptions = {
  readonly store: Pick<Store, 'purge' | 'now'>;
  readonly intervalMs?: number | undefined;
  readonly onPurged: (removed: Awaited<ReturnType<Store['purge']>>, atMs: number) => void;
  readonly onError: (message: string, error: unknown) => void;
  /** Monotonic clock in ms; default `performance.now`. */
  readonly monotonic?: (() => number) | undefined;
};

const PURGE_INTERVAL_MS = 10 * 60_000;
/** A larger drift means that the clock was changed or the machine slept. */
const MAX_DRIFT_MS = 3_600_000;

/**
 * Purges the store in the background. A purge trusts the wall clock: after a jump ahead it would delete answers that
 * payers may still fetch. No purge runs while the wall clock has drifted from the monotonic clock by over an hour.
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
    this.#monotonicStartMs = this.#readMonotonicMs();
  }

  /** The first purge runs at once, because a process may end before the first interval has passed. */
  start(): void {
    void this.run();
    this.#timer = setInterval(() => this.run(), this.#options.intervalMs ?? PURGE_INTERVAL_MS);
    this.#timer.unref();
  }

  /** Does not wait for a running purge, which fails if the store closes first. */
  stop(): void {
    this.#isStopped = true;
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  /** Never rejects. */
  async run(): Promise<void> {
    const { store, onPurged, onError } = this.#options;
    const driftMs = this.#computeDriftMs();
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

  #readMonotonicMs(): number {
    return this.#options.monotonic?.() ?? performance.now();
  }

  #computeDriftMs(): number {
    const wallElapsedMs = this.#options.store.now() - this.#wallStartMs;
    return wallElapsedMs - (this.#readMonotonicMs() - this.#monotonicStartMs);
  }
}

export type ListingRefresh = {
  readonly store: Pick<Store, 'leases'>;
  readonly standing: Pick<RefreshingStanding, 'refreshListing'>;
  /** Called with errors for the operator. */
  onError(message: string, error: unknown): void;
};

const LEASE_SCOPE = ['refresh', 'listing'];
/** Longer than any lookup. After a crash of the instance the lease ends soon. */
const LEASE_LIFETIME_MS = 60_000;

/**
 * Refreshes the cached list of partners in the background, so that scans need not wait for it. Only one instance asks at
 * a time, and the others get `held`. Never rejects, even if the store fails.
 */
export async function refreshListing({
  store,
  standing,
  onError,
}: ListingRefresh): Promise<'asked' | 'held' | 'failed'> {
  try {
    const outcome = await store.leases.takeSole(LEASE_SCOPE, LEASE_LIFETIME_MS);
    if (!outcome.taken) return 'held';
    const lookup = await standing.refreshListing();
    await store.leases.release(outcome.lease);
    if (lookup.state !== 'failed') return 'asked';
    onError('The listing was not refreshed, scans use the last list', lookup.detail);
  } catch (error) {
    onError('The listing was not refreshed', error);
  }
  return 'failed';
}
