import type { Hex } from 'viem';
import { SettlementUnknown } from '../errors/errors.ts';
import { StoreError } from '../store/contract/store-error.ts';
import type { Delivery } from './answers.ts';
import { releasedData } from './answers.ts';
import type { EvmNetwork } from './challenge.ts';
import { PaymentRefused, reasonWord } from './challenge.ts';
import type { FacilitatorRequest } from './facilitator.ts';
import {
  isInDoubt,
  isPaid,
  type LedgerWriter,
  StepLost,
  storePayment,
  transactionOf,
} from './ledger.ts';
import type { Authorization } from './payment-header.ts';
import { publishSettled } from './publisher.ts';
import type { Purchase } from './purchase.ts';
import { type GateOptions, RECONCILE_WITHIN_MS } from './purchase.ts';

/** The one send that a claim makes, and what is made of its answer. */
export class Settlement {
  readonly #gate: GateOptions;
  readonly #work: Purchase;
  readonly #pen: LedgerWriter;
  readonly #delivery: Delivery;

  constructor(gate: GateOptions, work: Purchase, pen: LedgerWriter, delivery: Delivery) {
    this.#gate = gate;
    this.#work = work;
    this.#pen = pen;
    this.#delivery = delivery;
  }

  /**
   * Says in the ledger that the payment is about to be sent: nothing is sent that is not written
   * there. Rejects with `SettlementUnknown` where the step may or may not be in.
   */
  async declareIntent(): Promise<void> {
    const { payment, offer, key } = this.#work;
    try {
      await this.#pen.write('settling', storePayment(payment, offer.requirements));
    } catch (error) {
      if (!(error instanceof StoreError) || error.code !== 'unavailable') throw error;
      this.#gate.reconciler.watch(key);
      throw this.#unknown(null);
    }
  }

  /** The paid answer, or a rejection: `PaymentRefused`, free of charge, or `SettlementUnknown`. */
  async send(): Promise<Delivery> {
    const { facilitator, failpoints } = this.#gate;
    const { payment, offer } = this.#work;
    const request: FacilitatorRequest = {
      payment: { ...payment, requirements: offer.requirements },
      offer,
    };
    const outcome = await facilitator.settle(request);
    failpoints.pass('settled-unread');
    switch (outcome.kind) {
      case 'settled':
        await this.#record(outcome.transaction);
        return this.#paidBy(outcome.transaction);
      case 'refused':
      case 'not_sent':
        return this.#refuse(outcome.reason);
      case 'nonce_used':
      case 'unclear':
        return this.#reconcile(outcome.reason, outcome.transaction);
    }
  }

  async #record(transaction: Hex): Promise<void> {
    const { key } = this.#work;
    const { failpoints, onTrouble, publish, reconciler } = this.#gate;
    try {
      await this.#pen.write('settled', { transaction, how: 'settled' });
      failpoints.pass('settled-recorded');
    } catch (error) {
      // The money has moved and the answer is stored: it is sent whatever the store says now, and
      // a host that took the key over learns the transaction.
      if (error instanceof StepLost) {
        reconciler.recordLater(key, transaction);
        return;
      }
      onTrouble(`the settlement of ${key} is recorded later`, error);
      reconciler.recordLater(key, transaction);
      return;
    }
    await publishSettled(publish, this.#pen).catch((error: unknown) => {
      onTrouble(`publishing ${key} failed and is tried again`, error);
    });
  }

  /** Nothing was sent, so the authorization is free for another try, after a top-up for instance. */
  async #refuse(reason: string): Promise<never> {
    const { payment, offer, key } = this.#work;
    const word = reasonWord(reason);
    const refused = new PaymentRefused(
      'settlement_failed',
      `${word}. Nothing was charged: set that right and send the payment again, or sign a new one`,
      {
        network: offer.requirements.network,
        payer: payment.authorization.from,
        transaction: null,
        errorReason: word,
      },
    );
    try {
      await this.#pen.write('released', releasedData(word, refused));
    } catch (error) {
      // Still `settling` in the ledger, so it may be sent again: no promise can be made.
      this.#gate.onTrouble(`the refusal of ${key} could not be recorded`, error);
      this.#gate.reconciler.watch(key);
      throw this.#unknown(null);
    }
    throw refused;
  }

  async #reconcile(reason: string, transaction: Hex | null): Promise<Delivery> {
    const { store, reconciler, onTrouble, reconcileWithinMs = RECONCILE_WITHIN_MS } = this.#gate;
    const { key } = this.#work;
    onTrouble(`the settlement of ${key} is in doubt`, new Error(reason));
    const entry = await this.#pen
      .write('unknown', { reason, transaction })
      .then(() => reconciler.resolve(key, reconcileWithinMs))
      .catch((error: unknown) => {
        onTrouble(`reconciling ${key} goes on in the background`, error);
        reconciler.watch(key);
        return store.ledger.entry(key).catch(() => null);
      });
    if (entry === null || isInDoubt(entry.last.state)) {
      throw this.#unknown(transaction);
    }
    if (isPaid(entry.last.state)) return this.#paidBy(transactionOf(entry));
    throw new PaymentRefused(
      'settlement_failed',
      'your authorization ended without having paid us. Nothing was charged: sign a new one',
    );
  }

  #unknown(transaction: Hex | null): SettlementUnknown {
    const { payment, offer } = this.#work;
    return unknownSettlement(payment.authorization, offer.requirements.network, transaction);
  }

  #paidBy(transaction: Hex | null): Delivery {
    const settlement = { ...this.#delivery.settlement, transaction };
    return { ...this.#delivery, settlement };
  }
}

/** What the payer is told while nobody knows whether its money has moved. */
export function unknownSettlement(
  { from, nonce }: Authorization,
  network: EvmNetwork,
  transaction: Hex | null,
): SettlementUnknown {
  return new SettlementUnknown({ network, payer: from, nonce, transaction });
}
