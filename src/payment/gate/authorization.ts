/** Checks the terms, the validity and the signature of a new payment. */
import { isSameAddress } from '../../config/parse-values.ts';
import { PaymentsUnavailable, Saturated } from '../../model/errors.ts';
import type { LedgerEntry } from '../../store/ledger.ts';
import { readPayment, toProgress } from '../ledger/ledger.ts';
import type { PaidRoute, SignedPayment } from '../paid-route.ts';
import {
  createSignerCheck,
  isPlainSignature,
  type Requirements,
  type SignerCheck,
} from '../terms.ts';
import { PaymentRefused } from './answers.ts';
import type { GateDeps, Purchase } from './purchase.ts';
import { findRefusal } from './purchase-run.ts';
import { findDifferingField } from './redelivery.ts';
import { withDeadline } from './waiting.ts';

/** Clients sign for five minutes; what is valid longer would have to be remembered longer. */
const MAX_VALIDITY_MS = 24 * 3_600_000;

/**
 * Throws if a new payment offers other terms than the route's of now. `accepted` is compared by
 * its terms only: official clients drop and fill the other members.
 */
export function checkTerms(
  { accepted, authorization }: SignedPayment,
  requirements: Requirements,
  nowMs: number,
): void {
  const { amount, payTo } = requirements;
  if (
    !isSameAddress(authorization.to, payTo) ||
    (accepted.payTo !== null && !isSameAddress(accepted.payTo, payTo))
  ) {
    throw new PaymentRefused('wrong_recipient', `sign a transfer to ${payTo}`);
  }
  const isPrice = authorization.value === BigInt(amount);
  if (!isPrice || (accepted.amount !== null && accepted.amount !== amount)) {
    throw new PaymentRefused('wrong_amount', `sign for exactly ${amount} base units`);
  }
  if (authorization.validBefore * 1000n <= BigInt(Math.ceil(nowMs))) {
    throw new PaymentRefused('authorization_expired', `sign a new one; ${saysNow(nowMs)}`);
  }
}

/** Throws if the validity is too short to work and settle in, or too long to be remembered. */
export function checkValidity(
  { authorization }: Pick<SignedPayment, 'authorization'>,
  { minValidityMs }: Pick<PaidRoute, 'minValidityMs'>,
  nowMs: number,
): void {
  const now = saysNow(nowMs);
  if (authorization.validAfter * 1000n >= BigInt(Math.ceil(nowMs))) {
    throw new PaymentRefused('not_yet_valid', `set validAfter into the past, or to 0; ${now}`);
  }
  const earliestMs = BigInt(Math.ceil(nowMs) + minValidityMs);
  if (authorization.validBefore * 1000n < earliestMs) {
    throw new PaymentRefused(
      'authorization_expired',
      `set validBefore at least ${minValidityMs / 1000} s ahead; ${now}`,
    );
  }
  if (authorization.validBefore * 1000n > BigInt(Math.floor(nowMs) + MAX_VALIDITY_MS)) {
    throw new PaymentRefused(
      'validity_too_long',
      `set validBefore at most ${MAX_VALIDITY_MS / 3_600_000} h ahead; ${now}`,
    );
  }
}

function saysNow(nowMs: number): string {
  return `our clock says ${new Date(nowMs).toISOString()}`;
}

/**
 * Limit of facilitator calls for signatures whose signer cannot be recovered here, per process. All callers share
 * it, because anybody can make up signatures of contract wallets from any number of addresses, and each
 * costs a call. `RATE_LIMIT=off` does not switch it off.
 */
const VERIFICATIONS_A_MINUTE = 60;
/** Limit of look-ups for a contract at a payer's address; each is one quick call of the node. */
const CODE_LOOKUPS_A_MINUTE = 600;
const MINUTE_MS = 60_000;

/** Refuses bad signatures before they can claim a key, join a call or fetch an answer. */
export class SignatureProofs {
  readonly #deps: GateDeps;
  readonly #stopping: AbortSignal;
  readonly #isSigned: SignerCheck;

  constructor(deps: GateDeps, stopping: AbortSignal) {
    this.#deps = deps;
    this.#stopping = stopping;
    this.#isSigned = createSignerCheck(deps.terms);
  }

  /**
   * Throws for a signature that neither recovery, chain nor facilitator confirms. `isVerified` is true after
   * a call of the facilitator. `known` is the ledger's entry of the key; `mayAsk` throws to forbid the call.
   */
  async prove(
    purchase: Purchase,
    known: LedgerEntry | null,
    mayAsk: () => Promise<void>,
  ): Promise<{ readonly isVerified: boolean } | 'disconnected'> {
    const { store } = this.#deps;
    const { payment, offer, route } = purchase;
    if (await this.#isSigned(payment)) return { isVerified: false };
    if (isVouchedFor(purchase, known)) return { isVerified: true };
    checkTerms(payment, offer.requirements, store.now());
    checkValidity(payment, route, store.now());
    await mayAsk();
    if (await this.#isForged(purchase)) {
      throw new PaymentRefused(
        'invalid_signature',
        'the signature is not that of payload.authorization.from. Nothing was charged: sign with its key',
      );
    }
    const waitSec = await this.#takeCall('verifications', VERIFICATIONS_A_MINUTE);
    if (waitSec > 0) throw new Saturated(waitSec);
    return this.#ask(purchase);
  }

  /** An address without a contract is a plain account, which must sign by its own key. */
  async #isForged({ payment, call }: Purchase): Promise<boolean> {
    if (!isPlainSignature(payment)) return false;
    if ((await this.#takeCall('code lookups', CODE_LOOKUPS_A_MINUTE)) > 0) return false;
    const lookup = this.#deps.isContract(payment.authorization.from);
    const waited = await withDeadline(lookup, call, this.#stopping);
    return waited.kind === 'done' && waited.value === false;
  }

  /** Counts one call of this process. Returns 0, or the seconds until the next minute if all are used up. */
  async #takeCall(kind: string, perMinute: number): Promise<number> {
    const { store } = this.#deps;
    const key = `${kind} of ${store.info.owner.boot}`;
    const { count, resetAtMs } = await store.limits.hit(key, MINUTE_MS);
    return count <= perMinute ? 0 : Math.max(1, Math.ceil((resetAtMs - store.now()) / 1000));
  }

  async #ask({
    payment,
    offer,
    call,
  }: Purchase): Promise<{ readonly isVerified: true } | 'disconnected'> {
    const stored = { ...payment, requirements: offer.requirements };
    const verifying = this.#deps.facilitator.verify({ payment: stored, offer, isSigned: false });
    const waited = await withDeadline(verifying, call, this.#stopping);
    if (waited.kind === 'disconnected') return 'disconnected';
    if (waited.kind !== 'done') throw new PaymentsUnavailable();
    const refusal = findRefusal(waited.value);
    if (refusal !== null) throw refusal.error;
    return { isVerified: true };
  }
}

/**
 * True for the signature that the facilitator confirmed when the key was claimed. It would refuse the same
 * signature after the nonce is spent.
 */
function isVouchedFor({ payment }: Purchase, known: LedgerEntry | null): boolean {
  if (known === null || toProgress(known.last.state) === 'free') return false;
  const claim = readPayment(known);
  return claim.signature === payment.signature && findDifferingField(claim, payment) === null;
}
