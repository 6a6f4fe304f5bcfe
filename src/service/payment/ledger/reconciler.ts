/** Finds out how payments in doubt ended, for calls that wait and in the background. */
import { setTimeout as pause } from 'node:timers/promises';
import PQueue from 'p-queue';
import type { Hex } from 'viem';
import type { LedgerEntry, LedgerStore } from '../../store/ledger.ts';
import type { OnPaymentEvent } from '../settle/facilitator.ts';
import { FINAL_AFTER_MS, findTransaction, isInDoubt, UNPROVED } from './ledger.ts';
import { LedgerWriter, type PublishScan, publishSettled, StepLost } from './ledger-writer.ts';
import {
  findNextSendMs,
  type OwnSend,
  type ReconcileOptions,
  type ReconcileVerdict,
  reconcileOnce,
  toNextLookMs,
} from './reconcile.ts';

type ReconcilerOptions = ReconcileOptions & {
  readonly ledger: LedgerStore;
  readonly publish: PublishScan;
  readonly onError?: ((message: string, error: unknown) => void) | undefined;
  readonly onEvent?: OnPaymentEvent | undefined;
};

/** What this process knows of a payment in doubt, and its running work on the payment. */
type Doubt = {
  runningLook: Promise<LedgerEntry | null> | null;
  /** The loop of looks in the background; null if none runs. */
  watch: Promise<void> | null;
  /** Transaction of a settlement that is proved and not yet written to the store; null if there is none. */
  provedTransaction: Hex | null;
  lastSend: OwnSend | null;
  /** True if it was reported that the proof is still missing long after `validBefore`. */
  isReportedOverdue: boolean;
};

/** Looks of one queue that run at once. Without this limit, many looks would follow the end of an outage at once. */
const MAX_PARALLEL_LOOKS = 2;
/** Longest interval of looks while the store does not answer. */
const MAX_STORE_RETRY_MS = 60_000;

export class Reconciler {
  readonly #options: ReconcilerOptions;
  /** There are two queues, so that looks in the background do not delay a call that waits. */
  readonly #queues = {
    waiting: new PQueue({ concurrency: MAX_PARALLEL_LOOKS }),
    background: new PQueue({ concurrency: MAX_PARALLEL_LOOKS }),
  };
  readonly #doubts = new Map<string, Doubt>();
  readonly #stopped = new AbortController();

  constructor(options: ReconcilerOptions) {
    this.#options = options;
  }

  /** True while this key is looked up in the background. */
  isWatching(key: string): boolean {
    return (this.#doubts.get(key)?.watch ?? null) !== null;
  }

  /**
   * Returns the entry when its payment is no longer in doubt, or after `withinMs`. If the payment is still in doubt,
   * looks continue in the background. Null for an unknown key. Rejects with `StoreError`.
   */
  async awaitEnd(key: string, withinMs: number): Promise<LedgerEntry | null> {
    const { ledger, timing } = this.#options;
    const endMs = performance.now() + withinMs;
    const waitEnd = new AbortController();
    // After the time, the caller gets the entry as it is then, even if a look still runs.
    const atEnd = pause(withinMs, 0, { signal: waitEnd.signal }).then(() => ledger.findEntry(key));
    try {
      for (;;) {
        const latest = await Promise.race([this.#lookUp(key, 'waiting'), atEnd]);
        if (!isOpen(latest)) return latest;
        const leftMs = endMs - performance.now();
        if (leftMs < timing.lookIntervalMs || this.#stopped.signal.aborted) {
          this.watch(key);
          return latest;
        }
        await this.#pause(timing.lookIntervalMs);
      }
    } finally {
      waitEnd.abort();
    }
  }

  /** Looks in the background until the payment is no longer in doubt. */
  watch(key: string): void {
    if (this.#stopped.signal.aborted) return;
    const doubt = this.#openDoubt(key);
    doubt.watch ??= this.#lookUntilEnded(key, doubt).finally(() => {
      doubt.watch = null;
    });
  }

  /** Writes a confirmed settlement to the store, and retries until the store accepts it. */
  recordLater(key: string, transaction: Hex): void {
    this.#openDoubt(key).provedTransaction = transaction;
    this.watch(key);
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    const doubts = [...this.#doubts.values()];
    await Promise.allSettled(doubts.flatMap(({ watch, runningLook }) => [watch, runningLook]));
  }

  async #lookUntilEnded(key: string, doubt: Doubt): Promise<void> {
    const { now, onError, timing } = this.#options;
    const { firstBackoffMs, lastBackoffMs } = timing;
    let proofDueMs = Infinity;
    let nextSendMs = Infinity;
    let backoffMs = firstBackoffMs;
    for (;;) {
      const startMs = now();
      const dueMs = [nextSendMs, proofDueMs].filter((ms) => ms > startMs);
      const untilDueMs = Math.min(...dueMs) - startMs;
      const random = Math.random();
      await this.#pause(toNextLookMs({ backoffMs, firstBackoffMs, untilDueMs, random }));
      if (this.#stopped.signal.aborted || this.#doubts.get(key) !== doubt) return;
      let maxBackoffMs = lastBackoffMs;
      try {
        const entry = await this.#lookUp(key, 'background');
        if (!isOpen(entry)) return;
        proofDueMs = entry.last.validBeforeMs + FINAL_AFTER_MS;
        nextSendMs = findNextSendMs(this.#options, entry);
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

  /** Looks up a key, in the order of a queue. Callers that ask for the key while its look runs share that look. */
  async #lookUp(key: string, queue: 'waiting' | 'background'): Promise<LedgerEntry | null> {
    const runningLook = this.#doubts.get(key)?.runningLook;
    return runningLook ?? this.#queues[queue].add(() => this.#startLook(key));
  }

  #startLook(key: string): Promise<LedgerEntry | null> {
    if (this.#stopped.signal.aborted) return this.#options.ledger.findEntry(key);
    const doubt = this.#openDoubt(key);
    // The other queue may have started a look at this key meanwhile.
    doubt.runningLook ??= this.#look(key, doubt).finally(() => {
      doubt.runningLook = null;
    });
    return doubt.runningLook;
  }

  async #look(key: string, doubt: Doubt): Promise<LedgerEntry | null> {
    let entry = await this.#options.ledger.findEntry(key);
    if (isOpen(entry)) entry = await this.#reconcile(entry, doubt);
    if (!isOpen(entry)) this.#doubts.delete(key);
    return entry;
  }

  /** Writes how the payment ended, if that is proved. Returns the entry as it then is. */
  async #reconcile(entry: LedgerEntry, doubt: Doubt): Promise<LedgerEntry | null> {
    const { ledger } = this.#options;
    const writer = LedgerWriter.continueAfter(ledger, entry);
    try {
      // After another send, a refusal of the first send proves nothing. So this step comes before it: a slow first
      // writer can then no longer release the key.
      if (writer.state === 'settling' && doubt.provedTransaction === null) {
        const transaction = findTransaction(entry);
        await writer.write('unknown', { reason: 'taken over', transaction });
      }
      const verdict: ReconcileVerdict =
        doubt.provedTransaction === null
          ? await reconcileOnce(this.#options, { entry, writer, memory: doubt })
          : {
              kind: 'settled',
              reason: 'settled, recorded late',
              transaction: doubt.provedTransaction,
            };
      await this.#record(writer, verdict, doubt);
    } catch (error) {
      // Another instance has written a step, which is read below.
      if (!(error instanceof StepLost)) throw error;
    }
    return ledger.findEntry(entry.key);
  }

  async #record(writer: LedgerWriter, verdict: ReconcileVerdict, doubt: Doubt): Promise<void> {
    const { publish, now, onEvent, onError } = this.#options;
    const { key, validBeforeMs } = writer.facts;
    const { reason } = verdict;
    if (verdict.kind === 'open') {
      const isOverdue = now() > validBeforeMs + 2 * FINAL_AFTER_MS;
      if (isOverdue && !doubt.isReportedOverdue) onEvent?.({ kind: 'overdue', key, reason });
      doubt.isReportedOverdue ||= isOverdue;
      return;
    }
    if (verdict.kind === 'failed') {
      await writer.write('failed', { reason });
      onEvent?.({ kind: 'reconciled', outcome: 'failed', key, reason });
      return;
    }
    const isUnproved = reason === UNPROVED;
    await writer.write('settled', { transaction: verdict.transaction, how: reason });
    const outcome = isUnproved ? 'unproved' : 'settled';
    onEvent?.({ kind: 'reconciled', outcome, key, reason });
    await publishSettled(publish, writer, isUnproved).catch((error: unknown) => {
      // A sweep of `Recovery` will publish it.
      onError?.(`publishing ${key} failed and is tried again`, error);
    });
  }

  /** Finds the record of a payment in doubt, or adds an empty one. */
  #openDoubt(key: string): Doubt {
    const current = this.#doubts.get(key);
    if (current !== undefined) return current;
    const doubt: Doubt = {
      runningLook: null,
      watch: null,
      provedTransaction: null,
      lastSend: null,
      isReportedOverdue: false,
    };
    this.#doubts.set(key, doubt);
    return doubt;
  }

  async #pause(ms: number): Promise<void> {
    const { signal } = this.#stopped;
    await pause(ms, undefined, { signal, ref: false }).catch(() => undefined);
  }
}

function isOpen(entry: LedgerEntry | null): entry is LedgerEntry {
  return entry !== null && isInDoubt(entry.last.state);
}
