import type { Hex } from 'viem';
import type { JsonObject } from '../../model/json.ts';
import type { LedgerEntry } from '../../store/ledger.ts';
import { countSends, findTransaction, type LedgerWriter, readPayment } from '../ledger/ledger.ts';
import type { RouteOffer } from '../terms.ts';
import { type Facilitator, type SettleOutcome, toDoubtData } from './facilitator.ts';

export type ResendsOptions = {
  readonly facilitator: Facilitator;
  /** Present offer of the route; null for a route that no longer exists. */
  readonly findOffer: (request: string) => RouteOffer | null;
  /** False without a node; then another send is the only way to learn of the payment. */
  readonly hasChain: boolean;
  /** See `ReconcileTiming`. */
  readonly resendAfterMs: readonly number[];
  /** Database time, ms. */
  readonly now: () => number;
};

/** Share of the time to `validBefore` before the last send; the rest is for a block to take it. */
const LAST_SEND_SHARE = 0.75;

/**
 * Spreads the further sends of a payment over its validity, so that a facilitator that is away for
 * seconds or minutes has not seen the last of them when it is back. Database time, ascending;
 * `resendAfterMs` is counted from the first send, and its last member is the latest instant.
 */
export function toResendTimesMs(
  { firstMs, validBeforeMs }: { readonly firstMs: number; readonly validBeforeMs: number },
  resendAfterMs: readonly number[],
): readonly number[] {
  const lastMs = Math.min(
    (validBeforeMs - firstMs) * LAST_SEND_SHARE,
    resendAfterMs.at(-1) ?? Number.POSITIVE_INFINITY,
  );
  const earlier = resendAfterMs.slice(0, -1).filter((afterMs) => afterMs < lastMs);
  return [...earlier, lastMs].map((afterMs) => firstMs + afterMs);
}

/** Last send of a key by this process; the ledger counts the sends of all processes. */
type OwnSend = {
  /** `performance.now()` of the last one. */
  readonly sentMs: number;
  /** The announced step of a send that failed before it left; the next send uses it. */
  readonly unsentStep: number | null;
};

export class Resends {
  readonly #options: ResendsOptions;
  readonly #own = new Map<string, OwnSend>();

  constructor(options: ResendsOptions) {
    this.#options = options;
  }

  /** Sends the payment again; null if no send is due. */
  next(writer: LedgerWriter, entry: LedgerEntry): (() => Promise<SettleOutcome>) | null {
    return this.#isDue(writer, entry) ? () => this.#send(writer, entry) : null;
  }

  /** Instant of the next send, database time; null if the payment is only looked at from now on. */
  nextMs(entry: LedgerEntry): number | null {
    const { hasChain, now } = this.#options;
    if (!hasChain || countSends(entry).isReverted) return null;
    return this.#timesOf(entry).find((timeMs) => timeMs > now()) ?? null;
  }

  forget(key: string): void {
    this.#own.delete(key);
  }

  #isDue(writer: LedgerWriter, entry: LedgerEntry): boolean {
    const { hasChain, resendAfterMs, now } = this.#options;
    const [pauseMs = 0] = resendAfterMs;
    const own = this.#own.get(entry.key);
    if (own !== undefined && performance.now() - own.sentMs < pauseMs) return false;
    if (!hasChain) return true;
    const { count, lastMs, isReverted } = countSends(entry);
    if (isReverted) return false;
    if (own?.unsentStep === writer.step) return true;
    if (count > resendAfterMs.length) return false;
    // Several missed instants, such as after a restart, lead to one send and not to a burst.
    return this.#timesOf(entry).some((timeMs) => lastMs < timeMs && timeMs <= now());
  }

  #timesOf(entry: LedgerEntry): readonly number[] {
    const { firstMs } = countSends(entry);
    const { validBeforeMs } = entry.last;
    return toResendTimesMs({ firstMs, validBeforeMs }, this.#options.resendAfterMs);
  }

  /**
   * Announces the send in the ledger before it is made, so that every instance counts it and one makes
   * it, and keeps there what it taught. Rejects with `StepLost` if another was quicker.
   */
  async #send(writer: LedgerWriter, entry: LedgerEntry): Promise<SettleOutcome> {
    const { facilitator, hasChain, findOffer } = this.#options;
    const { key, last } = entry;
    const known = findTransaction(entry);
    if (hasChain && this.#own.get(key)?.unsentStep !== writer.step) {
      await writer.write('unknown', { reason: 'sent again', transaction: known, isSend: true });
    }
    const payment = readPayment(entry);
    const outcome = await facilitator.settle({ payment, offer: findOffer(last.request) });
    const unsentStep = outcome.kind === 'not_sent' ? writer.step : null;
    this.#own.set(key, { sentMs: performance.now(), unsentStep });
    const isOfUse = hasChain || (known === null && outcome.kind === 'unclear');
    const learned = isOfUse ? learnedFrom(outcome, known) : null;
    if (learned !== null) await writer.write('unknown', learned);
    return outcome;
  }
}

/** Facts for the ledger that other instances can use; null if there are none. */
function learnedFrom(outcome: SettleOutcome, known: Hex | null): JsonObject | null {
  switch (outcome.kind) {
    case 'refused':
    case 'not_sent':
      return null;
    case 'settled':
      return { reason: 'sent again, and settled', transaction: outcome.transaction };
    case 'nonce_used':
    case 'unclear': {
      const data = toDoubtData(outcome);
      const isNew = outcome.transaction !== null && outcome.transaction !== known;
      return isNew || data['isReverted'] === true ? data : null;
    }
  }
}
