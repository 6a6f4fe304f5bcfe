/**
 * Background work of the service: the purge of the store, and the refresh of the cached partner list. An idle service
 * loads this file, so it does not import the modules that send requests to indexes.
 */

import type { RefreshingStanding } from '../../scanner/indexes/create-standing.ts';
import type { Store } from '../store/store.ts';
import { unlessLimited, withLease } from '../turns/in-turn.ts';

type PurgeTimerOptions = {
  readonly store: Pick<Store, 'purge' | 'now'>;
  readonly onPurged: (removed: Awaited<ReturnType<Store['purge']>>, atMs: number) => void;
  readonly onError: (message: string, error: unknown) => void;
  /** Monotonic clock in ms; tests replace it. */
  readonly monotonic?: () => number;
};

const PURGE_INTERVAL_MS = 10 * 60_000;
/** A larger drift means that the clock was changed or the machine slept. */
const MAX_DRIFT_MS = 3_600_000;

/**
 * Purges the store in the background. A purge trusts the wall clock: after a jump ahead it would delete answers that
 * payers may still fetch. No purge runs while the wall clock has drifted from the monotonic clock by over an hour.
 */
export class PurgeTimer {
  readonly #options: Required<PurgeTimerOptions>;
  readonly #startOffsetMs: number;
  #timer: NodeJS.Timeout | null = null;
  #isStopped = false;

  constructor({ monotonic = () => performance.now(), ...options }: PurgeTimerOptions) {
    this.#options = { ...options, monotonic };
    this.#startOffsetMs = this.#readOffsetMs();
  }

  /** The first purge runs at once, because a process may end before the first interval has passed. */
  start(): void {
    void this.run();
    this.#timer = setInterval(() => void this.run(), PURGE_INTERVAL_MS);
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
    const driftMs = this.#readOffsetMs() - this.#startOffsetMs;
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

  /** Time by which the wall clock is ahead of the monotonic clock. */
  #readOffsetMs(): number {
    const { store, monotonic } = this.#options;
    return store.now() - monotonic();
  }
}

type PartnerRefresh = {
  readonly store: Pick<Store, 'leases'>;
  readonly standing: Pick<RefreshingStanding, 'refreshPartners'>;
  readonly onError: (message: string, error: unknown) => void;
};

const REFRESH_SCOPE = ['refresh', 'listing'];
/** Longer than any lookup. The lease of an instance that crashed ends after this time. */
const REFRESH_LIFETIME_MS = 60_000;

/** Asks for the list of x402 partners, unless another instance asks for it now. Never rejects, even if the store fails. */
export async function refreshPartners({ store, standing, onError }: PartnerRefresh): Promise<void> {
  const refresh = () => standing.refreshPartners();
  try {
    const lookup = await unlessLimited(
      withLease(store, REFRESH_SCOPE, REFRESH_LIFETIME_MS, refresh),
    );
    if (lookup?.state !== 'failed') return;
    onError('The listing was not refreshed, scans use the last list', lookup.detail);
  } catch (error) {
    onError('The listing was not refreshed', error);
  }
}
