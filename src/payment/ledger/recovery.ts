/** Recovery: ends the keys that dead processes left open. */
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import type { LedgerEntry } from '../../store/ledger.ts';
import type { InstanceId, LedgerState } from '../../store/payment-tables.ts';
import type { Store } from '../../store/store.ts';
import {
  findCurrentClaim,
  isInDoubt,
  isUnproved,
  LedgerWriter,
  type PublishByRoute,
  publishSettled,
  StepLost,
} from './ledger.ts';
import type { Reconciler } from './reconciler.ts';

export type RecoveryOptions = {
  readonly store: Store;
  readonly reconciler: Reconciler;
  readonly publish: PublishByRoute;
  /** Keys that this process works on, which recovery skips. */
  readonly isInFlight: (key: string) => boolean;
  readonly onError: (message: string, error: unknown) => void;
  readonly sweepIntervalMs?: number | undefined;
  /** Monotonic clock for retries, ms. */
  readonly elapsedMs?: (() => number) | undefined;
};

export const SWEEP_INTERVAL_MS = 5_000;
/** Intervals of retries to publish a key: they double from the first to the last. */
const FIRST_RETRY_MS = 5_000;
const LAST_RETRY_MS = 3_600_000;

/** Unfinished keys, as a sweep counted them. */
export type KeyCounts = {
  readonly byState: Readonly<Partial<Record<LedgerState, number>>>;
  /** Claim of the payment that has been in doubt for longest, ms; null if there is none. */
  readonly oldestInDoubtMs: number | null;
};

/**
 * Ends keys that dead processes, or failed calls of this process, have left open. No call waits for it: a
 * call that finds such a key before the sweep ends it itself.
 */
export class Recovery {
  readonly #options: RecoveryOptions;
  readonly #stopped = new AbortController();
  readonly #unpublished = new Map<string, { waitMs: number; dueMs: number }>();
  #counts: KeyCounts = { byState: {}, oldestInDoubtMs: null };
  #running: Promise<void> = Promise.resolve();

  constructor(options: RecoveryOptions) {
    this.#options = options;
  }

  /** Begins at once, in the background. */
  start(): void {
    this.#running = this.#repeat();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
  }

  /** Counts of the last sweep. */
  get counts(): KeyCounts {
    return this.#counts;
  }

  /** One pass over all open keys. */
  async sweep(): Promise<void> {
    const isDead = this.#deathRegister();
    const byState: Partial<Record<LedgerState, number>> = {};
    let oldestInDoubtMs: number | null = null;
    for await (const openEntry of this.#options.store.ledger.findUnfinished()) {
      const { key, last } = openEntry;
      byState[last.state] = (byState[last.state] ?? 0) + 1;
      if (isInDoubt(last.state)) {
        oldestInDoubtMs = Math.min(
          oldestInDoubtMs ?? Number.POSITIVE_INFINITY,
          findCurrentClaim(openEntry).atMs,
        );
      }
      // The SQLite store answers without a turn of the event loop, which other callers need.
      await turn();
      if (this.#stopped.signal.aborted) return;
      if (this.#isLookedAfter(key) || !(await isDead(last.owner))) continue;
      // Another writer may have made a step since the key was read.
      const entry = await this.#options.store.ledger.findEntry(key);
      if (entry !== null && !this.#isLookedAfter(key)) await this.#recover(entry);
    }
    this.#counts = { byState, oldestInDoubtMs };
  }

  #isLookedAfter(key: string): boolean {
    return this.#options.isInFlight(key) || this.#options.reconciler.isWatching(key);
  }

  async #recover(entry: LedgerEntry): Promise<void> {
    const { store, reconciler, onError } = this.#options;
    const writer = LedgerWriter.onEntry(store.ledger, entry);
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

  /** Retries publications at growing intervals. */
  async #publish(entry: LedgerEntry, writer: LedgerWriter): Promise<void> {
    const { key } = entry;
    const { elapsedMs = () => performance.now() } = this.#options;
    const nowMs = elapsedMs();
    const earlier = this.#unpublished.get(key);
    if (earlier !== undefined && earlier.dueMs > nowMs) return;
    const waitMs = Math.min((earlier?.waitMs ?? FIRST_RETRY_MS / 2) * 2, LAST_RETRY_MS);
    this.#unpublished.set(key, { waitMs, dueMs: nowMs + waitMs });
    await publishSettled(this.#options.publish, writer, isUnproved(entry));
    this.#unpublished.delete(key);
  }

  /** Looks up each owner once in a sweep; open calls of this process count as alive. */
  #deathRegister(): (owner: InstanceId) => Promise<boolean> {
    const { store } = this.#options;
    const answers = new Map<string, Promise<boolean>>();
    return (owner) => {
      if (owner.boot === store.info.owner.boot) return Promise.resolve(true);
      const known =
        answers.get(owner.boot) ?? store.instances.isAlive(owner).then((alive) => !alive);
      answers.set(owner.boot, known);
      return known;
    };
  }

  async #repeat(): Promise<void> {
    const { sweepIntervalMs = SWEEP_INTERVAL_MS, onError } = this.#options;
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      await this.sweep().catch((error: unknown) => onError('a sweep of payments failed', error));
      await pause(sweepIntervalMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }
}
