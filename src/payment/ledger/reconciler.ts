/** Finds out how payments in doubt ended, for calls that wait and in the background. */
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

/** Looks of one queue that run at once. Without this limit, many looks would follow the end of an outage at once. */
const MAX_PARALLEL_LOOKS = 2;
/** Longest interval of looks while the store does not answer. */
const MAX_STORE_RETRY_MS = 60_000;

export class Reconciler {
  readonly #options: ReconcilerOptions;
  readonly #timing: ReconcileTiming;
  /** There are two queues, so that looks in the background do not delay a call that waits. */
  readonly #queues = {
    waiting: new PQueue({ concurrency: MAX_PARALLEL_LOOKS }),
    background: new PQueue({ concurrency: MAX_PARALLEL_LOOKS }),
  };
  /** Looks that run now, by key. */
  readonly #looks = new Map<string, Promise<LedgerEntry | null>>();
  /** Loops of looks in the background, by key. */
  readonly #watches = new Map<string, Promise<void>>();
  readonly #resends: Resends;
  /** Keys that were reported as overdue. */
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

  /** True while this key is looked up in the background. */
  isWatching(key: string): boolean {
    return this.#watches.has(key);
  }

  /**
   * Returns the entry when its payment is no longer in doubt, or after `withinMs`. If the payment is still in doubt,
   * looks continue in the background. Null for an unknown key. Rejects with `StoreError`.
   */
  async resolve(key: string, withinMs: number): Promise<LedgerEntry | null> {
    const timer = new AbortController();
    const timeUp = pause(withinMs, 'time is up', { signal: timer.signal }).catch(() => null);
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
      timer.abort();
    }
  }

  /** Looks in the background until the payment is no longer in doubt. */
  watch(key: string): void {
    if (this.#watches.has(key) || this.#stopped.signal.aborted) return;
    const watching = this.#lookUntilEnded(key).finally(() => this.#watches.delete(key));
    this.#watches.set(key, watching);
  }

  /** Writes a confirmed settlement to the store, and retries until the store accepts it. */
  recordLater(key: string, transaction: Hex): void {
    this.#unrecorded.set(key, transaction);
    this.watch(key);
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.allSettled([...this.#watches.values(), ...this.#looks.values()]);
  }

  async #lookUntilEnded(key: string): Promise<void> {
    const { now, onError } = this.#options;
    const { firstBackoffMs, lastBackoffMs } = this.#timing;
    let proofDueMs = Number.POSITIVE_INFINITY;
    let nextSendMs = Number.POSITIVE_INFINITY;
    let backoffMs = firstBackoffMs;
    for (;;) {
      const startMs = now();
      const untilDueMs = Math.min(
        ...[nextSendMs, proofDueMs].map((dueMs) => (dueMs > startMs ? dueMs - startMs : Infinity)),
      );
      const random = Math.random();
      await this.#pause(toNextLookMs({ backoffMs, firstBackoffMs, untilDueMs, random }));
      if (this.#stopped.signal.aborted) return;
      let maxBackoffMs = lastBackoffMs;
      try {
        const entry = await this.#look(key, 'background');
        if (entry === null || !isInDoubt(entry.last.state)) return;
        proofDueMs = entry.last.validBeforeMs + FINAL_AFTER_MS;
        nextSendMs = this.#resends.findNextSendMs(entry) ?? Number.POSITIVE_INFINITY;
      } catch (error) {
        onError?.(`reconciling ${key} failed and is tried again`, error);
        // Without the entry we do not know when proof is due, so the interval stays short.
        maxBackoffMs = Math.min(lastBackoffMs, MAX_STORE_RETRY_MS);
      }
      // From `proofDueMs` on, the chain can prove the end. If this look was the first after it, quick looks follow.
      const isProofDueNow = startMs < proofDueMs && now() >= proofDueMs;
      backoffMs = isProofDueNow ? firstBackoffMs : Math.min(backoffMs * 2, maxBackoffMs);
    }
  }

  /** Looks up a key. Callers that ask for the key while its look runs share that look. */
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
    if (entry === null || !isInDoubt(entry.last.state)) return this.#forgetEnded(key, entry);
    const writer = LedgerWriter.continueAfter(ledger, entry);
    try {
      // After another send, a refusal of the first send proves nothing. So this step comes before it: a slow first
      // writer can then no longer release the key.
      if (writer.state === 'settling' && !this.#unrecorded.has(key)) {
        const transaction = findTransaction(entry);
        await writer.write('unknown', { reason: 'taken over', transaction });
      }
      await this.#record(writer, await this.#findVerdict(writer, entry));
    } catch (error) {
      // Another instance has written a step, which is read below.
      if (!(error instanceof StepLost)) throw error;
    }
    return this.#forgetEnded(key, await ledger.findEntry(key));
  }

  /** Forgets a key that is no longer in doubt. Returns `entry`. */
  #forgetEnded(key: string, entry: LedgerEntry | null): LedgerEntry | null {
    if (entry !== null && isInDoubt(entry.last.state)) return entry;
    this.#resends.forget(key);
    this.#overdue.delete(key);
    this.#unrecorded.delete(key);
    return entry;
  }

  async #findVerdict(writer: LedgerWriter, entry: LedgerEntry): Promise<ReconcileVerdict> {
    const { key } = entry;
    const transaction = this.#unrecorded.get(key);
    if (transaction !== undefined) {
      return { kind: 'settled', transaction, how: 'settled, recorded late' };
    }
    const resend = this.#resends.findDueSend(writer, entry);
    const verdict = await reconcileOnce(this.#options, entry, resend);
    if (verdict.kind === 'open') this.#reportOverdue(entry, verdict.reason);
    return verdict;
  }

  /** Reports a key once if its proof is still missing long after `validBefore`. */
  #reportOverdue({ key, last }: LedgerEntry, reason: string): void {
    const isOverdue = this.#options.now() > last.validBeforeMs + 2 * FINAL_AFTER_MS;
    if (!isOverdue || this.#overdue.has(key)) return;
    this.#overdue.add(key);
    this.#options.onEvent?.({ kind: 'overdue', key, reason });
  }

  async #record(writer: LedgerWriter, verdict: ReconcileVerdict): Promise<void> {
    if (verdict.kind === 'open') return;
    const { key } = writer.facts;
    const report = (outcome: 'settled' | 'failed' | 'unproved', reason: string) =>
      this.#options.onEvent?.({ kind: 'reconciled', outcome, key, reason });
    if (verdict.kind === 'failed') {
      await writer.write('failed', { reason: verdict.reason });
      report('failed', verdict.reason);
      return;
    }
    const { transaction, how } = verdict;
    const isUnproved = how === UNPROVED;
    await writer.write('settled', { transaction, how });
    report(isUnproved ? 'unproved' : 'settled', how);
    await publishSettled(this.#options.publish, writer, isUnproved).catch((error: unknown) => {
      // A sweep of `Recovery` will publish it.
      this.#options.onError?.(`publishing ${key} failed and is tried again`, error);
    });
  }

  async #pause(ms: number): Promise<void> {
    const { signal } = this.#stopped;
    await pause(ms, undefined, { signal, ref: false }).catch(() => undefined);
  }
}
