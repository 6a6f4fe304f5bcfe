import { PaidCallFailed, ServiceError } from '../../model/error-codes.ts';
import { PaymentsUnavailable, Saturated } from '../../model/errors.ts';
import type { LedgerEntry } from '../../store/ledger.ts';
import { toCharged, toProgress } from '../ledger/ledger.ts';
import {
  type PaidAnswer,
  type PaidCall,
  type PaidRoute,
  type SignedPayment,
  toRequestName,
} from '../paid-route.ts';
import { toPayer, toPaymentKey } from '../terms.ts';
import { PaymentRefused, toPaidAnswer, WrittenAnswers } from './answers.ts';
import { checkTerms, checkValidity, SignatureProofs } from './authorization.ts';
import { Challenges, type Preview } from './challenge.ts';
import { refuseDebtor } from './debts.ts';
import { FairShares } from './fair-shares.ts';
import type { PaymentHeaders } from './payment-header.ts';
import { type GateDeps, type PaidDelivery, type Purchase, publishStep } from './purchase.ts';
import { PurchaseRun, type PurchaseRunOptions } from './purchase-run.ts';
import {
  findLostAnswer,
  hasBuyersIdentifier,
  readIdentifier,
  refusePrivateAnswer,
  refuseRepeatedClaims,
  toIdentifierScope,
} from './redelivery.ts';
import {
  awaitPayment,
  type CallEnd,
  findEnd,
  InFlightCalls,
  type KeyState,
  toEndError,
  withDeadline,
} from './waiting.ts';

/** Outcome of one pass over the ledger: an answer, a caller who left, or a call for another pass. */
type Decision = PaidAnswer | 'disconnected' | 'again';

/**
 * Decides about every paid call: an answer is charged if and only if it is a delivered, or
 * redeliverable, 200. Errors other than challenges are thrown, and their `charged` says whether the
 * call's payment was charged.
 */
export class PaymentGate {
  readonly #deps: GateDeps;
  readonly #inFlight = new InFlightCalls();
  readonly #acknowledged: WrittenAnswers;
  readonly #shares: FairShares;
  readonly #proofs: SignatureProofs;
  readonly #challenges: Challenges;
  readonly #stopping = new AbortController();

  constructor(deps: GateDeps) {
    this.#deps = deps;
    this.#acknowledged = new WrittenAnswers(deps.store.ledger, deps.onError);
    this.#shares = new FairShares(deps);
    this.#challenges = new Challenges(deps);
    this.#proofs = new SignatureProofs(deps, this.#stopping.signal);
  }

  /** True while this process works on a key; recovery skips such keys. */
  isInFlight(key: string): boolean {
    return this.#inFlight.has(key);
  }

  /** Answers what can be answered before body and query are read. */
  preview<Input>(
    route: PaidRoute<Input>,
    headers: PaymentHeaders,
    isHead: boolean,
  ): Promise<Preview> {
    return this.#challenges.preview(route, headers, isHead, () => this.#refuseWhileBusy(route));
  }

  /** The challenge for a payment that its transport cannot read. */
  refuse<Input>(route: PaidRoute<Input>, refused: PaymentRefused): PaidAnswer {
    return this.#challenges.refuse(route, refused);
  }

  /** Answers a call that carries a payment; 'disconnected' if the caller has left. */
  async handle<Input>(
    route: PaidRoute<Input>,
    call: PaidCall,
  ): Promise<PaidAnswer | 'disconnected'> {
    const { payment } = call;
    const key = toPaymentKey(this.#deps.terms, payment.authorization);
    try {
      const scope = toIdentifierScope(payment, this.#deps.terms);
      const input = route.parse(call.request);
      const payer = toPayer(payment);
      const request = toRequestName(route, input);
      const offer = this.#challenges.findOffer(route);
      return await this.#pay({ route, input, call, payment, offer, key, payer, request, scope });
    } catch (error) {
      if (error instanceof PaymentRefused)
        return this.#challenges.refuse(route, error, payment.hasLegacyHeader);
      throw await this.withCharged(error, payment);
    }
  }

  /** Adds `charged` to an error of a paid call. */
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

  /** Ends calls that have not begun to settle, and waits for the others. */
  async close(): Promise<void> {
    this.#stopping.abort();
    await this.#inFlight.awaitAll();
    await this.#acknowledged.flush();
  }

  /** Reads the ledger from here on. */
  async #pay<Input>(purchase: Purchase<Input>): Promise<PaidAnswer | 'disconnected'> {
    const { store } = this.#deps;
    let entry: LedgerEntry | null | undefined = await store.ledger.findEntry(purchase.key);
    const proof = await this.#proofs.prove(purchase, entry, () => this.#refuseUnwelcome(purchase));
    if (proof === 'disconnected') return 'disconnected';
    publishStep({ name: 'parsed' });
    for (;;) {
      if (purchase.call.disconnect.aborted) return 'disconnected';
      if (this.#stopping.signal.aborted) throw new Saturated();
      const decision = await this.#decide(purchase, proof.isVerified, entry);
      if (decision !== 'again') return decision;
      entry = undefined;
    }
  }

  /** An answer that exists, or is being made; else new work. `entry`: what was just read of the key. */
  async #decide<Input>(
    purchase: Purchase<Input>,
    isVerified: boolean,
    entry: LedgerEntry | null | undefined,
  ): Promise<Decision> {
    const { store } = this.#deps;
    const { key, route, scope, payment, offer } = purchase;
    const state = await this.#awaitPayment(key, purchase, entry);
    if (state.kind === 'paid' && state.entry !== null) {
      await refusePrivateAnswer(store, purchase, state.entry);
    }
    if (state.kind !== 'free') return this.#answer(purchase, key, state);

    const ended = findEnd(purchase.call, this.#stopping.signal);
    if (ended !== null) return this.#ended(ended);
    checkTerms(payment, offer.requirements, store.now());
    const isInFlight = (other: string) => this.#inFlight.has(other);
    const identifier =
      scope === null ? null : await readIdentifier(store, scope, purchase, isInFlight);
    const other = identifier?.liveKey ?? (await this.#findLost(purchase));
    if (other !== null) {
      // Another authorization of the same payer bought the answer; this one is never settled.
      const bought = await this.#awaitPayment(other, purchase);
      return bought.kind === 'free' ? 'again' : this.#answer(purchase, other, bought);
    }

    checkValidity(payment, route, store.now());
    refuseRepeatedClaims(state.entry, store.now());
    await this.#refuseUnwelcome(purchase);
    return this.#begin(purchase, { entry: state.entry, identifier, isVerified });
  }

  /** Sends the answer that `key` bought; throws the error of a key that was refused. */
  async #answer<Input>(
    purchase: Purchase<Input>,
    key: string,
    state: Exclude<KeyState, { readonly kind: 'free' }>,
  ): Promise<Decision> {
    switch (state.kind) {
      case 'disconnected':
        return 'disconnected';
      case 'refused':
        throw state.error;
      case 'paid': {
        const isBuyers = await hasBuyersIdentifier(this.#deps.store, purchase, key);
        return this.#send(purchase, state.delivery, isBuyers);
      }
    }
  }

  /** Admits new work, waits for its turn, then claims, computes and settles it. */
  async #begin<Input>(
    purchase: Purchase<Input>,
    read: Pick<PurchaseRunOptions, 'entry' | 'identifier' | 'isVerified'>,
  ): Promise<Decision> {
    const { route, input, call, key } = purchase;
    const stopping = this.#stopping.signal;
    const admitted = await withDeadline(route.admit?.(input) ?? Promise.resolve(), call, stopping);
    if (admitted.kind !== 'done') return this.#ended(admitted.kind);
    const turn = await this.#shares.take(purchase, stopping);
    if (turn.kind === 'refused') throw turn.error;
    if (turn.kind !== 'taken') return this.#ended(turn.kind);
    // These two races are within this process, where the ledger does not see them.
    if (this.#inFlight.has(key) || (turn.hasWaited && (await this.#findLost(purchase)) !== null)) {
      turn.release();
      return 'again';
    }
    const run = new PurchaseRun(purchase, {
      deps: this.#deps,
      ...read,
      isInFlight: (other) => this.#inFlight.has(other),
      stopping,
      release: turn.release,
    });
    const outcome = await this.#inFlight.start(purchase, run);
    switch (outcome.kind) {
      case 'paid':
        return this.#send(purchase, outcome.delivery, true, false);
      case 'refused':
      case 'unknown':
        throw outcome.error;
      case 'abandoned':
        return 'again';
      case 'disconnected':
        return 'disconnected';
    }
  }

  #findLost(purchase: Purchase): Promise<string | null> {
    const isPending = (key: string) => this.#acknowledged.isPending(key);
    return findLostAnswer(this.#deps.store, purchase, isPending);
  }

  #awaitPayment(key: string, purchase: Purchase, known?: LedgerEntry | null) {
    const parts = { deps: this.#deps, inFlight: this.#inFlight };
    return awaitPayment(parts, key, purchase, known);
  }

  /** `isBuyers`: the caller has proved that they bought the answer, so writing it counts as delivery. */
  #send(
    purchase: Purchase,
    delivery: PaidDelivery,
    isBuyers: boolean,
    isRedelivered = true,
  ): PaidAnswer {
    return toPaidAnswer(delivery, {
      hasLegacyHeader: purchase.payment.hasLegacyHeader,
      isRedelivered,
      markWritten: () => {
        if (isBuyers) this.#acknowledged.mark(delivery.key);
      },
    });
  }

  /** Refuses new work of debtors and of a busy process, before anything is verified for it. */
  async #refuseUnwelcome<Input>(purchase: Purchase<Input>): Promise<void> {
    this.#refuseWhileBusy(purchase.route, purchase.input);
    if (this.#deps.isRateLimited) await refuseDebtor(this.#deps.store, purchase);
  }

  #refuseWhileBusy<Input>(route: PaidRoute<Input>, input?: Input): void {
    if (this.#stopping.signal.aborted || route.isSaturated?.(input)) throw new Saturated();
    if (!this.#deps.isReady()) throw new PaymentsUnavailable();
  }

  #ended(ended: CallEnd): 'disconnected' {
    const error = toEndError(ended);
    if (error === null) return 'disconnected';
    throw error;
  }
}
