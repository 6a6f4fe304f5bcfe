import type { Hex } from 'viem';
import type { JsonObject } from '../../model/json.ts';
import type { LedgerEntry } from '../../store/ledger.ts';
import { countSends, findTransaction, type LedgerWriter, readPayment } from '../ledger/ledger.ts';
import type { RouteOffer } from '../terms.ts';
import { type Facilitator, type SettleOutcome, toDoubtData } from './facilitator.ts';

export type ResendsOptions = {
  readonly facilitator: Facilitator;
  /** Current offer of the route of a request; null for a route that no longer exists. */
  readonly findOffer: (request: string) => RouteOffer | null;
  /** False without a node. Then only another send shows how the payment ended. */
  readonly hasChain: boolean;
  /** Times of the later sends, counted from the first send. */
  readonly resendAfterMs: readonly number[];
  /** Database time, ms. */
  readonly now: () => number;
};

/** Share of the time to `validBefore` that passes before the last send. In the rest, its transaction can be mined. */
const LAST_SEND_SHARE = 0.75;

/**
 * Computes the database times of the later sends, in ascending order. The sends are spread over the validity, so that a
 * facilitator that is down for seconds or minutes gets at least one send after its return. `resendAfterMs` counts from
 * the first send. Its last member is also the latest time of any send.
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

/** Last send of a key by this process. The ledger counts the sends of all processes. */
type OwnSend = {
  /** `performance.now()` of that send. */
  readonly sentMs: number;
  /** Step that announced this send, if nothing was sent. The next send then needs no new step. */
  readonly unsentStep: number | null;
};

/** Sends payments in doubt again when a send is due. */
export class Resends {
  readonly #options: ResendsOptions;
  readonly #ownSends = new Map<string, OwnSend>();

  constructor(options: ResendsOptions) {
    this.#options = options;
  }

  /** Returns a function that sends the payment again; null if no send is due. */
  findDueSend(writer: LedgerWriter, entry: LedgerEntry): (() => Promise<SettleOutcome>) | null {
    return this.#isDue(writer, entry) ? () => this.#send(writer, entry) : null;
  }

  /** Finds the database time of the next send; null if no further send will be made. */
  findNextSendMs(entry: LedgerEntry): number | null {
    const { hasChain, now } = this.#options;
    if (!hasChain || countSends(entry).isReverted) return null;
    return this.#findSendTimes(entry).find((timeMs) => timeMs > now()) ?? null;
  }

  forget(key: string): void {
    this.#ownSends.delete(key);
  }

  #isDue(writer: LedgerWriter, entry: LedgerEntry): boolean {
    const { hasChain, resendAfterMs, now } = this.#options;
    const [pauseMs = 0] = resendAfterMs;
    const ownSend = this.#ownSends.get(entry.key);
    if (ownSend !== undefined && performance.now() - ownSend.sentMs < pauseMs) return false;
    if (!hasChain) return true;
    const { count, lastMs, isReverted } = countSends(entry);
    if (isReverted) return false;
    if (ownSend?.unsentStep === writer.step) return true;
    if (count > resendAfterMs.length) return false;
    // If several times have passed without a send, for example after a restart, only one send is made.
    return this.#findSendTimes(entry).some((timeMs) => lastMs < timeMs && timeMs <= now());
  }

  #findSendTimes(entry: LedgerEntry): readonly number[] {
    const { firstMs } = countSends(entry);
    const { validBeforeMs } = entry.last;
    return toResendTimesMs({ firstMs, validBeforeMs }, this.#options.resendAfterMs);
  }

  /**
   * Writes a step before the send, so that every instance counts the send and only one instance makes it. After the
   * send, writes the new facts of its outcome. Rejects with `StepLost` if another instance wrote first.
   */
  async #send(writer: LedgerWriter, entry: LedgerEntry): Promise<SettleOutcome> {
    const { facilitator, hasChain, findOffer } = this.#options;
    const { key, last } = entry;
    const knownTransaction = findTransaction(entry);
    if (hasChain && this.#ownSends.get(key)?.unsentStep !== writer.step) {
      const sendData = { reason: 'sent again', transaction: knownTransaction, isSend: true };
      await writer.write('unknown', sendData);
    }
    const payment = readPayment(entry);
    const outcome = await facilitator.settle({ payment, offer: findOffer(last.request) });
    const unsentStep = outcome.kind === 'not_sent' ? writer.step : null;
    this.#ownSends.set(key, { sentMs: performance.now(), unsentStep });
    // Without a node, only the first known transaction is worth a step.
    const needsFacts = hasChain || (knownTransaction === null && outcome.kind === 'unclear');
    const newFacts = needsFacts ? toNewFacts(outcome, knownTransaction) : null;
    if (newFacts !== null) await writer.write('unknown', newFacts);
    return outcome;
  }
}

/** Facts of an outcome that are new to the ledger; null if there are none. */
function toNewFacts(outcome: SettleOutcome, knownTransaction: Hex | null): JsonObject | null {
  switch (outcome.kind) {
    case 'refused':
    case 'not_sent':
      return null;
    case 'settled':
      return { reason: 'sent again, and settled', transaction: outcome.transaction };
    case 'nonce_used':
    case 'unclear': {
      const data = toDoubtData(outcome);
      const isNew = outcome.transaction !== null && outcome.transaction !== knownTransaction;
      return isNew || data['isReverted'] === true ? data : null;
    }
  }
}
