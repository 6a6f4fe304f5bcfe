/** Ends the keys that dead processes left open. */
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import type { LedgerEntry } from '../../store/ledger.ts';
import type { InstanceId, LedgerState } from '../../store/payment-tables.ts';
import type { Store } from '../../store/store.ts';
import { findCurrentClaim, isInDoubt, isUnproved } from './ledger.ts';
import { LedgerWriter, type PublishScan, publishSettled, StepLost } from './ledger-writer.ts';
import type { Reconciler } from './reconciler.ts';

type RecoveryOptions = {
  readonly store: Store;
  readonly reconciler: Reconciler;
  readonly publish: PublishScan;
  /** True for keys that a call of this process works on; recovery skips them. */
  readonly isInFlight: (key: string) => boolean;
  readonly onError: (message: string, error: unknown) => void;
  readonly sweepIntervalMs: number;
};

/** Longest wait until the next attempt to publish a key; an hour. The wait is one sweep, and doubles after each failure. */
const LONGEST_RETRY_SWEEPS = 720;

/** What the last sweep counted. */
type KeyCounts = {
  /** Numbers of unfinished keys. */
  readonly byState: Readonly<Partial<Record<LedgerState, number>>>;
  /** Database time of the oldest claim whose payment is in doubt, ms; null if there is none. */
  readonly oldestInDoubtMs: number | null;
};

/**
 * Sweeps all open keys again and again, and ends those that dead processes or failed calls left open. No call waits
 * for a sweep: if a call finds such a key before the sweep, the call ends the key.
 */
export class Recovery {
  readonly #options: RecoveryOptions;
  readonly #stopped = new AbortController();
  #sweepNumber = 0;
  /** The keys whose publishing failed, each with its last wait and the number of the sweep that tries again. */
  readonly #publishRetries = new Map<string, { waitSweeps: number; dueSweep: number }>();
  #counts: KeyCounts = { byState: {}, oldestInDoubtMs: null };
  #running: Promise<void> = Promise.resolve();

  constructor(options: RecoveryOptions) {
    this.#options = options;
  }

  /** Starts sweeping at once, in the background. */
  start(): void {
    this.#running = this.#sweepRepeatedly();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
  }

  get counts(): KeyCounts {
    return this.#counts;
  }

  /** Reads all open keys once, counts them and recovers those of dead processes. */
  async sweep(): Promise<void> {
    this.#sweepNumber += 1;
    const isDead = this.#createDeathCheck();
    const byState: Partial<Record<LedgerState, number>> = {};
    let oldestInDoubtMs: number | null = null;
    for await (const openEntry of this.#options.store.ledger.findUnfinished()) {
      const { key, last } = openEntry;
      byState[last.state] = (byState[last.state] ?? 0) + 1;
      if (isInDoubt(last.state)) {
        const { atMs } = findCurrentClaim(openEntry);
        oldestInDoubtMs = Math.min(oldestInDoubtMs ?? atMs, atMs);
      }
      // The SQLite store answers synchronously, and other calls need turns of the event loop.
      await nextTurn();
      if (this.#stopped.signal.aborted) return;
      if (this.#isHandled(key) || !(await isDead(last.owner))) continue;
      // Another writer may have written a step since the sweep read this key.
      const entry = await this.#options.store.ledger.findEntry(key);
      if (entry !== null && !this.#isHandled(key)) await this.#recover(entry);
    }
    this.#counts = { byState, oldestInDoubtMs };
  }

  #isHandled(key: string): boolean {
    return this.#options.isInFlight(key) || this.#options.reconciler.isWatching(key);
  }

  async #recover(entry: LedgerEntry): Promise<void> {
    const { store, reconciler, onError } = this.#options;
    const writer = LedgerWriter.continueAfter(store.ledger, entry);
    try {
      switch (entry.last.state) {
        case 'claimed':
        case 'computed':
          return await writer.write('released', { reason: 'its owner is gone' });
        case 'settling':
        case 'unknown':
          return reconciler.watch(entry.key);
        case 'settled':
          return await this.#publish(entry, writer);
        case 'published':
        case 'released':
        case 'failed':
          return;
        default:
          entry.last.state satisfies never;
      }
    } catch (error) {
      if (!(error instanceof StepLost)) onError(`recovering ${entry.key} failed`, error);
    }
  }

  /** Publishes a key; after a failure the waits until the next attempts grow. */
  async #publish(entry: LedgerEntry, writer: LedgerWriter): Promise<void> {
    const { key } = entry;
    // The wait of the first attempt doubles to one sweep.
    const { waitSweeps = 0.5, dueSweep = 0 } = this.#publishRetries.get(key) ?? {};
    if (dueSweep > this.#sweepNumber) return;
    const nextWait = Math.min(waitSweeps * 2, LONGEST_RETRY_SWEEPS);
    const retry = { waitSweeps: nextWait, dueSweep: this.#sweepNumber + nextWait };
    this.#publishRetries.set(key, retry);
    await publishSettled(this.#options.publish, writer, isUnproved(entry));
    this.#publishRetries.delete(key);
  }

  /** Asks the store about each instance once. Our instance counts as dead: `#isHandled` has skipped its open calls. */
  #createDeathCheck(): (owner: InstanceId) => Promise<boolean> {
    const { store } = this.#options;
    const isDeadByBoot = new Map<string, Promise<boolean>>();
    return (owner) => {
      if (owner.boot === store.info.owner.boot) return Promise.resolve(true);
      const isOwnerDead =
        isDeadByBoot.get(owner.boot) ?? store.instances.isAlive(owner).then((alive) => !alive);
      isDeadByBoot.set(owner.boot, isOwnerDead);
      return isOwnerDead;
    };
  }

  async #sweepRepeatedly(): Promise<void> {
    const { sweepIntervalMs, onError } = this.#options;
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      await this.sweep().catch((error: unknown) => onError('a sweep of payments failed', error));
      await pause(sweepIntervalMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }
}
