/** Waiting for what becomes of a payment, as long as its caller does. */

import { setTimeout as pause } from 'node:timers/promises';
import { PaymentConflict, Saturated, ScanProcessing } from '../errors/errors.ts';
import type { LedgerEntry } from '../store/contract/ledger.ts';
import { type Delivery, deliveryOf, errorOfReleased } from './answers.ts';
import { differingField } from './authorization.ts';
import { PaymentRefused } from './challenge.ts';
import {
  isFree,
  isInDoubt,
  isPaid,
  LedgerWriter,
  StepLost,
  type StoredPayment,
  storedPayment,
  transactionOf,
} from './ledger.ts';
import { ClientGone, type PaidCall } from './paid-route.ts';
import { Abandoned, type PaidRun } from './paid-run.ts';
import { type GateOptions, type Purchase, RETRY_WITHIN_MS } from './purchase.ts';
import { unknownSettlement } from './settlement.ts';

/** Milliseconds that a call may still wait; never negative. */
export function leftMs({ deadlineMs }: PaidCall): number {
  return Math.max(0, deadlineMs - performance.now());
}

/** Whatever ends a call before its work is done. */
export function throwIfEnded(call: PaidCall, stopping?: AbortSignal): void {
  if (call.gone.aborted) throw new ClientGone();
  if (stopping?.aborted) throw new Saturated();
  if (leftMs(call) === 0) throw new ScanProcessing();
}

/**
 * Waits for work while its caller does: rejects with `ClientGone`, with `atDeadline` (504 by
 * default), or, where the service stops, with `Saturated`. The work itself goes on.
 */
export function until<T>(
  work: Promise<T>,
  call: PaidCall,
  {
    stopping,
    atDeadline = () => new ScanProcessing(),
  }: { readonly stopping?: AbortSignal; readonly atDeadline?: () => Error } = {},
): Promise<T> {
  const over = Promise.withResolvers<never>();
  const onGone = () => over.reject(new ClientGone());
  const onStop = () => over.reject(new Saturated());
  if (call.gone.aborted) onGone();
  if (stopping?.aborted) onStop();
  call.gone.addEventListener('abort', onGone, { once: true });
  stopping?.addEventListener('abort', onStop, { once: true });
  const timer = setTimeout(() => over.reject(atDeadline()), leftMs(call));
  return Promise.race([work, over.promise]).finally(() => {
    clearTimeout(timer);
    call.gone.removeEventListener('abort', onGone);
    stopping?.removeEventListener('abort', onStop);
  });
}

/** A key that this process works on at this moment. */
export interface Flight {
  readonly request: string;
  readonly payment: StoredPayment;
  readonly run: Pick<PaidRun<unknown>, 'isSettling'>;
  /** Its key is free, or in the ledger, by the time this settles. */
  readonly outcome: Promise<Delivery>;
}

export class Flights {
  readonly #flights = new Map<string, Flight>();

  get(key: string): Flight | undefined {
    return this.#flights.get(key);
  }

  has(key: string): boolean {
    return this.#flights.has(key);
  }

  /** The caller has made sure that there is none for this key. */
  start<Input>(work: Purchase<Input>, run: PaidRun<Input>): Flight {
    const outcome = run.run().finally(() => this.#flights.delete(work.key));
    // Everybody who waited may have gone by the time it fails.
    outcome.catch(() => undefined);
    const payment = { ...work.payment, requirements: work.offer.requirements };
    const flight: Flight = { request: work.request, payment, run, outcome };
    this.#flights.set(work.key, flight);
    return flight;
  }

  async allEnded(): Promise<void> {
    await Promise.allSettled([...this.#flights.values()].map(({ outcome }) => outcome));
  }
}

/** One authorization buys one request: throws `PaymentConflict`, naming the field that differs. */
export function refuseConflict(
  held: { readonly request: string; readonly payment: StoredPayment },
  { request, payment, route }: Purchase,
): void {
  if (held.request !== request) {
    const isOtherRoute = !held.request.startsWith(`${route.name} `);
    const field = isOtherRoute ? 'route' : 'request';
    throw new PaymentConflict(
      field,
      `This payment was used for another ${field}, "${held.request}". Sign a new one for this.`,
    );
  }
  const field = differingField(held.payment, payment);
  if (field === null) return;
  throw new PaymentConflict(
    field,
    `This nonce was used with another "${field}". Sign with a new nonce.`,
  );
}

export function heldBy(entry: LedgerEntry): { request: string; payment: StoredPayment } {
  return { request: entry.last.request, payment: storedPayment(entry) };
}

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

  async wait(key: string, work: Purchase): Promise<Delivery | null> {
    let wasBusy = false;
    for (;;) {
      throwIfEnded(work.call);
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
    work: Purchase,
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
  async #join(flight: Flight, work: Purchase, isOwn: boolean): Promise<Delivery | null> {
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
  async #awaitElsewhere(entry: LedgerEntry, work: Purchase): Promise<void> {
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
      await LedgerWriter.onEntry(this.#gate.store.ledger, entry).write('released', {
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
