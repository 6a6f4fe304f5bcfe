/** Does all new work of a paid call: claims the key, verifies, computes, stores the answer and settles. */
import { ScanProcessing } from '../../errors/errors.ts';
import type { LedgerEntry } from '../../store/ledger.ts';
import { newClaimData, toProgress } from '../ledger/ledger.ts';
import { LedgerWriter, StepLost } from '../ledger/ledger-writer.ts';
import type { ComputedAnswer } from '../paid-route.ts';
import { askFacilitator } from './authorization.ts';
import { isDisconnect, throwIfEnded, toAnsweredError, withDeadline } from './call-end.ts';
import { DebtRecord } from './debts.ts';
import { bindIdentifier, type IdentifierLinks, readLinks } from './identifier-links.ts';
import { storeDelivery } from './paid-answers.ts';
import { type GateDeps, type Purchase, type PurchaseOutcome, publishStep } from './purchase.ts';
import { PaymentRefused, toReleaseData } from './refusals.ts';
import { Settlement } from './settlement.ts';

export type PurchaseRunOptions = {
  readonly deps: GateDeps;
  /** Last read entry of the free key. If another writer claims the key before this run, the run is abandoned. */
  readonly entry: LedgerEntry | null;
  /** Links of the purchase's identifier when they were last read; null without an identifier. */
  readonly links: IdentifierLinks | null;
  /** True if the gate has already asked the facilitator about the signature, as for contract wallets. */
  readonly isVerified: boolean;
  readonly isInFlight: (key: string) => boolean;
  /** Aborted when the service stops. No new settlement begins then. */
  readonly stopping: AbortSignal;
  /** Ends the purchase's turn. Called when the work has ended. */
  readonly release: () => void;
};

/** A slow facilitator and one or two blocks need this time before `validBefore`. */
const MIN_VALIDITY_TO_SETTLE_MS = 15_000;
const ABANDONED_OUTCOME: PurchaseOutcome = { kind: 'abandoned' };

export class PurchaseRun<Input> {
  readonly #purchase: Purchase<Input>;
  readonly #options: PurchaseRunOptions;
  #writer: LedgerWriter | null = null;
  readonly #debt: DebtRecord;
  #computing: Promise<ComputedAnswer> | null = null;
  #isSettling = false;

  constructor(purchase: Purchase<Input>, options: PurchaseRunOptions) {
    this.#purchase = purchase;
    this.#options = options;
    this.#debt = new DebtRecord(options.deps, purchase);
  }

  /** True once money may move. */
  get isSettling(): boolean {
    return this.#isSettling;
  }

  /** Never rejects: an error of a step becomes the outcome `refused`, and is answered. */
  async run(): Promise<PurchaseOutcome> {
    const outcome = await this.#runSteps().catch((error: unknown): PurchaseOutcome => {
      if (error instanceof StepLost) return ABANDONED_OUTCOME;
      return { kind: 'refused', error: toAnsweredError(error) };
    });
    const error = outcome.kind === 'refused' ? outcome.error : null;
    await this.#endWork(outcome.kind, error);
    await this.#releaseKey(outcome.kind, error);
    // Calls that wait for this one must not end because its client has disconnected.
    return isDisconnect(error) ? ABANDONED_OUTCOME : outcome;
  }

  async #runSteps(): Promise<PurchaseOutcome> {
    const { deps, stopping, isVerified } = this.#options;
    const writer = await this.#claim();
    if (writer === null) return ABANDONED_OUTCOME;
    publishStep({ name: 'claimed' });

    if (!isVerified) {
      await askFacilitator(deps, this.#purchase, { isSignatureChecked: true, stopping });
    }
    publishStep({ name: 'verified' });

    const computed = await this.#compute();
    const { answerId, delivery } = await this.#storeAnswer(computed);
    await writer.write('computed', {}, { answerId, scanId: computed.scanId });
    publishStep({ name: 'computed' });

    if (!(await this.#isIdentifierOurs())) return ABANDONED_OUTCOME;
    this.#refuseExpiringPayment();
    throwIfEnded(this.#purchase.call, stopping);

    this.#isSettling = true;
    return await new Settlement(deps, this.#purchase, writer, delivery).run();
  }

  /** Resolves to null if another call has bound the identifier since its links were read. */
  async #claim(): Promise<LedgerWriter | null> {
    const { deps, entry, links } = this.#options;
    const { key, payer, request, payment, identifier } = this.#purchase;
    if (identifier !== null && links !== null) {
      const isBound = await bindIdentifier(deps.store, identifier, links, this.#purchase);
      // Another instance may have bound the identifier before us and claimed its own key.
      if (!isBound || !(await this.#isIdentifierOurs())) return null;
    }
    const validBeforeMs = Number(payment.authorization.validBefore) * 1000;
    // Keeps the scan of the earlier claim, because this call may be answered from that scan.
    const facts = { key, payer, request, validBeforeMs, scanId: entry?.last.scanId };
    const writer = new LedgerWriter(deps.store.ledger, facts, entry?.last ?? null);
    await writer.write('claimed', newClaimData(entry, payment));
    this.#writer = writer;
    return writer;
  }

  async #isIdentifierOurs(): Promise<boolean> {
    const { deps, isInFlight } = this.#options;
    const { identifier, key } = this.#purchase;
    if (identifier === null) return true;
    const links = await readLinks(deps.store, identifier, this.#purchase, isInFlight);
    return links.lastKey === key && links.liveKey === null;
  }

  async #compute(): Promise<ComputedAnswer> {
    const { entry, stopping } = this.#options;
    const { route, input, call, payer } = this.#purchase;
    throwIfEnded(call, stopping);
    publishStep({ name: 'computing' });
    this.#computing = route.compute(input, {
      payer,
      earlierScanId: entry?.last.scanId,
      onScan: (scanId) => this.#debt.setWork(scanId),
    });
    // `#endWork` may wait for this promise later. Until then, its rejection must not count as unhandled.
    this.#computing.catch(() => undefined);
    return await withDeadline(this.#computing, call, { stopping });
  }

  async #storeAnswer(computed: ComputedAnswer) {
    const { answers } = this.#options.deps.store;
    const stored = await storeDelivery(answers, this.#purchase, computed);
    // An unpaid answer stays stored for an hour, so it counts as unpaid work too.
    if (computed.scanId !== undefined) this.#debt.setWork(computed.scanId);
    else if (!('answerId' in computed)) this.#debt.setWork(`answer ${stored.answerId}`);
    return stored;
  }

  #refuseExpiringPayment(): void {
    const { validBefore } = this.#purchase.payment.authorization;
    const leftMs = Number(validBefore) * 1000 - this.#options.deps.store.now();
    if (leftMs >= MIN_VALIDITY_TO_SETTLE_MS) return;
    throw new PaymentRefused(
      'authorization_expired',
      'your signature runs out too soon to be settled. Nothing was charged: sign a new one, and the finished result is yours at once',
    );
  }

  /** Marks unpaid work as the payer's, and ends the turn when the work has ended, which may be later. */
  async #endWork(kind: PurchaseOutcome['kind'], error: unknown): Promise<void> {
    const { release } = this.#options;
    const isUnpaid = kind !== 'paid' && kind !== 'unknown';
    if (isUnpaid && this.#computing !== null) {
      return this.#debt.markUnpaid(this.#computing, isLeftByPayer(error), release);
    }
    if (kind === 'paid') await this.#debt.clear();
    release();
  }

  /** Releases the key if no payment was sent. */
  async #releaseKey(kind: PurchaseOutcome['kind'], error: unknown): Promise<void> {
    const writer = this.#writer;
    // After an abandoned run the call tries again. That try, or a sweep of `Recovery`, releases the key.
    if (kind === 'abandoned' || writer === null) return;
    // From `settling` on, `Settlement` and the reconciler write the end.
    if (writer.state === 'none' || toProgress(writer.state) !== 'working') return;
    const data = toReleaseData(String(error ?? kind).slice(0, 200), error);
    await writer.write('released', data).catch((failure: unknown) => {
      this.#options.deps.onError(`${this.#purchase.key} is released later`, failure);
    });
  }
}

/** True if the call ended without payment and the fault is not ours. */
function isLeftByPayer(error: unknown): boolean {
  if (isDisconnect(error)) return true;
  return error instanceof ScanProcessing || error instanceof PaymentRefused;
}
