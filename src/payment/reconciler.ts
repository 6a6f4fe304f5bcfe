/** Finds out what became of settlements, for callers who wait and for those who have gone. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Hex } from 'viem';
import type { LedgerEntry, LedgerStore } from '../store/contract/ledger.ts';
import { FINAL_AFTER_MS } from './chain/chain-evidence.ts';
import { isInDoubt, LedgerWriter, StepLost, transactionOf } from './ledger.ts';
import { type LookLine, LookQueue } from './look-queue.ts';
import type { OnPaymentEvent } from './payment-events.ts';
import { type PublishByRoute, publishSettled } from './publisher.ts';
import {
  type ReconcileOptions,
  type ReconcileVerdict,
  reconcileOnce,
  UNPROVED,
} from './reconcile.ts';

export type ReconcilerOptions = ReconcileOptions & {
  readonly ledger: LedgerStore;
  readonly publish: PublishByRoute;
  readonly onTrouble?: ((message: string, error: unknown) => void) | undefined;
  readonly onEvent?: OnPaymentEvent | undefined;
  readonly timing?: Partial<ReconcileTiming> | undefined;
};

export type ReconcileTiming = {
  /** Between two looks while a caller waits. */
  readonly lookIntervalMs: number;
  /** Between two sends of one payment. */
  readonly resendIntervalMs: number;
  /** Between two looks in the background: from the first to the second, doubling. */
  readonly firstBackoffMs: number;
  readonly lastBackoffMs: number;
};

export const TIMING: ReconcileTiming = {
  lookIntervalMs: 1_000,
  resendIntervalMs: 5_000,
  firstBackoffMs: 1_000,
  lastBackoffMs: 3_600_000,
};

/** With the one that made it `settling`; then it is only looked at. */
const MAX_SENDS = 5;
/** So that keys of one moment are not looked at in step. */
const JITTER = 0.25;

type Sends = {
  count: number;
  lastMs: number;
  isOver: boolean;
  isOverdue: boolean;
};

export class Reconciler {
  readonly #options: ReconcilerOptions;
  readonly #timing: ReconcileTiming;
  readonly #queue = new LookQueue();
  readonly #looks = new Map<string, Promise<LedgerEntry | null>>();
  readonly #watched = new Map<string, Promise<void>>();
  readonly #sends = new Map<string, Sends>();
  /** Settled for sure, while the store could not be told. */
  readonly #unrecorded = new Map<string, Hex>();
  readonly #stopped = new AbortController();

  constructor(options: ReconcilerOptions) {
    this.#options = options;
    this.#timing = { ...TIMING, ...options.timing };
  }

  /** Whether the background looks after this key. */
  isWatching(key: string): boolean {
    return this.#watched.has(key);
  }

  /**
   * The entry as soon as its payment is no longer in doubt, or as it is when the time is up, however
   * long a look takes; then the background goes on. Null where there is no such key. Rejects with
   * `StoreError`.
   */
  async resolve(key: string, withinMs: number): Promise<LedgerEntry | null> {
    const over = new AbortController();
    const timeUp = pause(withinMs, 'time is up', { signal: over.signal }).catch(() => null);
    const endMs = performance.now() + withinMs;
    try {
      for (;;) {
        const look = this.#look(key, 'waiting');
        look.catch(() => undefined);
        const found = await Promise.race([look, timeUp]);
        const isLate = typeof found === 'string';
        if (!isLate && (found === null || !isInDoubt(found.last.state))) return found;
        const leftMs = endMs - performance.now();
        if (isLate || leftMs < this.#timing.lookIntervalMs || this.#stopped.signal.aborted) {
          this.watch(key);
          return isLate ? await this.#options.ledger.entry(key) : found;
        }
        await this.#pause(this.#timing.lookIntervalMs);
      }
    } finally {
      over.abort();
    }
  }

  /** Looks again in the background until the payment is settled or failed. */
  watch(key: string): void {
    if (this.#watched.has(key) || this.#stopped.signal.aborted) return;
    const watching = this.#lookUntilEnded(key).finally(() => this.#watched.delete(key));
    this.#watched.set(key, watching);
  }

  /** The facilitator said that it settled, and the store could not be told: told until it hears. */
  recordLater(key: string, transaction: Hex): void {
    this.#unrecorded.set(key, transaction);
    this.watch(key);
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.allSettled([...this.#watched.values(), ...this.#looks.values()]);
  }

  async #lookUntilEnded(key: string): Promise<void> {
    const { firstBackoffMs, lastBackoffMs } = this.#timing;
    let finalMs = Number.POSITIVE_INFINITY;
    let backoffMs = firstBackoffMs;
    for (;;) {
      const leftMs = Math.max(0, finalMs - this.#options.now());
      await this.#pause(Math.min(backoffMs, leftMs || backoffMs) * (1 + JITTER * Math.random()));
      if (this.#stopped.signal.aborted) return;
      try {
        const entry = await this.#look(key, 'background');
        if (entry === null || !isInDoubt(entry.last.state)) return;
        finalMs = entry.last.validBeforeMs + FINAL_AFTER_MS;
      } catch (error) {
        this.#options.onTrouble?.(`reconciling ${key} failed and is tried again`, error);
      }
      // Once proof can be had, the first look that did not find it is followed by quick ones.
      const isFinalNow = leftMs > 0 && this.#options.now() >= finalMs;
      backoffMs = isFinalNow ? firstBackoffMs : Math.min(backoffMs * 2, lastBackoffMs);
    }
  }

  /** One look for however many ask while it runs. */
  async #look(key: string, line: LookLine): Promise<LedgerEntry | null> {
    return (
      this.#looks.get(key) ??
      this.#queue.run(line, async () => {
        if (this.#stopped.signal.aborted) return this.#options.ledger.entry(key);
        const running = this.#looks.get(key);
        if (running !== undefined) return running;
        const look = this.#lookNow(key).finally(() => this.#looks.delete(key));
        this.#looks.set(key, look);
        return look;
      })
    );
  }

  async #lookNow(key: string): Promise<LedgerEntry | null> {
    const { ledger } = this.#options;
    const entry = await ledger.entry(key);
    if (entry === null || !isInDoubt(entry.last.state)) return this.#forget(key, entry);
    const writer = LedgerWriter.onEntry(ledger, entry);
    try {
      // Before anything is sent: from this step on a refusal of the first send proves nothing, so
      // a writer that wakes up late can no longer free the key.
      if (writer.state === 'settling' && !this.#unrecorded.has(key)) {
        await writer.write('unknown', { reason: 'taken over', transaction: transactionOf(entry) });
      }
      await this.#record(writer, await this.#verdict(key, entry));
    } catch (error) {
      // Another host was quicker; what it found is read below.
      if (!(error instanceof StepLost)) throw error;
    }
    return this.#forget(key, await ledger.entry(key));
  }

  #forget(key: string, entry: LedgerEntry | null): LedgerEntry | null {
    if (entry !== null && isInDoubt(entry.last.state)) return entry;
    this.#sends.delete(key);
    this.#unrecorded.delete(key);
    return entry;
  }

  async #verdict(key: string, entry: LedgerEntry): Promise<ReconcileVerdict> {
    const transaction = this.#unrecorded.get(key);
    if (transaction !== undefined) {
      return { kind: 'settled', transaction, how: 'settled, recorded late' };
    }
    const sends = this.#sends.get(key) ?? newSends();
    this.#sends.set(key, sends);
    const isRested = performance.now() - sends.lastMs >= this.#timing.resendIntervalMs;
    // Without a chain to ask, to send again is the only way to look.
    const isEnough = sends.isOver || sends.count >= MAX_SENDS;
    const mayResend = isRested && (this.#options.evidence === null || !isEnough);
    const verdict = await reconcileOnce(this.#options, entry, mayResend);
    if (verdict.kind !== 'open') return verdict;
    if (mayResend) sends.lastMs = performance.now();
    if (verdict.isSent) sends.count += 1;
    sends.isOver ||= verdict.isLast;
    this.#tellOverdue(key, entry, sends, verdict.reason);
    return verdict;
  }

  /** Proof could be had for as long again as it takes, and nobody gave any. */
  #tellOverdue(key: string, entry: LedgerEntry, sends: Sends, reason: string): void {
    const isOverdue = this.#options.now() > entry.last.validBeforeMs + 2 * FINAL_AFTER_MS;
    if (!isOverdue || sends.isOverdue) return;
    sends.isOverdue = true;
    this.#options.onEvent?.({ kind: 'overdue', key, reason });
  }

  async #record(writer: LedgerWriter, verdict: ReconcileVerdict): Promise<void> {
    if (verdict.kind === 'open') return;
    const { key } = writer.facts;
    const tell = (outcome: 'settled' | 'failed' | 'unproved', reason: string) =>
      this.#options.onEvent?.({ kind: 'reconciled', outcome, key, reason });
    if (verdict.kind === 'failed') {
      await writer.write('failed', { reason: verdict.reason });
      tell('failed', verdict.reason);
      return;
    }
    const { transaction, how } = verdict;
    const isUnproved = how === UNPROVED;
    await writer.write('settled', { transaction, how });
    tell(isUnproved ? 'unproved' : 'settled', how);
    await publishSettled(this.#options.publish, writer, isUnproved).catch((error: unknown) => {
      // The sweep publishes what is settled and not published.
      this.#options.onTrouble?.(`publishing ${key} failed and is tried again`, error);
    });
  }

  async #pause(ms: number): Promise<void> {
    const { signal } = this.#stopped;
    // The longest that a timer takes is 24 days; nothing here waits for longer than an hour.
    await pause(ms, undefined, { signal, ref: false }).catch(() => undefined);
  }
}

/** The first send is the settlement's own, or of a process that has died. */
function newSends(): Sends {
  return { count: 1, lastMs: Number.NEGATIVE_INFINITY, isOver: false, isOverdue: false };
}
