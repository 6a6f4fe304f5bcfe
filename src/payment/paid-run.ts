import { PaymentsUnavailable, ScanProcessing } from '../errors/errors.ts';
import type { Delivery } from './answers.ts';
import { releasedData, storeDelivery } from './answers.ts';
import { PaymentRefused, reasonWord } from './challenge.ts';
import type { VerifyOutcome } from './facilitator.ts';
import { isFree, keptUntilMs, LedgerWriter, StepLost, scanIdsOf, storePayment } from './ledger.ts';
import { ClientGone } from './paid-route.ts';
import type { GateOptions, Purchase } from './purchase.ts';
import { Settlement } from './settlement.ts';
import { leftMs, throwIfEnded, until } from './waiting.ts';
import { bindIdentifier, type IdentifierState, readIdentifier } from './whose-answer.ts';

/** Another writer holds the key now: whoever is still there begins anew. */
export class Abandoned extends Error {
  override readonly name = 'Abandoned';
}

export interface RunOptions {
  readonly gate: GateOptions;
  /** Of `work.scope`, as it was read before. */
  readonly identifier: IdentifierState | null;
  /** The facilitator has said already that the signature, of a contract wallet, is good. */
  readonly isVerified: boolean;
  readonly isInFlight: (key: string) => boolean;
  /** Aborted when the service stops: nothing new is settled then. */
  readonly stopping: AbortSignal;
}

/** A facilitator that takes its time, and a block or two, must fit in before `validBefore`. */
const MIN_LEFT_TO_SETTLE_MS = 15_000;

/** Claims a key, works for it and settles it: the only place from which money is first asked for. */
export class PaidRun<Input> {
  readonly #work: Purchase<Input>;
  readonly #options: RunOptions;
  #pen: LedgerWriter | null = null;
  #isSettling = false;
  #isUnpaid = false;
  #scanId: string | undefined;

  constructor(work: Purchase<Input>, options: RunOptions) {
    this.#work = work;
    this.#options = options;
  }

  /** From here on money may move, whatever becomes of the client. */
  get isSettling(): boolean {
    return this.#isSettling;
  }

  /** The paid answer. Rejects with what is to be answered instead, `ClientGone` or `Abandoned`. */
  async run(): Promise<Delivery> {
    const { gate, isVerified, stopping } = this.#options;
    try {
      const pen = await this.#claim();
      gate.failpoints.pass('claimed');
      if (!isVerified) await this.#verify();
      gate.failpoints.pass('verified');
      const delivery = await this.#compute(pen);
      gate.failpoints.pass('computed');
      await this.#checkIdentifier();
      this.#checkValidity();
      throwIfEnded(this.#work.call, stopping);

      const settlement = new Settlement(gate, this.#work, pen, delivery);
      this.#isSettling = true;
      await settlement.declareIntent();
      gate.failpoints.pass('intent-synced');
      const paid = await settlement.send();
      await this.#clearUnpaid();
      return paid;
    } catch (error) {
      await this.#end(error);
      throw error instanceof StepLost ? new Abandoned() : error;
    }
  }

  async #claim(): Promise<LedgerWriter> {
    const { store } = this.#options.gate;
    const { key, payer, request, payment, offer } = this.#work;
    const entry = await store.ledger.entry(key);
    if (entry !== null && !isFree(entry.last.state)) throw new Abandoned();
    await this.#bindIdentifier();
    const validBeforeMs = keptUntilMs(payment.authorization.validBefore, store.now());
    const facts = { key, payer, request, validBeforeMs };
    const pen = new LedgerWriter(store.ledger, facts, entry?.last ?? null);
    await pen.write('claimed', storePayment(payment, offer.requirements));
    this.#pen = pen;
    return pen;
  }

  async #bindIdentifier(): Promise<void> {
    const { gate, identifier } = this.#options;
    const { scope, request, key } = this.#work;
    if (scope === null || identifier === null) return;
    if (!(await bindIdentifier(gate.store, scope, identifier, request, key))) throw new Abandoned();
    // A host that bound the id before us may have claimed its key meanwhile.
    await this.#checkIdentifier();
  }

  async #checkIdentifier(): Promise<void> {
    const { gate, isInFlight } = this.#options;
    const { scope, request, key } = this.#work;
    if (scope === null) return;
    const now = await readIdentifier(gate.store, scope, request, key, isInFlight);
    if (now.lastKey !== key || now.liveKey !== null) throw new Abandoned();
  }

  async #verify(): Promise<void> {
    const { gate, stopping } = this.#options;
    const { payment, offer, call } = this.#work;
    const stored = { ...payment, requirements: offer.requirements };
    const verifying = gate.facilitator.verify({ payment: stored, offer });
    const atDeadline = () => new PaymentsUnavailable();
    refuseUnverified(await until(verifying, call, { stopping, atDeadline }));
  }

  async #compute(pen: LedgerWriter): Promise<Delivery> {
    const { gate, stopping } = this.#options;
    const { route, input, call, payer, key } = this.#work;
    throwIfEnded(call, stopping);
    const earlierScanIds = scanIdsOf(await gate.store.ledger.entry(key));
    gate.failpoints.pass('computing');
    const computing = route.compute(input, { payer, withinMs: leftMs(call), earlierScanIds });
    // It may end long after its caller has gone; then it is finished work that nobody paid for.
    computing.then(
      ({ scanId }) => {
        this.#scanId = scanId;
        if (this.#isUnpaid) this.#noteUnpaid();
      },
      () => undefined,
    );
    const computed = await until(computing, call, { stopping });
    const { answerId, delivery } = await storeDelivery(gate.store.answers, this.#work, computed);
    await pen.write('computed', {}, { answerId, scanId: computed.scanId });
    return delivery;
  }

  #checkValidity(): void {
    const { validBefore } = this.#work.payment.authorization;
    const leftToSettleMs = Number(validBefore) * 1000 - this.#options.gate.store.now();
    if (leftToSettleMs >= MIN_LEFT_TO_SETTLE_MS) return;
    throw new PaymentRefused(
      'authorization_expired',
      'your signature runs out too soon to be settled. Nothing was charged: sign a new one, and the finished result is yours at once',
    );
  }

  /** Frees the key where nothing was sent, so that it is as if it had never been used. */
  async #end(error: unknown): Promise<void> {
    const pen = this.#pen;
    if (pen === null || error instanceof StepLost) return;
    if (isPayersChoice(error)) {
      this.#isUnpaid = true;
      this.#noteUnpaid();
    }
    if (pen.state !== 'claimed' && pen.state !== 'computed') return;
    const reason = error instanceof ClientGone ? 'the client hung up' : String(error);
    await pen.write('released', releasedData(reason.slice(0, 200), error)).catch((failure) => {
      this.#options.gate.onTrouble(`${this.#work.key} is released later`, failure);
    });
  }

  #noteUnpaid(): void {
    const { route, payer } = this.#work;
    const scanId = this.#scanId;
    if (scanId === undefined) return;
    route.unpaidWork?.note({ payer, scanId }).catch((error: unknown) => {
      this.#options.gate.onTrouble(`${payer} left ${scanId} unpaid, unnoted`, error);
    });
  }

  async #clearUnpaid(): Promise<void> {
    const { route, payer } = this.#work;
    const scanId = this.#scanId;
    if (scanId === undefined) return;
    await route.unpaidWork?.clear({ payer, scanId }).catch((error: unknown) => {
      this.#options.gate.onTrouble(`${payer} paid for ${scanId}, which still counts`, error);
    });
  }
}

export function refuseUnverified(verdict: VerifyOutcome): void {
  if (verdict.kind === 'valid') return;
  if (verdict.kind === 'unavailable') throw new PaymentsUnavailable(new Error(verdict.reason));
  const word = reasonWord(verdict.reason);
  const code = word.includes('signature') ? 'invalid_signature' : 'verification_failed';
  throw new PaymentRefused(code, `${word}. Nothing was charged: set that right and pay again`);
}

/** The work was done, or goes on, and its payer does not have it: not for a fault of ours. */
function isPayersChoice(error: unknown): boolean {
  return (
    error instanceof ClientGone ||
    error instanceof ScanProcessing ||
    error instanceof PaymentRefused
  );
}
