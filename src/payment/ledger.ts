import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../model/json.ts';
import type {
  LedgerAppend,
  LedgerEntry,
  LedgerRow,
  LedgerState,
  LedgerStore,
} from '../store/contract/ledger.ts';
import { StoreError } from '../store/contract/store-error.ts';
import { mayFollow } from './transitions.ts';

/** Another writer made the step: whoever gets this stops, and may read the key again. */
export class StepLost extends Error {
  override readonly name = 'StepLost';
}

/** What stays the same over the steps of a claim, or is known from some step on. */
export interface ClaimFacts {
  readonly key: string;
  readonly payer: string;
  readonly request: string;
  readonly validBeforeMs: number;
  readonly scanId?: string | undefined;
  readonly answerId?: string | undefined;
}

/** One try more tells a writer whose reply was lost whether its step is in. */
const TRIES = 2;
/**
 * The store keeps a key as long as its authorization lasts. Payers may sign for centuries, and a
 * key that was never paid for would stay as long; after this the chain remembers what was spent.
 */
const MAX_KEPT_MS = 30 * 24 * 3_600_000;

export function keptUntilMs(validBeforeSec: bigint, nowMs: number): number {
  const latestMs = nowMs + MAX_KEPT_MS;
  return validBeforeSec > BigInt(latestMs) / 1000n ? latestMs : Number(validBeforeSec) * 1000;
}

/**
 * Writes the steps of one claim, each its own last step + 1, and stops for good once another
 * writer made one of them. Every method rejects with `StoreError` or `StepLost`.
 */
export class LedgerPen {
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

  /** Goes on where the last step of a key stands, as a host does that takes it over. */
  static onEntry(store: LedgerStore, { last }: LedgerEntry): LedgerPen {
    const { key, payer, request, validBeforeMs, scanId, answerId } = last;
    return new LedgerPen(store, { key, payer, request, validBeforeMs, scanId, answerId }, last);
  }

  get facts(): ClaimFacts {
    return this.#facts;
  }

  get state(): LedgerState | 'none' {
    return this.#state;
  }

  async write(
    state: LedgerState,
    data: JsonObject,
    known: Pick<ClaimFacts, 'scanId' | 'answerId'> = {},
  ): Promise<void> {
    if (this.#isLost) throw new StepLost(`Another writer holds ${this.#facts.key}.`);
    if (!mayFollow(this.#state, state)) {
      throw new Error(`A ledger step ${state} may not follow ${this.#state}.`);
    }
    const facts = { ...this.#facts, ...known };
    const step = this.#step + 1;
    const row: LedgerAppend = { ...facts, step, state, attempt: randomUUID(), data };
    if ((await this.#append(row)) === 'lost') {
      this.#isLost = true;
      throw new StepLost(`Another writer made step ${step} of ${facts.key}.`);
    }
    this.#facts = facts;
    this.#step = step;
    this.#state = state;
  }

  async #append(row: LedgerAppend) {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#store.append(row);
      } catch (error) {
        const isReplyLost = error instanceof StoreError && error.code === 'unavailable';
        if (!isReplyLost || tries === TRIES) throw error;
      }
    }
  }
}
