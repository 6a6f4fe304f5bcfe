/** The further sends of payments in doubt: few, announced, and each by one host alone. */
import type { Hex } from 'viem';
import type { JsonObject } from '../../model/json.ts';
import type { LedgerEntry } from '../../store/contract/ledger.ts';
import type { RouteOffer } from '../gate/challenge.ts';
import { type LedgerWriter, sendsOf, storedPayment, transactionOf } from '../ledger/ledger.ts';
import { doubtData, type Facilitator, type SettleOutcome } from './facilitator.ts';

export type ResendsOptions = {
  readonly facilitator: Facilitator;
  /** What the route offers now; null after it has gone. */
  readonly offerOf: (request: string) => RouteOffer | null;
  /** Whether the chain can be asked; without one, to send again is the only way to look. */
  readonly hasChain: boolean;
  /** Between two sends of one payment. */
  readonly intervalMs: number;
  /** Database time, ms. */
  readonly now: () => number;
};

/** With the one that made it `settling`; then a payment is only looked at. */
const MAX_SENDS = 5;

/** What this process did for a key; how often it was sent is in the ledger. */
type OwnSend = {
  /** `performance.now()` of the last one. */
  readonly sentMs: number;
  /** The step that announced it, where it never left: the next send needs no other. */
  readonly unsentStep: number | null;
};

export class Resends {
  readonly #options: ResendsOptions;
  readonly #own = new Map<string, OwnSend>();

  constructor(options: ResendsOptions) {
    this.#options = options;
  }

  /** Sends the payment once more; null where it is only to be looked at now. */
  next(writer: LedgerWriter, entry: LedgerEntry): (() => Promise<SettleOutcome>) | null {
    return this.#isDue(writer, entry) ? () => this.#send(writer, entry) : null;
  }

  forget(key: string): void {
    this.#own.delete(key);
  }

  #isDue(writer: LedgerWriter, entry: LedgerEntry): boolean {
    const { hasChain, intervalMs, now } = this.#options;
    const own = this.#own.get(entry.key);
    if (own !== undefined && performance.now() - own.sentMs < intervalMs) return false;
    if (!hasChain) return true;
    const { count, lastAtMs, isReverted } = sendsOf(entry);
    if (isReverted) return false;
    if (own?.unsentStep === writer.step) return true;
    if (count >= MAX_SENDS) return false;
    // Another host may have announced a send a moment ago, and wait for its answer.
    return own !== undefined || lastAtMs === null || now() - lastAtMs >= intervalMs;
  }

  /**
   * Announces the send in the ledger before it is made, so that every host counts it and one makes
   * it, and keeps there what it taught. Rejects with `StepLost` where another was quicker.
   */
  async #send(writer: LedgerWriter, entry: LedgerEntry): Promise<SettleOutcome> {
    const { facilitator, hasChain, offerOf } = this.#options;
    const { key, last } = entry;
    const known = transactionOf(entry);
    if (hasChain && this.#own.get(key)?.unsentStep !== writer.step) {
      await writer.write('unknown', { reason: 'sent again', transaction: known, isSend: true });
    }
    const payment = storedPayment(entry);
    const outcome = await facilitator.settle({ payment, offer: offerOf(last.request) });
    const unsentStep = outcome.kind === 'not_sent' ? writer.step : null;
    this.#own.set(key, { sentMs: performance.now(), unsentStep });
    const isOfUse = hasChain || (known === null && outcome.kind === 'unclear');
    const learned = isOfUse ? learnedFrom(outcome, known) : null;
    if (learned !== null) await writer.write('unknown', learned);
    return outcome;
  }
}

/** What the ledger does not know yet, so that any host may look for it; null where there is nothing. */
function learnedFrom(outcome: SettleOutcome, known: Hex | null): JsonObject | null {
  switch (outcome.kind) {
    case 'refused':
    case 'not_sent':
      return null;
    case 'settled':
      return { reason: 'sent again, and settled', transaction: outcome.transaction };
    case 'nonce_used':
    case 'unclear': {
      const data = doubtData(outcome);
      const isNew = outcome.transaction !== null && outcome.transaction !== known;
      return isNew || data['isReverted'] === true ? data : null;
    }
  }
}
