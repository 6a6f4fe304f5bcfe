import { setTimeout as pause } from 'node:timers/promises';
import { ScanProcessing } from '../errors/errors.ts';
import type { LedgerEntry } from '../store/contract/ledger.ts';
import { type Delivery, deliveryOf } from './delivery.ts';
import { type Flight, type Flights, heldBy, refuseConflict } from './flights.ts';
import { type GateOptions, RETRY_WITHIN_MS } from './gate-options.ts';
import { LedgerPen, StepLost } from './ledger.ts';
import { storedPayment, transactionOf } from './ledger-rows.ts';
import { ClientGone } from './paid-call.ts';
import { Abandoned } from './paid-run.ts';
import type { PaidWork } from './paid-work.ts';
import { PaymentRefused } from './payment-refused.ts';
import { errorOfReleased } from './released-answer.ts';
import { unknownSettlement } from './settlement.ts';
import { isFree, isInDoubt, isPaid } from './transitions.ts';
import { throwIfOver, until } from './until.ts';

/** Between two looks at what another host does. */
const POLL_INTERVAL_MS = 200;

/**
 * Waits for what becomes of a key that somebody else works on, or gets what became of it. Null:
 * the key is free, and was not used by anybody while this waited.
 *
 * For its own key a caller gets the error that ended the other call as well; under another key
 * (of the same payer and request) only a paid answer is of use.
 */
export class KeyWaiter {
  readonly #gate: GateOptions;
  readonly #flights: Flights;

  constructor(gate: GateOptions, flights: Flights) {
    this.#gate = gate;
    this.#flights = flights;
  }

  async wait(key: string, work: PaidWork): Promise<Delivery | null> {
    let wasBusy = false;
    for (;;) {
      throwIfOver(work.call);
      const flight = this.#flights.get(key);
      if (flight !== undefined) {
        const delivery = await this.#join(flight, work, key === work.key);
        if (delivery !== null) return delivery;
        continue;
      }
      const entry = await this.#gate.store.ledger.entry(key);
      if (entry === null) return null;
      const ended = await this.#ended(entry, work, wasBusy);
      if (ended !== 'busy') return ended;
      wasBusy = true;
      await this.#awaitElsewhere(entry, work);
    }
  }

  /** What became of a key; throws for the caller's own key where that is an error. */
  async #ended(
    entry: LedgerEntry,
    work: PaidWork,
    wasBusy: boolean,
  ): Promise<Delivery | null | 'busy'> {
    const isOwn = entry.key === work.key;
    const { state } = entry.last;
    if (isFree(state)) {
      const error = wasBusy && isOwn ? errorOfReleased(entry.last) : null;
      if (error !== null) throw error;
      return null;
    }
    if (isOwn) refuseConflict(heldBy(entry), work);
    if (isPaid(state)) return deliveryOf(this.#gate.store.answers, entry);
    if (state !== 'failed') return 'busy';
    if (!isOwn) return null;
    throw new PaymentRefused(
      'authorization_expired',
      'this authorization ended without having paid us. Nothing was charged: sign a new one',
    );
  }

  /** Null where the other caller left: those who still wait begin anew. */
  async #join(flight: Flight, work: PaidWork, isOwn: boolean): Promise<Delivery | null> {
    if (isOwn) refuseConflict(flight, work);
    const { payment } = flight;
    const atDeadline = () =>
      flight.run.isSettling
        ? unknownSettlement(payment.authorization, payment.requirements.network, null)
        : new ScanProcessing();
    const joined = flight.outcome.catch((error: unknown) => {
      const isTheirs = error instanceof ClientGone || error instanceof Abandoned;
      if (isTheirs || !isOwn) return null;
      throw error;
    });
    return until(joined, work.call, { atDeadline });
  }

  /** One step towards an answer for a key that this process does not work on. */
  async #awaitElsewhere(entry: LedgerEntry, work: PaidWork): Promise<void> {
    const { store, reconciler, retryWithinMs = RETRY_WITHIN_MS } = this.#gate;
    const { owner, state } = entry.last;
    const isOurs = owner.boot === store.info.owner.boot && owner.host === store.info.owner.host;
    const isOthers = !isOurs && (await store.instances.isAlive(owner));
    // What another host is settling, and what it is reconciling, it is best waited for.
    if (isOthers && state !== 'unknown') {
      await pause(POLL_INTERVAL_MS);
      return;
    }
    if (isInDoubt(state)) {
      const resolving = reconciler.resolve(entry.key, retryWithinMs);
      const found = await until(resolving, work.call, { atDeadline: () => doubt(entry) });
      if (found !== null && isInDoubt(found.last.state)) throw doubt(found);
      return;
    }
    await this.#takeOver(entry);
  }

  /** Its owner is gone, or lost track of it, before anything was settled. */
  async #takeOver(entry: LedgerEntry): Promise<void> {
    try {
      await LedgerPen.onEntry(this.#gate.store.ledger, entry).write('released', {
        reason: 'its owner is gone',
      });
    } catch (error) {
      if (!(error instanceof StepLost)) throw error;
    }
  }
}

function doubt(entry: LedgerEntry) {
  const { authorization, requirements } = storedPayment(entry);
  return unknownSettlement(authorization, requirements.network, transactionOf(entry));
}
