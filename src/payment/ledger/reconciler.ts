/** Finds out how settlements in doubt ended, whether or not their callers still wait. */
import { setTimeout as pause } from 'node:timers/promises';
import PQueue from 'p-queue';
import type { Hex } from 'viem';
import type { LedgerEntry, LedgerStore } from '../../store/ledger.ts';
import type { OnPaymentEvent } from '../settle/facilitator.ts';
import { Resends, type ResendsOptions } from '../settle/resends.ts';
import {
  FINAL_AFTER_MS,
  findTransaction,
  isInDoubt,
  LedgerWriter,
  type PublishByRoute,
  publishSettled,
  StepLost,
  UNPROVED,
} from './ledger.ts';
import {
  DEFAULT_TIMING,
  type ReconcileOptions,
  type ReconcileTiming,
  type ReconcileVerdict,
  reconcileOnce,
  toNextLookMs,
} from './reconcile.ts';

export type ReconcilerOptions = ReconcileOptions &
  Pick<ResendsOptions, 'facilitator' | 'findOffer'> & {
    readonly ledger: LedgerStore;
    readonly publish: PublishByRoute;
    readonly onError?: ((message: string, error: unknown) => void) | undefined;
    readonly onEvent?: OnPaymentEvent | undefined;
    readonly timing?: Partial<ReconcileTiming> | undefined;
  };

/** Concurrency of each queue, so that an outage does not end in a burst of look-ups. */
const LOOKS_AT_ONCE = 2;
/** Interval of look-ups while the store does not answer. */
const LONGEST_BLIND_MS = 60_000;

export class Reconciler {
  readonly #options: ReconcilerOptions;
  readonly #timing: ReconcileTiming;
  /** Two queues, so that keys without a waiting call do not delay a call that waits. */
  readonly #queues = {
    waiting: new PQueue({ concurrency: LOOKS_AT_ONCE }),
    background: new PQueue({ concurrency: LOOKS_AT_ONCE }),
  };
  readonly #looks = new Map<string, Promise<LedgerEntry | null>>();
  readonly #watched = new Map<string, Promise<void>>();
  readonly #resends: Resends;
  readonly #overdue = new Set<string>();
  /** Settlements that are proved and not yet written to the store. */
  readonly #unrecorded = new Map<string, Hex>();
  readonly #stopped = new AbortController();

  constructor(options: ReconcilerOptions) {
    this.#options = options;
    this.#timing = { ...DEFAULT_TIMING, ...options.timing };
    const { resendAfterMs } = this.#timing;
    this.#resends = new Resends({ ...options, hasChain: options.evidence !== null, resendAfterMs });
  }

  /** True while the background looks after this key. */
  isWatching(key: string): boolean {
    return this.#watched.has(key);
  }

  /**
   * Returns the entry once its payment is no longer in doubt, and at the latest when the time is up; the
   * background then continues. Null for an unknown key. Rejects with `StoreError`.
   */
  async resolve(key: string, withinMs: number): Promise<LedgerEntry | null> {
    const over = new AbortController();
    const timeUp = pause(withinMs, 'time is up', { signal: over.signal }).catch(() => null);
    const endMs = performance.now() + withinMs;
    try {
      for (;;) {
        const look = this.#look(key, 'waiting');
        look.catch(() => undefined);
        const latest = await Promise.race([look, timeUp]);
        const isLate = typeof latest === 'string';
        if (!isLate && (latest === null || !isInDoubt(latest.last.state))) return latest;
        const leftMs = endMs - performance.now();
        if (isLate || leftMs < this.#timing.lookIntervalMs || this.#stopped.signal.aborted) {
          this.watch(key);
          return isLate ? await this.#options.ledger.findEntry(key) : latest;
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

  /** Writes a settlement that the facilitator confirmed until the store takes it. */
  recordLater(key: string, transaction: Hex): void {
    this.#unrecorded.set(key, transaction);
    this.watch(key);
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.allSettled([...this.#watched.values(), ...this.#looks.values()]);
  }

  async #lookUntilEnded(key: string): Promise<void> {
    const { now, onError } = this.#options;
    const { firstBackoffMs, lastBackoffMs } = this.#timing;
    let finalMs = Number.POSITIVE_INFINITY;
    let sendMs = Number.POSITIVE_INFINITY;
    let backoffMs = firstBackoffMs;
    for (;;) {
      const beforeMs = now();
      const untilDueMs = Math.min(
        ...[sendMs, finalMs].map((dueMs) => (dueMs > beforeMs ? dueMs - beforeMs : Infinity)),
      );
      const random = Math.random();
      await this.#pause(toNextLookMs({ backoffMs, firstBackoffMs, untilDueMs, random }));
      if (this.#stopped.signal.aborted) return;
      let longestMs = lastBackoffMs;
      try {
        const entry = await this.#look(key, 'background');
        if (entry === null || !isInDoubt(entry.last.state)) return;
        finalMs = entry.last.validBeforeMs + FINAL_AFTER_MS;
        sendMs = this.#resends.nextMs(entry) ?? Number.POSITIVE_INFINITY;
      } catch (error) {
        onError?.(`reconciling ${key} failed and is tried again`, error);
        // The time at which proof is due is in the entry, which could not be read.
        longestMs = Math.min(lastBackoffMs, LONGEST_BLIND_MS);
      }
      // When the first look after proof is possible does not find it, quick looks follow.
      const isFinalNow = beforeMs < finalMs && now() >= finalMs;
      backoffMs = isFinalNow ? firstBackoffMs : Math.min(backoffMs * 2, longestMs);
    }
  }

  /** Runs one look for all callers that ask while it runs. */
  async #look(key: string, queue: 'waiting' | 'background'): Promise<LedgerEntry | null> {
    return (
      this.#looks.get(key) ??
      this.#queues[queue].add(async () => {
        if (this.#stopped.signal.aborted) return this.#options.ledger.findEntry(key);
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
    const entry = await ledger.findEntry(key);
    if (entry === null || !isInDoubt(entry.last.state)) return this.#forget(key, entry);
    const writer = LedgerWriter.onEntry(ledger, entry);
    try {
      // The step is written before the payment is sent again. From then on a refusal of the first send
      // proves nothing, so a late writer can no longer free the key.
      if (writer.state === 'settling' && !this.#unrecorded.has(key)) {
        await writer.write('unknown', {
          reason: 'taken over',
          transaction: findTransaction(entry),
        });
      }
      await this.#record(writer, await this.#verdict(writer, entry));
    } catch (error) {
      // Another instance wrote first; its step is read below.
      if (!(error instanceof StepLost)) throw error;
    }
    return this.#forget(key, await ledger.findEntry(key));
  }

  #forget(key: string, entry: LedgerEntry | null): LedgerEntry | null {
    if (entry !== null && isInDoubt(entry.last.state)) return entry;
    this.#resends.forget(key);
    this.#overdue.delete(key);
    this.#unrecorded.delete(key);
    return entry;
  }

  async #verdict(writer: LedgerWriter, entry: LedgerEntry): Promise<ReconcileVerdict> {
    const { key } = entry;
    const transaction = this.#unrecorded.get(key);
    if (transaction !== undefined) {
      return { kind: 'settled', transaction, how: 'settled, recorded late' };
    }
    const resend = this.#resends.next(writer, entry);
    const verdict = await reconcileOnce(this.#options, entry, resend);
    if (verdict.kind === 'open') this.#tellOverdue(entry, verdict.reason);
    return verdict;
  }

  /** Reports a key once, when proof has been possible for twice the usual time and is still missing. */
  #tellOverdue({ key, last }: LedgerEntry, reason: string): void {
    const isOverdue = this.#options.now() > last.validBeforeMs + 2 * FINAL_AFTER_MS;
    if (!isOverdue || this.#overdue.has(key)) return;
    this.#overdue.add(key);
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
      this.#options.onError?.(`publishing ${key} failed and is tried again`, error);
    });
  }

  async #pause(ms: number): Promise<void> {
    const { signal } = this.#stopped;
    // Timers overflow after 24 days; no wait here is longer than an hour.
    await pause(ms, undefined, { signal, ref: false }).catch(() => undefined);
  }
}
