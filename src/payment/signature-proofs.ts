/** Who signed a payment: recovered here, or vouched for by the facilitator. */
import { PaymentsUnavailable, Saturated } from '../errors/errors.ts';
import type { LedgerEntry } from '../store/contract/ledger.ts';
import { checkTerms, checkValidity, differingField, isSignedByPayer } from './authorization.ts';
import { standingOf, storedPayment } from './ledger.ts';
import { refusalOf } from './paid-run.ts';
import type { GateOptions, Purchase } from './purchase.ts';
import { withDeadline } from './waiting.ts';

/** Verifications of signatures that we cannot recover ourselves, a minute and process. */
const VERIFICATIONS_A_MINUTE = 60;
const MINUTE_MS = 60_000;

/**
 * A bucket for all callers together: signatures of contract wallets are free to make up, from any
 * number of addresses, and each costs a call to the facilitator. Never switched off.
 */
class VerifyBudget {
  readonly #now: () => number;
  #left = VERIFICATIONS_A_MINUTE;
  #countedMs: number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#countedMs = now();
  }

  /** Zero where one was taken; else the seconds until there is one again. */
  take(): number {
    const nowMs = this.#now();
    const gained = ((nowMs - this.#countedMs) / MINUTE_MS) * VERIFICATIONS_A_MINUTE;
    this.#left = Math.min(VERIFICATIONS_A_MINUTE, this.#left + gained);
    this.#countedMs = nowMs;
    if (this.#left < 1) {
      return Math.ceil(((1 - this.#left) * MINUTE_MS) / VERIFICATIONS_A_MINUTE / 1000);
    }
    this.#left -= 1;
    return 0;
  }
}

/** Junk signatures end here: they neither claim a key, nor join a call, nor fetch an answer. */
export class SignatureProofs {
  readonly #gate: GateOptions;
  readonly #stopping: AbortSignal;
  readonly #budget = new VerifyBudget();

  constructor(gate: GateOptions, stopping: AbortSignal) {
    this.#gate = gate;
    this.#stopping = stopping;
  }

  /**
   * Throws where nobody vouches for the signature. `isVerified`: the facilitator was asked already.
   * `known`: the key as the ledger has it; `mayAsk` throws where nothing is to be verified now.
   */
  async prove(
    purchase: Purchase,
    known: LedgerEntry | null,
    mayAsk: () => Promise<void>,
  ): Promise<{ readonly isVerified: boolean } | 'gone'> {
    const { terms, store } = this.#gate;
    const { payment, offer, route } = purchase;
    if (await isSignedByPayer(payment, terms)) return { isVerified: false };
    if (isVouchedFor(purchase, known)) return { isVerified: true };
    checkTerms(payment, offer.requirements, store.now());
    checkValidity(payment, route, store.now());
    await mayAsk();
    const waitSec = this.#budget.take();
    if (waitSec > 0) throw new Saturated(waitSec);
    return this.#ask(purchase);
  }

  async #ask({ payment, offer, call }: Purchase): Promise<{ readonly isVerified: true } | 'gone'> {
    const stored = { ...payment, requirements: offer.requirements };
    const verifying = this.#gate.facilitator.verify({ payment: stored, offer });
    const waited = await withDeadline(verifying, call, this.#stopping);
    if (waited.kind === 'gone') return 'gone';
    if (waited.kind !== 'done') throw new PaymentsUnavailable();
    const refusal = refusalOf(waited.value);
    if (refusal !== null) throw refusal.error;
    return { isVerified: true };
  }
}

/**
 * The very bytes that the facilitator vouched for when the key was claimed; asking again would fail
 * once the nonce is spent.
 */
function isVouchedFor({ payment }: Purchase, known: LedgerEntry | null): boolean {
  if (known === null || standingOf(known.last.state) === 'free') return false;
  const held = storedPayment(known);
  return held.signature === payment.signature && differingField(held, payment) === null;
}
