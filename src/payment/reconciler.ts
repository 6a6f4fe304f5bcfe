import { setTimeout as pause } from 'node:timers/promises';
import type { Hex } from 'viem';
import type { LedgerEntry, LedgerStore } from '../store/contract/ledger.ts';
import { isInDoubt, LedgerWriter, StepLost, transactionOf } from './ledger.ts';
import { type PublishByRoute, publishSettled } from './publisher.ts';
import { type ReconcileOptions, type ReconcileVerdict, reconcileOnce } from './reconcile.ts';

export interface ReconcilerOptions extends ReconcileOptions {
  readonly ledger: LedgerStore;
  readonly publish: PublishByRoute;
  readonly onTrouble?: ((message: string, error: unknown) => void) | undefined;
  readonly timing?: Partial<ReconcileTiming> | undefined;
}

export interface ReconcileTiming {
  /** Between two looks while a caller waits. */
  readonly lookIntervalMs: number;
  /** Between two sends of one payment. */
  readonly resendIntervalMs: number;
  /** Between two looks in the background: from the first to the second, doubling. */
  readonly firstBackoffMs: number;
  readonly lastBackoffMs: number;
}

const TIMING: ReconcileTiming = {
  lookIntervalMs: 1_000,
  resendIntervalMs: 5_000,
  firstBackoffMs: 1_000,
  lastBackoffMs: 60_000,
};

/** Finds out what became of settlements, for callers who wait and for those who have gone. */
export class Reconciler {
  readonly #options: ReconcilerOptions;
  readonly #timing: ReconcileTiming;
  readonly #looks = new Map<string, Promise<LedgerEntry | null>>();
  readonly #watched = new Map<string, Promise<void>>();
  readonly #lastSentMs = new Map<string, number>();
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
   * The entry as soon as its payment is no longer in doubt, or as it is when the time is up; then
   * the background goes on. Null where there is no such key. Rejects with `StoreError`.
   */
  async resolve(key: string, withinMs: number): Promise<LedgerEntry | null> {
    const endMs = Date.now() + withinMs;
    for (;;) {
      const entry = await this.#look(key);
      if (entry === null || !isInDoubt(entry.last.state)) return entry;
      if (Date.now() + this.#timing.lookIntervalMs > endMs || this.#stopped.signal.aborted) {
        this.watch(key);
        return entry;
      }
      await this.#pause(this.#timing.lookIntervalMs);
    }
  }

  /** Looks again in the background until the payment is settled or failed. */
  watch(key: string): void {
    if (this.#watched.has(key) || this.#stopped.signal.aborted) return;
    const watching = this.#lookUntilEnded(key).finally(() => {
      this.#watched.delete(key);
      this.#lastSentMs.delete(key);
    });
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
    for (let waitMs = firstBackoffMs; ; waitMs = Math.min(waitMs * 2, lastBackoffMs)) {
      await this.#pause(waitMs);
      if (this.#stopped.signal.aborted) return;
      try {
        const entry = await this.#look(key);
        if (entry === null || !isInDoubt(entry.last.state)) return;
      } catch (error) {
        this.#options.onTrouble?.(`reconciling ${key} failed and is tried again`, error);
      }
    }
  }

  /** One look for however many ask at once. */
  #look(key: string): Promise<LedgerEntry | null> {
    const running = this.#looks.get(key);
    if (running !== undefined) return running;
    const look = this.#lookNow(key).finally(() => this.#looks.delete(key));
    this.#looks.set(key, look);
    return look;
  }

  async #lookNow(key: string): Promise<LedgerEntry | null> {
    const { ledger } = this.#options;
    const entry = await ledger.entry(key);
    if (entry === null || !isInDoubt(entry.last.state)) return entry;
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
    return await ledger.entry(key);
  }

  #verdict(key: string, entry: LedgerEntry): Promise<ReconcileVerdict> {
    const transaction = this.#unrecorded.get(key);
    if (transaction !== undefined) {
      return Promise.resolve({ kind: 'settled', transaction, how: 'settled, recorded late' });
    }
    const sentMs = this.#lastSentMs.get(key) ?? Number.NEGATIVE_INFINITY;
    const mayResend = Date.now() - sentMs >= this.#timing.resendIntervalMs;
    if (mayResend) this.#lastSentMs.set(key, Date.now());
    return reconcileOnce(this.#options, entry, mayResend);
  }

  async #record(writer: LedgerWriter, verdict: ReconcileVerdict): Promise<void> {
    if (verdict.kind === 'open') return;
    if (verdict.kind === 'failed') return writer.write('failed', { reason: verdict.reason });
    const { transaction, how } = verdict;
    await writer.write('settled', { transaction, how });
    this.#unrecorded.delete(writer.facts.key);
    await publishSettled(this.#options.publish, writer).catch((error: unknown) => {
      // The sweep publishes what is settled and not published.
      this.#options.onTrouble?.(`publishing ${writer.facts.key} failed and is tried again`, error);
    });
  }

  async #pause(ms: number): Promise<void> {
    const { signal } = this.#stopped;
    await pause(ms, undefined, { signal, ref: false }).catch(() => undefined);
  }
}
