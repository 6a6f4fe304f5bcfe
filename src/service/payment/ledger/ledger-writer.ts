/** Writes the steps of a payment to the ledger, and publishes what was paid. */
import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../../../scanner/model/json.ts';
import type { LedgerEntry, LedgerRow, LedgerStore, NewLedgerRow } from '../../store/ledger.ts';
import { type LedgerState, STATE_RULES } from '../../store/payment-tables.ts';
import { StoreError } from '../../store/store-error.ts';

export function mayFollow(from: LedgerState | 'none', to: LedgerState): boolean {
  return from === 'none' ? to === 'claimed' : STATE_RULES[from].next.includes(to);
}

/** Another writer has written the next step. The caller must stop, and may read the key again. */
export class StepLost extends Error {
  override readonly name = 'StepLost';
}

/** Facts of a claim, which every step repeats. A fact that a step has added never changes. */
type ClaimFacts = Omit<NewLedgerRow, 'step' | 'state' | 'attempt' | 'data'>;

/** If the store's reply to the first attempt was lost, a second attempt shows if the step was written. */
const MAX_ATTEMPTS = 2;

/**
 * Writes the steps of one claim. Each step has the number after this writer's last step. Once another writer has
 * written a step with that number, this writer writes nothing more. Rejects with `StoreError` or `StepLost`.
 */
export class LedgerWriter {
  readonly #store: LedgerStore;
  #facts: ClaimFacts;
  #step: number;
  #state: LedgerState | 'none';
  #isLost = false;

  constructor(store: LedgerStore, facts: ClaimFacts, last: LedgerRow | null) {
    this.#store = store;
    this.#facts = facts;
    this.#step = last?.step ?? 0;
    this.#state = last?.state ?? 'none';
  }

  /** Continues after the last step of a key, for an instance that takes the key over. */
  static continueAfter(store: LedgerStore, { last }: LedgerEntry): LedgerWriter {
    const { key, payer, request, validBeforeMs, scanId, answerId } = last;
    return new LedgerWriter(store, { key, payer, request, validBeforeMs, scanId, answerId }, last);
  }

  get facts(): ClaimFacts {
    return this.#facts;
  }

  get state(): LedgerState | 'none' {
    return this.#state;
  }

  get step(): number {
    return this.#step;
  }

  async write(
    state: LedgerState,
    data: JsonObject,
    newFacts: Pick<ClaimFacts, 'scanId' | 'answerId'> = {},
  ): Promise<void> {
    if (this.#isLost) throw new StepLost(`Another writer holds ${this.#facts.key}.`);
    if (!mayFollow(this.#state, state)) {
      throw new Error(`A ledger step ${state} may not follow ${this.#state}.`);
    }
    const facts = { ...this.#facts, ...newFacts };
    const step = this.#step + 1;
    const row: NewLedgerRow = { ...facts, step, state, attempt: randomUUID(), data };
    if ((await this.#append(row)) === 'lost') {
      this.#isLost = true;
      throw new StepLost(`Another writer made step ${step} of ${facts.key}.`);
    }
    this.#facts = facts;
    this.#step = step;
    this.#state = state;
  }

  async #append(row: NewLedgerRow) {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#store.append(row);
      } catch (error) {
        const isReplyLost = error instanceof StoreError && error.code === 'unavailable';
        if (!isReplyLost || attempt === MAX_ATTEMPTS) throw error;
      }
    }
  }
}

/** Publishes the scan that a request has bought, as the request's route does it. */
export type PublishScan = (request: string, scanId: string) => Promise<void>;

/**
 * Publishes a paid scan, then writes the step `published`. Without proof of payment it only writes the step. It may
 * run again after a crash, and on several instances at once. Rejects if publishing fails; the caller must retry.
 */
export async function publishSettled(
  publish: PublishScan,
  writer: LedgerWriter,
  isWithoutProof = false,
): Promise<void> {
  const { request, scanId } = writer.facts;
  if (!isWithoutProof && scanId !== undefined) await publish(request, scanId);
  try {
    await writer.write('published', {});
  } catch (error) {
    // Another instance has published the same scan.
    if (!(error instanceof StepLost)) throw error;
  }
}
