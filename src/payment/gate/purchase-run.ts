/** Claims a key, works for it and settles it: the only place from which money is first asked for. */
import { PaymentsUnavailable, ScanProcessing, type ServiceError } from '../../model/errors.ts';
import type { LedgerEntry } from '../../store/ledger.ts';
import { LedgerWriter, newClaimData, StepLost, toProgress } from '../ledger/ledger.ts';
import type { ComputedAnswer } from '../paid-route.ts';
import type { VerifyOutcome } from '../settle/facilitator.ts';
import { PaymentRefused, storeDelivery, toReasonWord, toReleaseData } from './answers.ts';
import { DebtRecord } from './debts.ts';
import {
  type GateDeps,
  type PaidDelivery,
  type Purchase,
  type PurchaseOutcome,
  publishStep,
} from './purchase.ts';
import { bindIdentifier, type IdentifierState, readIdentifier } from './redelivery.ts';
import { Settlement } from './settlement.ts';
import { type CallEnd, findEnd, toEndError, withDeadline } from './waiting.ts';

export type PurchaseRunOptions = {
  readonly deps: GateDeps;
  /** The key as it was read last: it is free. The quickest writer wins the first step. */
  readonly entry: LedgerEntry | null;
  /** State of the purchase's identifier as it was read last. */
  readonly identifier: IdentifierState | null;
  /** The facilitator has said already that the signature, of a contract wallet, is good. */
  readonly isVerified: boolean;
  readonly isInFlight: (key: string) => boolean;
  /** Aborted when the service stops: nothing new is settled then. */
  readonly stopping: AbortSignal;
  /** Gives back the purchase's share of what may be open; called once its work has ended. */
  readonly release: () => void;
};

/** A facilitator that takes its time, and a block or two, must fit in before `validBefore`. */
const MIN_LEFT_TO_SETTLE_MS = 15_000;
const ABANDONED: PurchaseOutcome = { kind: 'abandoned' };

export class PurchaseRun<Input> {
  readonly #purchase: Purchase<Input>;
  readonly #options: PurchaseRunOptions;
  #writer: LedgerWriter | null = null;
  readonly #unpaid: DebtRecord;
  #computing: Promise<ComputedAnswer> | null = null;
  #isSettling = false;

  constructor(purchase: Purchase<Input>, options: PurchaseRunOptions) {
    this.#purchase = purchase;
    this.#options = options;
    this.#unpaid = new DebtRecord(options.deps, purchase);
  }

  /** From here on money may move, whatever becomes of the client. */
  get isSettling(): boolean {
    return this.#isSettling;
  }

  /** Never rejects: what is thrown on the way is the error to be answered. */
  async run(): Promise<PurchaseOutcome> {
    const outcome = await this.#steps().catch((error: unknown): PurchaseOutcome => {
      return error instanceof StepLost ? ABANDONED : { kind: 'refused', error };
    });
    await this.#end(outcome);
    return outcome;
  }

  async #steps(): Promise<PurchaseOutcome> {
    const { deps, stopping, isVerified } = this.#options;
    const { call } = this.#purchase;
    const writer = await this.#claim();
    if (writer === null) return ABANDONED;
    publishStep({ name: 'claimed' });

    const refusal = isVerified ? null : await this.#verify();
    if (refusal !== null) return refusal;
    publishStep({ name: 'verified' });

    const computed = await this.#compute();
    if (computed.kind !== 'done') return outcomeOf(computed.kind);
    const { answerId, scanId, delivery } = await this.#store(computed.value);
    await writer.write('computed', {}, { answerId, scanId });
    publishStep({ name: 'computed' });

    if (!(await this.#holdsIdentifier())) return ABANDONED;
    this.#refuseLateSignature();
    const ended = findEnd(call, stopping);
    if (ended !== null) return outcomeOf(ended);

    this.#isSettling = true;
    return await new Settlement(deps, this.#purchase, writer, delivery).run();
  }

  /** Null if an identifier was bound elsewhere meanwhile. */
  async #claim(): Promise<LedgerWriter | null> {
    const { deps, entry, identifier } = this.#options;
    const { key, payer, request, payment, offer, scope } = this.#purchase;
    if (scope !== null && identifier !== null) {
      const isBound = await bindIdentifier(deps.store, scope, identifier, this.#purchase);
      // An instance that bound the id before us may have claimed its key meanwhile.
      if (!isBound || !(await this.#holdsIdentifier())) return null;
    }
    const validBeforeMs = Number(payment.authorization.validBefore) * 1000;
    // The scan of the claim before goes along: this call may be answered from it.
    const facts = { key, payer, request, validBeforeMs, scanId: entry?.last.scanId };
    const writer = new LedgerWriter(deps.store.ledger, facts, entry?.last ?? null);
    await writer.write('claimed', newClaimData(entry, payment, offer.requirements));
    this.#writer = writer;
    return writer;
  }

  async #holdsIdentifier(): Promise<boolean> {
    const { deps, isInFlight } = this.#options;
    const { scope, key } = this.#purchase;
    if (scope === null) return true;
    const now = await readIdentifier(deps.store, scope, this.#purchase, isInFlight);
    return now.lastKey === key && now.liveKey === null;
  }

  async #verify(): Promise<PurchaseOutcome | null> {
    const { deps, stopping } = this.#options;
    const { payment, offer, call } = this.#purchase;
    const stored = { ...payment, requirements: offer.requirements };
    const verifying = deps.facilitator.verify({ payment: stored, offer, isSigned: true });
    const waited = await withDeadline(verifying, call, stopping);
    if (waited.kind === 'done') return findRefusal(waited.value);
    // A facilitator that does not answer is not a scan that goes on.
    if (waited.kind === 'late') return { kind: 'refused', error: new PaymentsUnavailable() };
    return outcomeOf(waited.kind);
  }

  async #compute() {
    const { entry, stopping } = this.#options;
    const { route, input, call, payer } = this.#purchase;
    const ended = findEnd(call, stopping);
    if (ended !== null) return { kind: ended };
    publishStep({ name: 'computing' });
    this.#computing = route.compute(input, {
      payer,
      earlierScanId: entry?.last.scanId,
      onScan: (scanId) => {
        this.#unpaid.setWork(scanId);
      },
    });
    // Two wait for it: this call, and the keeper of what its caller did not wait for.
    this.#computing.catch(() => undefined);
    return await withDeadline(this.#computing, call, stopping);
  }

  async #store(
    computed: ComputedAnswer,
  ): Promise<{ answerId: string; scanId: string | undefined; delivery: PaidDelivery }> {
    const { answers } = this.#options.deps.store;
    const { answerId, delivery } = await storeDelivery(answers, this.#purchase, computed);
    const { scanId } = computed;
    // An answer that is never paid for is stored for an hour, so it counts as unpaid work as well.
    if (scanId !== undefined) this.#unpaid.setWork(scanId);
    else if (!('answerId' in computed)) this.#unpaid.setWork(`answer ${answerId}`);
    return { answerId, scanId, delivery };
  }

  #refuseLateSignature(): void {
    const { validBefore } = this.#purchase.payment.authorization;
    const leftToSettleMs = Number(validBefore) * 1000 - this.#options.deps.store.now();
    if (leftToSettleMs >= MIN_LEFT_TO_SETTLE_MS) return;
    throw new PaymentRefused(
      'authorization_expired',
      'your signature runs out too soon to be settled. Nothing was charged: sign a new one, and the finished result is yours at once',
    );
  }

  /** Frees the key if nothing was sent, keeps the work for its payer, gives back the share. */
  async #end(outcome: PurchaseOutcome): Promise<void> {
    const writer = this.#writer;
    if (outcome.kind === 'paid') {
      await this.#unpaid.clear();
      this.#options.release();
      return;
    }
    if (this.#computing === null || outcome.kind === 'unknown') this.#options.release();
    else {
      const isDebt = outcome.kind === 'disconnected' || isPayersToPay(outcome);
      await this.#unpaid.keep(this.#computing, isDebt, this.#options.release);
    }
    if (outcome.kind === 'abandoned' || writer === null) return;
    if (writer.state === 'none' || toProgress(writer.state) !== 'working') return;
    const data = toReleaseData(reasonOf(outcome).slice(0, 200), outcome);
    await writer.write('released', data).catch((failure: unknown) => {
      this.#options.deps.onError(`${this.#purchase.key} is released later`, failure);
    });
  }
}

function outcomeOf(ended: CallEnd): PurchaseOutcome {
  const error = toEndError(ended);
  return error === null ? { kind: 'disconnected' } : { kind: 'refused', error };
}

/** Null if the payment is good. */
export function findRefusal(
  verdict: VerifyOutcome,
): { readonly kind: 'refused'; readonly error: PaymentRefused | ServiceError } | null {
  if (verdict.kind === 'valid') return null;
  if (verdict.kind === 'unavailable') {
    return { kind: 'refused', error: new PaymentsUnavailable(new Error(verdict.reason)) };
  }
  const word = toReasonWord(verdict.reason);
  const code = word.includes('signature') ? 'invalid_signature' : 'verification_failed';
  const error = new PaymentRefused(
    code,
    `${word}. Nothing was charged: set that right and pay again`,
  );
  return { kind: 'refused', error };
}

function reasonOf(outcome: PurchaseOutcome): string {
  if (outcome.kind === 'disconnected') return 'the client hung up';
  return outcome.kind === 'refused' ? String(outcome.error) : outcome.kind;
}

/** The work was done, or goes on, and its payer does not have it: not for a fault of ours. */
function isPayersToPay(outcome: PurchaseOutcome): boolean {
  if (outcome.kind !== 'refused') return false;
  return outcome.error instanceof ScanProcessing || outcome.error instanceof PaymentRefused;
}
