import { PaymentsUnavailable, Saturated, StoreUnavailable, UnpaidScans } from '../errors/errors.ts';
import type { LedgerEntry } from '../store/contract/ledger.ts';
import { StoreError } from '../store/contract/store-error.ts';
import { type Delivery, paidAnswer, WrittenMarks } from './answers.ts';
import {
  checkScheme,
  checkTerms,
  differingField,
  isSignedByPayer,
  payerOf,
  paymentKey,
} from './authorization.ts';
import {
  challengeFor,
  encodeSettlement,
  offerOf,
  PaymentRefused,
  type RouteOffer,
} from './challenge.ts';
import { isFree, storedPayment } from './ledger.ts';
import type { PaidAnswer, PaidCall } from './paid-route.ts';
import { type PaidRoute, requestOf } from './paid-route.ts';
import { Abandoned, PaidRun, refuseUnverified } from './paid-run.ts';
import { decodePayment, hasPaymentHeader, type PaymentHeaders } from './payment-header.ts';
import type { GateOptions, Purchase } from './purchase.ts';
import { StoreHealth } from './store-health.ts';
import { Flights, KeyWaiter, throwIfEnded } from './waiting.ts';
import { findLostAnswer, identifierOf, readIdentifier } from './whose-answer.ts';

const INVITATION = 'sign one entry of "accepts" and send it, base64 of JSON, as PAYMENT-SIGNATURE';

/**
 * Stands before every paid route: an answer is charged if and only if it is a delivered, or
 * redeliverable, 200. Errors that are no challenge are thrown; nothing was charged for them, with
 * the one exception that `SettlementUnknown` states.
 */
export class PaymentGate {
  readonly #options: GateOptions;
  readonly #flights = new Flights();
  readonly #waiter: KeyWaiter;
  readonly #written: WrittenMarks;
  readonly #health: StoreHealth;
  readonly #stopping = new AbortController();
  /** Neither changes while the service runs. */
  readonly #offers = new Map<string, RouteOffer>();
  readonly #invitations = new Map<string, PaidAnswer>();

  constructor(options: GateOptions) {
    this.#options = options;
    this.#waiter = new KeyWaiter(options, this.#flights);
    this.#written = new WrittenMarks(options.store.ledger, options.onTrouble);
    this.#health = new StoreHealth(options.store);
  }

  /** Whether this process works on a key now; whoever recovers keys leaves it alone. */
  isInFlight(key: string): boolean {
    return this.#flights.has(key);
  }

  offerOf(route: PaidRoute): RouteOffer {
    const { terms, baseUrl } = this.#options;
    const offer = this.#offers.get(route.name) ?? offerOf(route, terms, baseUrl);
    this.#offers.set(route.name, offer);
    return offer;
  }

  /**
   * What can be answered before body and query are looked at: the challenge where there is no
   * payment (always so for HEAD), or where its header cannot be read; null where there is one.
   */
  async preview(
    route: PaidRoute,
    headers: PaymentHeaders,
    isHead: boolean,
  ): Promise<PaidAnswer | null> {
    if (isHead || !hasPaymentHeader(headers)) return this.#invite(route);
    try {
      decodePayment(headers);
      return null;
    } catch (error) {
      return this.#refusal(route, headers, error);
    }
  }

  /** Answers a call that carries a payment. */
  async handle<Input>(route: PaidRoute<Input>, call: PaidCall): Promise<PaidAnswer> {
    try {
      return await this.#pay(route, call);
    } catch (error) {
      if (error instanceof StoreError) throw new StoreUnavailable(error);
      return this.#refusal(route, call.headers, error);
    }
  }

  /** Ends what is not being settled yet, and waits for what is. */
  async close(): Promise<void> {
    this.#stopping.abort();
    await this.#flights.allEnded();
    await this.#written.flushed();
  }

  async #invite(route: PaidRoute): Promise<PaidAnswer> {
    await this.#health.check();
    this.#refuseWhileBusy(route);
    const known = this.#invitations.get(route.name);
    if (known !== undefined) return known;
    const invitation = this.#challenge(
      route,
      new PaymentRefused('payment_required', INVITATION),
      false,
    );
    this.#invitations.set(route.name, invitation);
    return invitation;
  }

  #refusal(route: PaidRoute, headers: PaymentHeaders, error: unknown): PaidAnswer {
    if (!(error instanceof PaymentRefused)) throw error;
    return this.#challenge(route, error, headers['x-payment'] !== undefined);
  }

  #challenge(route: PaidRoute, refused: PaymentRefused, legacyHeader: boolean): PaidAnswer {
    const { headers, body } = challengeFor(this.offerOf(route), refused);
    const settlement = refused.settlement === null ? null : encodeSettlement(refused.settlement);
    return {
      status: 402,
      headers: {
        ...headers,
        ...(settlement === null ? {} : { 'payment-response': settlement }),
        ...(settlement === null || !legacyHeader ? {} : { 'x-payment-response': settlement }),
      },
      body,
      written() {},
    };
  }

  async #pay<Input>(route: PaidRoute<Input>, call: PaidCall): Promise<PaidAnswer> {
    const { terms, store, failpoints } = this.#options;
    const payment = decodePayment(call.headers);
    const scope = identifierOf(payment, terms);
    const input = route.parse(call.request);
    const key = paymentKey(terms, payment.authorization);
    const known = await store.ledger.entry(key);
    const isNew = !this.#flights.has(key) && (known === null || isFree(known.last.state));
    if (isNew) await route.admit?.(input);

    checkScheme(payment, terms);
    const request = requestOf(route, input);
    const offer = this.offerOf(route);
    const payer = payerOf(payment);
    const work: Purchase<Input> = {
      route,
      input,
      call,
      payment,
      offer,
      key,
      payer,
      request,
      scope,
    };
    const isVerified = await this.#authenticate(work, known);
    failpoints.pass('parsed');
    for (;;) {
      throwIfEnded(call, this.#stopping.signal);
      const answer = await this.#attempt(work, isVerified);
      if (answer !== null) return answer;
    }
  }

  /** Whether the facilitator vouched for the signature; throws where nobody does. */
  async #authenticate<Input>(work: Purchase<Input>, known: LedgerEntry | null): Promise<boolean> {
    const { terms, store, facilitator } = this.#options;
    const { payment, offer, route, payer } = work;
    if (await isSignedByPayer(payment, terms)) return false;
    // The very bytes that were vouched for when the key was claimed; asking again would fail once
    // the nonce is spent.
    if (known !== null && !isFree(known.last.state)) {
      const held = storedPayment(known);
      const isSame = held.signature === payment.signature && differingField(held, payment) === null;
      if (isSame) return true;
    }
    checkTerms(payment, offer.requirements, route, store.now());
    this.#refuseWhileBusy(route);
    await this.#refuseDebtors(route, payer);
    const stored = { ...payment, requirements: offer.requirements };
    refuseUnverified(await facilitator.verify({ payment: stored, offer }));
    return true;
  }

  /** Null where somebody else changed what this was based on: to be tried anew. */
  async #attempt<Input>(work: Purchase<Input>, isVerified: boolean): Promise<PaidAnswer | null> {
    const { store } = this.#options;
    const { key, route, payer, request, scope, payment, offer } = work;
    const known = await this.#waiter.wait(key, work);
    if (known !== null) return this.#send(work, known, true);

    const isInFlight = (other: string) => this.#flights.has(other);
    const identifier =
      scope === null ? null : await readIdentifier(store, scope, request, key, isInFlight);
    const twin = identifier?.liveKey ?? null;
    if (twin !== null) return this.#sendOther(work, twin);

    checkTerms(payment, offer.requirements, route, store.now());
    const lost = await findLostAnswer(store, work, (other) => this.#written.isWritten(other));
    if (lost !== null) return this.#sendOther(work, lost);

    this.#refuseWhileBusy(route);
    await this.#refuseDebtors(route, payer);
    if (this.#flights.has(key)) return null;
    const gate = this.#options;
    const stopping = this.#stopping.signal;
    const run = new PaidRun(work, { gate, identifier, isVerified, isInFlight, stopping });
    try {
      return this.#send(work, await this.#flights.start(work, run).outcome, false);
    } catch (error) {
      if (error instanceof Abandoned) return null;
      throw error;
    }
  }

  /** The answer that another authorization of the same payer bought; this one is never settled. */
  async #sendOther<Input>(work: Purchase<Input>, key: string): Promise<PaidAnswer | null> {
    const delivery = await this.#waiter.wait(key, work);
    return delivery === null ? null : this.#send(work, delivery, true);
  }

  #send(work: Purchase, delivery: Delivery, isRedelivered: boolean): PaidAnswer {
    return paidAnswer(delivery, {
      legacyHeader: work.payment.legacyHeader,
      isRedelivered,
      failpoints: this.#options.failpoints,
      written: () => this.#written.mark(delivery.key),
    });
  }

  #refuseWhileBusy(route: PaidRoute): void {
    if (this.#stopping.signal.aborted || route.isSaturated?.()) throw new Saturated();
    if (!this.#options.isReady()) throw new PaymentsUnavailable();
  }

  async #refuseDebtors(route: PaidRoute, payer: string): Promise<void> {
    if (!this.#options.isRateLimited) return;
    const untilMs = (await route.unpaidWork?.blockedUntilMs(payer)) ?? null;
    if (untilMs === null) return;
    const leftMs = untilMs - this.#options.store.now();
    throw new UnpaidScans(Math.max(1, Math.ceil(leftMs / 1000)));
  }
}
