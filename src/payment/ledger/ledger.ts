import { randomUUID } from 'node:crypto';
import type { Hex } from 'viem';
import { toChecksummed } from '../../config/parse-values.ts';
import type { JsonObject } from '../../model/json.ts';
import { StoreError } from '../../store/errors.ts';
import type { LedgerEntry, LedgerRow, LedgerStore, NewLedgerRow } from '../../store/ledger.ts';
import { type LedgerState, type Progress, STATE_RULES } from '../../store/payment-tables.ts';
import { type Authorization, parseRouteName, type SignedPayment } from '../paid-route.ts';
import type { Requirements } from '../terms.ts';

/** A block this much later than `validBefore` proves that an authorization was never used. */
export const FINAL_AFTER_MS = 10 * 60_000;

export function mayFollow(from: LedgerState | 'none', to: LedgerState): boolean {
  return from === 'none' ? to === 'claimed' : STATE_RULES[from].next.includes(to);
}

/** Code decides by this progress, never by the state itself. */
export function toProgress(state: LedgerState): Progress {
  return STATE_RULES[state].meaning;
}

const CHARGED = { free: false, working: false, in_doubt: null, paid: true, failed: false } as const;

/** Value of `charged` in an error about this payment. */
export function toCharged(progress: Progress): boolean | null {
  return CHARGED[progress];
}

export function isPaid(state: LedgerState): boolean {
  return toProgress(state) === 'paid';
}

export function isInDoubt(state: LedgerState): boolean {
  return toProgress(state) === 'in_doubt';
}

/** Another writer made the step first; the caller stops, and may read the key again. */
export class StepLost extends Error {
  override readonly name = 'StepLost';
}

/** Facts of a claim. Once a step has added one, it never changes. */
export type ClaimFacts = {
  readonly key: string;
  readonly payer: string;
  readonly request: string;
  readonly validBeforeMs: number;
  readonly scanId?: string | undefined;
  readonly answerId?: string | undefined;
};

/** A second try shows whether the step was written when the first reply was lost. */
const TRIES = 2;
/**
 * Writes the steps of one claim, each with this writer's last number + 1, and stops for good once another
 * writer made one of them. Every method rejects with `StoreError` or `StepLost`.
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
  static onEntry(store: LedgerStore, { last }: LedgerEntry): LedgerWriter {
    const { key, payer, request, validBeforeMs, scanId, answerId } = last;
    return new LedgerWriter(store, { key, payer, request, validBeforeMs, scanId, answerId }, last);
  }

  get facts(): ClaimFacts {
    return this.#facts;
  }

  get state(): LedgerState | 'none' {
    return this.#state;
  }

  /** Number of the last step. */
  get step(): number {
    return this.#step;
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

/** Data of a claim, so that any instance can settle it later at the same terms. */
export type StoredPayment = {
  readonly authorization: Authorization;
  readonly signature: Hex;
  readonly requirements: Requirements;
};

type StoredPaymentJson = {
  readonly authorization: ReturnType<typeof toAuthorizationTexts>;
  readonly signature: Hex;
  readonly requirements: Requirements;
};

/** Texts, because JSON has no bigint and its numbers lose digits. */
export function toAuthorizationTexts({ value, validAfter, validBefore, ...texts }: Authorization) {
  const numbers = { value: `${value}`, validAfter: `${validAfter}`, validBefore: `${validBefore}` };
  return { ...texts, ...numbers };
}

export function toPaymentData(payment: SignedPayment, requirements: Requirements): JsonObject {
  return {
    payment: {
      authorization: toAuthorizationTexts(payment.authorization),
      signature: payment.signature,
      requirements: { ...requirements, extra: { ...requirements.extra } },
    },
  };
}

/** The claim that the last steps of a key belong to; a released key may be claimed again. */
export function findCurrentClaim(entry: LedgerEntry): LedgerRow {
  const claim = entry.rows.findLast((row) => row.state === 'claimed');
  if (claim === undefined) throw new Error(`Ledger key ${entry.key} was never claimed.`);
  return claim;
}

/** Data of a new claim. It has the counts of earlier claims, because only the last claim is read. */
export function newClaimData(
  entry: LedgerEntry | null,
  payment: SignedPayment,
  requirements: Requirements,
): JsonObject {
  return {
    ...toPaymentData(payment, requirements),
    countedBefore: entry === null ? 0 : countClaims(entry),
  };
}

/** Number of earlier claims that their payer ended; claims that failed by our fault do not count. */
export function countClaims(entry: LedgerEntry): number {
  const { countedBefore } = findCurrentClaim(entry).data;
  const { state, data } = entry.last;
  const isCounted = state === 'released' && data['isCounted'] === true;
  return (typeof countedBefore === 'number' ? countedBefore : 0) + (isCounted ? 1 : 0);
}

export function readPayment(entry: LedgerEntry): StoredPayment {
  // `toPaymentData` is the only writer of this document, and the store keeps it unchanged.
  const { payment } = findCurrentClaim(entry).data as unknown as { payment: StoredPaymentJson };
  const { authorization, signature, requirements } = payment;
  return {
    authorization: {
      from: toChecksummed(authorization.from),
      to: toChecksummed(authorization.to),
      value: BigInt(authorization.value),
      validAfter: BigInt(authorization.validAfter),
      validBefore: BigInt(authorization.validBefore),
      nonce: authorization.nonce,
    },
    signature,
    requirements,
  };
}

/** Finds the transaction that moved, or may have moved, the money; null if none is known. */
export function findTransaction(entry: LedgerEntry): Hex | null {
  const row = entry.rows.findLast((candidate) => typeof candidate.data['transaction'] === 'string');
  const transaction = row?.data['transaction'];
  return typeof transaction === 'string' ? (transaction as Hex) : null; // written as Hex
}

/** Database time at which the money was known to have moved; null if it was not. */
export function findSettledAtMs(entry: LedgerEntry): number | null {
  return entry.rows.find((row) => isPaid(row.state))?.atMs ?? null;
}

/**
 * Counts the sends of a payment by all processes: the first is that of `settling`, each later one is announced by a step
 * `unknown`. Times are the database's. `isReverted`: a transaction was mined and reverted; one more would revert too, at our cost.
 */
export function countSends(entry: LedgerEntry) {
  const { rows } = entry;
  const first = rows.find(({ state }) => state === 'settling') ?? findCurrentClaim(entry);
  const again = rows.filter(({ data }) => data['isSend'] === true);
  return {
    count: 1 + again.length,
    firstMs: first.atMs,
    lastMs: again.at(-1)?.atMs ?? first.atMs,
    isReverted: rows.some(isReverted),
  };
}

export function isReverted({ data }: LedgerRow): boolean {
  return data['isReverted'] === true;
}

/** A payment without proof ends in the payer's favour, and its scan is not published. */
export const UNPROVED = 'unproved';

/** Publishes a paid scan, by the name of its route. */
export type PublishByRoute = ReadonlyMap<string, (scanId: string) => Promise<void>>;

/** An answer without proof of payment belongs to its payer and is not published. */
export function isUnproved(entry: LedgerEntry): boolean {
  return entry.rows.some(({ state, data }) => state === 'settled' && data['how'] === UNPROVED);
}

/**
 * Publishes a paid scan, then writes the step; without proof it writes the step only. May be run again after a
 * crash, and by several instances at once. Rejects if publishing failed; it must be run again then.
 */
export async function publishSettled(
  routes: PublishByRoute,
  writer: LedgerWriter,
  isWithoutProof = false,
): Promise<void> {
  const { request, scanId } = writer.facts;
  const publish = routes.get(parseRouteName(request));
  if (!isWithoutProof && publish !== undefined && scanId !== undefined) await publish(scanId);
  try {
    await writer.write('published', {});
  } catch (error) {
    // Another instance has published the same scan.
    if (!(error instanceof StepLost)) throw error;
  }
}
