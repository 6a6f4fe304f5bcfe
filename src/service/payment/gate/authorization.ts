/** Checks the terms, the validity and the signature of a new payment. */

import { isSameAddress } from '../../../scanner/parse/x402/namespaces.ts';
import { PaymentsUnavailable, Saturated } from '../../errors/errors.ts';
import { readPayment, toProgress } from '../ledger/ledger.ts';
import type { PaidRoute, SignedPayment } from '../paid-route.ts';
import {
  createSignerCheck,
  findDifferingField,
  isPlainSignature,
  type Requirements,
  type SignerCheck,
} from '../terms.ts';
import { withDeadline } from './call-end.ts';
import type { GateDeps, Purchase } from './purchase.ts';
import { PaymentRefused, toReasonWord } from './refusals.ts';

/** The ledger must keep a nonce while its authorization is valid. Official clients sign for five minutes. */
const MAX_VALIDITY_MS = 24 * 3_600_000;

/**
 * Throws if a new payment does not meet the current terms of the route, or has expired. Compares only the terms in
 * `accepted`, because official clients drop or add other members.
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
  const isExactPrice = authorization.value === BigInt(amount);
  if (!isExactPrice || (accepted.amount !== null && accepted.amount !== amount)) {
    throw new PaymentRefused('wrong_amount', `sign for exactly ${amount} base units`);
  }
  if (authorization.validBefore * 1000n <= BigInt(Math.ceil(nowMs))) {
    throw new PaymentRefused('authorization_expired', `sign a new one; ${describeNow(nowMs)}`);
  }
}

/** Throws if the payment is not valid yet, expires before we could settle it, or is valid for too long. */
export function checkValidity(
  { authorization }: Pick<SignedPayment, 'authorization'>,
  { minValidityMs }: Pick<PaidRoute, 'minValidityMs'>,
  nowMs: number,
): void {
  const nowText = describeNow(nowMs);
  if (authorization.validAfter * 1000n >= BigInt(Math.ceil(nowMs))) {
    throw new PaymentRefused('not_yet_valid', `set validAfter into the past, or to 0; ${nowText}`);
  }
  const minValidBeforeMs = BigInt(Math.ceil(nowMs) + minValidityMs);
  if (authorization.validBefore * 1000n < minValidBeforeMs) {
    throw new PaymentRefused(
      'authorization_expired',
      `set validBefore at least ${minValidityMs / 1000} s ahead; ${nowText}`,
    );
  }
  if (authorization.validBefore * 1000n > BigInt(Math.floor(nowMs) + MAX_VALIDITY_MS)) {
    throw new PaymentRefused(
      'validity_too_long',
      `set validBefore at most ${MAX_VALIDITY_MS / 3_600_000} h ahead; ${nowText}`,
    );
  }
}

function describeNow(nowMs: number): string {
  return `our clock says ${new Date(nowMs).toISOString()}`;
}

/**
 * Facilitator calls of this process for signatures from which no payer can be recovered. All callers share the limit:
 * anybody can invent signatures of contract wallets from any number of addresses, and each signature costs a call.
 * `RATE_LIMIT=off` does not lift the limit.
 */
const MAX_VERIFICATIONS_PER_MINUTE = 60;
/** Node calls of this process that ask if a payer's address has a contract. */
const MAX_CODE_LOOKUPS_PER_MINUTE = 600;
const MINUTE_MS = 60_000;

/** Refuses bad signatures before they can claim a key, join a call or fetch an answer. */
export class SignatureProofs {
  readonly #deps: GateDeps;
  readonly #stopping: AbortSignal;
  readonly #isSignedByPayer: SignerCheck;

  constructor(deps: GateDeps, stopping: AbortSignal) {
    this.#deps = deps;
    this.#stopping = stopping;
    this.#isSignedByPayer = createSignerCheck(deps.terms);
  }

  /**
   * Throws if neither recovery nor the facilitator confirms the signature. Resolves to true if the facilitator did, now
   * or for an earlier call. `refuseBeforeAsking` throws if the facilitator must not be asked for this purchase.
   */
  async prove(purchase: Purchase, refuseBeforeAsking: () => Promise<void>): Promise<boolean> {
    const { store } = this.#deps;
    const { payment, call, route } = purchase;
    if (await this.#isSignedByPayer(payment)) return false;
    if (await this.#isConfirmedBefore(purchase)) return true;
    // A payment on other terms costs no request to the facilitator.
    checkTerms(call.payment, payment.requirements, store.now());
    checkValidity(payment, route, store.now());
    await refuseBeforeAsking();
    if (await this.#isForged(purchase)) {
      throw new PaymentRefused(
        'invalid_signature',
        'the signature is not that of payload.authorization.from. Nothing was charged: sign with its key',
      );
    }
    const waitSec = await this.#countOrFindWaitSec('verifications', MAX_VERIFICATIONS_PER_MINUTE);
    if (waitSec !== null) throw new Saturated(waitSec);
    const options = { isSignatureChecked: false, stopping: this.#stopping };
    try {
      await askFacilitator(this.#deps, purchase, options);
    } catch (error) {
      // Meanwhile another call may have settled this payment, and the facilitator refuses the spent nonce.
      if (!(error instanceof PaymentRefused) || !(await this.#isConfirmedBefore(purchase)))
        throw error;
    }
    return true;
  }

  /** True if no contract is at the payer's address. A plain account has one key, and another key signed. */
  async #isForged({ payment, call }: Purchase): Promise<boolean> {
    if (!isPlainSignature(payment)) return false;
    const waitSec = await this.#countOrFindWaitSec('code lookups', MAX_CODE_LOOKUPS_PER_MINUTE);
    if (waitSec !== null) return false;
    const lookup = this.#deps.isContract(payment.authorization.from);
    const ends = { stopping: this.#stopping, toLateError: () => new PaymentsUnavailable() };
    return (await withDeadline(lookup, call, ends)) === false;
  }

  /** True if the key's claim has this signature. The facilitator would refuse it once the nonce is spent. */
  async #isConfirmedBefore({ key, payment }: Purchase): Promise<boolean> {
    const entry = await this.#deps.store.ledger.findEntry(key);
    if (entry === null || toProgress(entry.last.state) === 'free') return false;
    const { signature, authorization } = readPayment(entry);
    if (signature !== payment.signature) return false;
    return findDifferingField(authorization, payment.authorization) === null;
  }

  /** Counts a call of this process. Returns null within the limit, else the seconds until the count is reset. */
  async #countOrFindWaitSec(kind: string, maxPerMinute: number): Promise<number | null> {
    const { store } = this.#deps;
    const key = `${kind} of ${store.info.owner.boot}`;
    const { count, resetAtMs } = await store.limits.hit(key, MINUTE_MS);
    return count <= maxPerMinute ? null : Math.max(1, Math.ceil((resetAtMs - store.now()) / 1000));
  }
}

/** Throws the error for the caller if the facilitator does not find the payment valid. */
export async function askFacilitator(
  { facilitator }: Pick<GateDeps, 'facilitator'>,
  { payment, offer, call }: Purchase,
  options: { readonly isSignatureChecked: boolean; readonly stopping: AbortSignal },
): Promise<void> {
  const { isSignatureChecked, stopping } = options;
  const verifying = facilitator.verify({ payment, offer, isSignatureChecked });
  // `CallEnded` would say of a late call that its work continues, but no work has begun.
  const ends = { stopping, toLateError: () => new PaymentsUnavailable() };
  const verdict = await withDeadline(verifying, call, ends);
  if (verdict.kind === 'valid') return;
  if (verdict.kind === 'unavailable') throw new PaymentsUnavailable(new Error(verdict.reason));
  const word = toReasonWord(verdict.reason);
  const code = word.includes('signature') ? 'invalid_signature' : 'verification_failed';
  throw new PaymentRefused(code, `${word}. Nothing was charged: set that right and pay again`);
}
