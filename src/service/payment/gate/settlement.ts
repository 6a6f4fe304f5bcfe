import { setTimeout as pause } from 'node:timers/promises';
import type { Hex } from 'viem';
import { PaymentsUnavailable } from '../../errors/errors.ts';
import type { LedgerEntry } from '../../store/ledger.ts';
import { StoreError } from '../../store/store-error.ts';
import { findTransaction, toProgress } from '../ledger/ledger.ts';
import { type LedgerWriter, publishSettled, StepLost } from '../ledger/ledger-writer.ts';
import { type DoubtfulOutcome, toDoubtData } from '../settle/facilitator.ts';
import {
  type GateDeps,
  type PaidDelivery,
  type Purchase,
  type PurchaseOutcome,
  publishStep,
} from './purchase.ts';
import {
  createUnknownError,
  createUnpaidError,
  PaymentRefused,
  toReasonWord,
  toReleaseData,
} from './refusals.ts';

/** Settles the payment of one purchase whose answer is stored. */
export class Settlement {
  readonly #deps: GateDeps;
  readonly #purchase: Purchase;
  readonly #writer: LedgerWriter;
  readonly #delivery: PaidDelivery;

  constructor(deps: GateDeps, purchase: Purchase, writer: LedgerWriter, delivery: PaidDelivery) {
    this.#deps = deps;
    this.#purchase = purchase;
    this.#writer = writer;
    this.#delivery = delivery;
  }

  /** Writes `settling`, sends the payment, writes the result and publishes. Rejects only before the payment is sent. */
  async run(): Promise<PurchaseOutcome> {
    const { facilitator } = this.#deps;
    const { payment, offer } = this.#purchase;
    if (!(await this.#declareIntent())) return this.#toUnknown(null);
    publishStep({ name: 'intent-synced' });
    const outcome = await facilitator.settle({ payment, offer });
    publishStep({ name: 'settled-unread' });
    switch (outcome.kind) {
      case 'settled':
        await this.#record(outcome.transaction);
        return this.#toPaid(outcome.transaction);
      case 'refused':
        return this.#release(outcome.reason, this.#toRefusal(outcome.reason));
      case 'not_sent':
        return this.#release(outcome.reason, new PaymentsUnavailable(new Error(outcome.reason)));
      case 'nonce_used':
      case 'unclear':
        return this.#reconcile(outcome);
    }
  }

  /** Announces the payment before it is sent. False: the store did not answer, and the step may be written or not. */
  async #declareIntent(): Promise<boolean> {
    try {
      // The step has no data, because the claim holds the payment.
      await this.#writer.write('settling', {});
      return true;
    } catch (error) {
      if (!(error instanceof StoreError) || error.code !== 'unavailable') throw error;
      this.#deps.reconciler.watch(this.#purchase.key);
      return false;
    }
  }

  async #record(transaction: Hex): Promise<void> {
    const { key } = this.#purchase;
    const { onError, publish, reconciler } = this.#deps;
    try {
      await this.#writer.write('settled', { transaction, how: 'settled' });
      publishStep({ name: 'settled-recorded' });
    } catch (error) {
      // The money has moved and the answer is stored, so the payer gets the answer. The reconciler writes
      // the transaction later, even if another instance has taken the key over.
      if (!(error instanceof StepLost))
        onError(`the settlement of ${key} is recorded later`, error);
      reconciler.recordLater(key, transaction);
      return;
    }
    await publishSettled(publish, this.#writer).catch((error: unknown) => {
      onError(`publishing ${key} failed and is tried again`, error);
    });
  }

  /** Releases a key whose payment was never sent. The payer may send it again, for example after a top-up. */
  async #release(reason: string, error: Error): Promise<PurchaseOutcome> {
    try {
      await this.#writer.write('released', toReleaseData(toReasonWord(reason), error));
      return { kind: 'refused', error };
    } catch (failure) {
      // The ledger still says `settling`, so another instance may send the payment and charge the payer.
      this.#deps.onError(`the refusal of ${this.#purchase.key} could not be recorded`, failure);
      this.#deps.reconciler.watch(this.#purchase.key);
      return this.#toUnknown(null);
    }
  }

  #toRefusal(reason: string): PaymentRefused {
    const { authorization, requirements } = this.#purchase.payment;
    const word = toReasonWord(reason);
    return new PaymentRefused(
      'settlement_failed',
      `${word}. Nothing was charged: set that right and send the payment again, or sign a new one`,
      {
        network: requirements.network,
        payer: authorization.from,
        transaction: null,
        errorReason: word,
      },
    );
  }

  async #reconcile(outcome: DoubtfulOutcome): Promise<PurchaseOutcome> {
    const { onError } = this.#deps;
    const { reason, transaction } = outcome;
    onError(`the settlement of ${this.#purchase.key} is in doubt`, new Error(reason));
    const entry = await this.#awaitEnd(outcome);
    if (entry === null) return this.#toUnknown(transaction);
    switch (toProgress(entry.last.state)) {
      case 'in_doubt':
        return this.#toUnknown(findTransaction(entry) ?? transaction);
      case 'paid':
        return this.#toPaid(findTransaction(entry));
      case 'failed':
      case 'free': // this state and the next cannot follow our `settling`
      case 'working':
        return { kind: 'refused', error: createUnpaidError() };
    }
  }

  /** Returns the entry when the payment is no longer in doubt; null if that takes longer than the call waits. */
  async #awaitEnd(outcome: DoubtfulOutcome): Promise<LedgerEntry | null> {
    const { store, reconciler, onError, timing } = this.#deps;
    const { reconcileWithinMs } = timing;
    const { key } = this.#purchase;
    const lookupEnd = new AbortController();
    const lookup = this.#writer
      .write('unknown', toDoubtData(outcome))
      .then(() => reconciler.awaitEnd(key, reconcileWithinMs))
      .catch((error: unknown) => {
        onError(`reconciling ${key} goes on in the background`, error);
        reconciler.watch(key);
        return store.ledger.findEntry(key).catch(() => null);
      });
    // `awaitEnd` keeps to its time, but a slow store may delay the step before it.
    const timeUp = pause(reconcileWithinMs, null, { signal: lookupEnd.signal }).catch(() => null);
    return await Promise.race([lookup, timeUp]).finally(() => lookupEnd.abort());
  }

  #toUnknown(transaction: Hex | null): PurchaseOutcome {
    return { kind: 'unknown', error: createUnknownError(this.#purchase.payment, transaction) };
  }

  #toPaid(transaction: Hex | null): PurchaseOutcome {
    const settlement = { ...this.#delivery.settlement, transaction };
    return { kind: 'paid', delivery: { ...this.#delivery, settlement } };
  }
}
