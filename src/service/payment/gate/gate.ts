import { PaidCallFailed, ServiceError } from '../../errors/error-codes.ts';
import { PaymentsUnavailable, Saturated } from '../../errors/errors.ts';
import { toCharged, toProgress } from '../ledger/ledger.ts';
import {
  type PaidCall,
  type PaidRoute,
  type PaidRouteAnswer,
  type SignedPayment,
  toRequestName,
} from '../paid-route.ts';
import { toPayer, toPaymentKey } from '../terms.ts';
import { checkTerms, checkValidity, SignatureProofs } from './authorization.ts';
import {
  CallEnded,
  isDisconnect,
  throwIfEnded,
  toAnsweredError,
  withDeadline,
} from './call-end.ts';
import { Challenges, type PaymentReading } from './challenge.ts';
import { refuseDebtor } from './debts.ts';
import {
  hasBuyersIdentifier,
  readLinks,
  readPaymentIdentifier,
  refuseRepeatedClaims,
} from './identifier-links.ts';
import { toPaidAnswer, WrittenAnswers } from './paid-answers.ts';
import { PaidTurns } from './paid-turns.ts';
import type { PaymentHeaders } from './payment-header.ts';
import { type GateDeps, type PaidDelivery, type Purchase, publishStep } from './purchase.ts';
import { PurchaseRun, type PurchaseRunOptions } from './purchase-run.ts';
import { findUndeliveredKey } from './redelivery.ts';
import { PaymentRefused } from './refusals.ts';
import { awaitPayment, InFlightCalls } from './waiting.ts';

/** Outcome of one try to answer. `again`: the ledger has changed, so the next try decides anew. */
type TryOutcome = PaidRouteAnswer | 'again';

/**
 * Decides about every paid call. An answer is charged if and only if it is a 200 that was delivered or can be fetched
 * again. A refused payment is answered with a 402. Every other error is thrown, and its `charged` says if the call's
 * payment was charged.
 */
export class PaymentGate {
  readonly #deps: GateDeps;
  readonly #inFlight = new InFlightCalls();
  readonly #written: WrittenAnswers;
  readonly #turns: PaidTurns;
  readonly #proofs: SignatureProofs;
  readonly #challenges: Challenges;
  readonly #stopping = new AbortController();

  constructor(deps: GateDeps) {
    this.#deps = deps;
    this.#written = new WrittenAnswers(deps);
    this.#turns = new PaidTurns(deps);
    this.#challenges = new Challenges(deps);
    this.#proofs = new SignatureProofs(deps, this.#stopping.signal);
  }

  /** True while a call of this process works on the key. Recovery skips such keys. */
  readonly isInFlight = (key: string): boolean => this.#inFlight.has(key);

  /** Returns an answer if no payment can be read from the headers, else the decoded payment. */
  readPayment<Input>(
    route: PaidRoute<Input>,
    headers: PaymentHeaders,
    isHead: boolean,
  ): Promise<PaymentReading> {
    return this.#challenges.readPayment(route, headers, isHead, () => this.#refuseWhileBusy(route));
  }

  /** Answers 402 to a payment that its receiver refuses before `readPayment`, such as one that no header can carry. */
  toRefusal<Input>(route: PaidRoute<Input>, refusal: PaymentRefused): PaidRouteAnswer {
    return this.#challenges.toRefusal(route, refusal);
  }

  /** Answers a call that carries a payment. Throws every error except a refused payment, with `charged`. */
  async answerCall<Input>(
    route: PaidRoute<Input>,
    call: PaidCall,
  ): Promise<PaidRouteAnswer | 'disconnected'> {
    const { authorization, signature, hasLegacyHeader } = call.payment;
    const key = toPaymentKey(this.#deps.terms, authorization);
    try {
      const identifier = readPaymentIdentifier(call.payment, this.#deps.terms);
      const input = route.parse(call.request);
      const payer = toPayer(call.payment);
      const request = toRequestName(route, input);
      const offer = this.#challenges.findOffer(route);
      const payment = { authorization, signature, requirements: offer.requirements };
      const purchase = { route, input, call, payment, offer, key, payer, request, identifier };
      return await this.#answerPurchase(purchase);
    } catch (error) {
      if (isDisconnect(error)) return 'disconnected';
      if (error instanceof PaymentRefused)
        return this.#challenges.toRefusal(route, error, hasLegacyHeader);
      throw await this.withCharged(toAnsweredError(error), call.payment);
    }
  }

  /** Adds `charged` to an error of a paid call. Null means that nobody knows if the payment was charged. */
  async withCharged(error: unknown, { authorization }: SignedPayment): Promise<unknown> {
    if (error instanceof PaidCallFailed) return error;
    if (error instanceof ServiceError && error.charged !== undefined) return error;
    const { store, terms } = this.#deps;
    const charged = await store.ledger.findEntry(toPaymentKey(terms, authorization)).then(
      (entry) => (entry === null ? false : toCharged(toProgress(entry.last.state))),
      () => null,
    );
    return new PaidCallFailed(error, charged);
  }

  /** Ends calls that have not begun to settle, and waits for calls that have. */
  async close(): Promise<void> {
    this.#stopping.abort();
    await this.#inFlight.awaitAll();
    await this.#written.flush();
  }

  async #answerPurchase<Input>(purchase: Purchase<Input>): Promise<PaidRouteAnswer> {
    publishStep({ name: 'parsed' });
    // Asks the facilitator only if recovery does not prove the signature, and never for a debtor or while busy.
    const isVerified = await this.#proofs.prove(purchase, () => this.#refuseBusyOrDebtor(purchase));
    for (;;) {
      if (this.#stopping.signal.aborted) throw new CallEnded('stopping');
      const outcome = await this.#tryToAnswer(purchase, isVerified);
      if (outcome !== 'again') return outcome;
    }
  }

  /** Returns an answer that exists or is being made, else does the work for a new answer. */
  async #tryToAnswer<Input>(purchase: Purchase<Input>, isVerified: boolean): Promise<TryOutcome> {
    const { store } = this.#deps;
    const { key, route, identifier, call, payment } = purchase;
    const state = await this.#awaitPayment(key, purchase);
    if (state.kind === 'refused') throw state.error;
    if (state.kind === 'paid') return this.#redeliver(purchase, state.delivery);

    throwIfEnded(call, this.#stopping.signal);
    // A payment that only fetches the answer of another one must be on our terms too. Its validity counts for new work.
    checkTerms(call.payment, payment.requirements, store.now());
    const links =
      identifier === null ? null : await readLinks(store, identifier, purchase, this.isInFlight);
    const boughtKey = links?.liveKey ?? (await this.#findUndeliveredKey(purchase));
    if (boughtKey !== null) {
      // Another authorization of this payer has bought the answer, or may buy it. This call's payment is not settled.
      const bought = await this.#awaitPayment(boughtKey, purchase);
      return bought.kind === 'paid' ? this.#redeliver(purchase, bought.delivery) : 'again';
    }

    checkValidity(payment, route, store.now());
    refuseRepeatedClaims(state.entry, store.now());
    await this.#refuseBusyOrDebtor(purchase);
    return this.#answerByNewWork(purchase, { entry: state.entry, links, isVerified });
  }

  async #redeliver(purchase: Purchase, delivery: PaidDelivery): Promise<PaidRouteAnswer> {
    const isBuyer = await hasBuyersIdentifier(this.#deps.store, purchase, delivery.key);
    return this.#toPaidAnswer(purchase, delivery, { isBuyer, isRedelivered: true });
  }

  /** Admits new work, waits for its turn, then claims the key, computes the answer and settles the payment. */
  async #answerByNewWork<Input>(
    purchase: Purchase<Input>,
    facts: Pick<PurchaseRunOptions, 'entry' | 'links' | 'isVerified'>,
  ): Promise<TryOutcome> {
    const { route, input, call, key } = purchase;
    const stopping = this.#stopping.signal;
    await withDeadline(route.admit?.(input) ?? Promise.resolve(), call, { stopping });
    const turn = await this.#turns.take(purchase, stopping);
    const endTurn = (error: unknown): never => {
      turn.release();
      throw error;
    };
    // The payer may have bought the answer by another payment while this call waited.
    const boughtKey = turn.hasWaited
      ? await this.#findUndeliveredKey(purchase).catch(endTurn)
      : null;
    // Another call of this process may have begun this purchase. No `await` may come between `has` and `start`.
    if (boughtKey !== null || this.#inFlight.has(key)) {
      turn.release();
      return 'again';
    }
    const run = new PurchaseRun(purchase, {
      deps: this.#deps,
      ...facts,
      isInFlight: this.isInFlight,
      stopping,
      release: turn.release,
    });
    const outcome = await this.#inFlight.start(purchase, run);
    switch (outcome.kind) {
      case 'paid':
        return this.#toPaidAnswer(purchase, outcome.delivery, {
          isBuyer: true,
          isRedelivered: false,
        });
      case 'refused':
      case 'unknown':
        throw outcome.error;
      case 'abandoned':
        return 'again';
    }
  }

  #findUndeliveredKey(purchase: Purchase): Promise<string | null> {
    const isBeingMarked = (key: string) => this.#written.isBeingMarked(key);
    return findUndeliveredKey(this.#deps.store, purchase, isBeingMarked);
  }

  #awaitPayment(key: string, purchase: Purchase) {
    return awaitPayment({ deps: this.#deps, inFlight: this.#inFlight }, key, purchase);
  }

  /** `isBuyer` is true if the caller has proved to be the buyer. Only then the written answer counts as delivered. */
  #toPaidAnswer(
    purchase: Purchase,
    delivery: PaidDelivery,
    { isBuyer, isRedelivered }: { readonly isBuyer: boolean; readonly isRedelivered: boolean },
  ): PaidRouteAnswer {
    return toPaidAnswer(delivery, {
      hasLegacyHeader: purchase.call.payment.hasLegacyHeader,
      isRedelivered,
      markWritten: () => {
        if (isBuyer) this.#written.mark(delivery.key);
      },
    });
  }

  /** Throws if the process is busy, or if debts are limited and the payer has too many. */
  async #refuseBusyOrDebtor<Input>(purchase: Purchase<Input>): Promise<void> {
    this.#refuseWhileBusy(purchase.route, purchase.input);
    if (this.#deps.isRateLimited) await refuseDebtor(this.#deps.store, purchase);
  }

  #refuseWhileBusy<Input>(route: PaidRoute<Input>, input?: Input): void {
    if (this.#stopping.signal.aborted || route.isSaturated?.(input)) throw new Saturated();
    if (!this.#deps.isReady()) throw new PaymentsUnavailable();
  }
}
