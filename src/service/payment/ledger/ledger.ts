/** Reads what the steps of a payment say, and the payment that its claim stores. */
import type { Hex } from 'viem';
import type { JsonObject } from '../../../scanner/model/json.ts';
import type { LedgerEntry, LedgerRow } from '../../store/ledger.ts';
import { type LedgerState, type Progress, STATE_RULES } from '../../store/payment-tables.ts';
import type { Authorization } from '../paid-route.ts';
import type { Requirements } from '../terms.ts';

/** After a block this much later than `validBefore`, no reorganisation can add an earlier use of the nonce. */
export const FINAL_AFTER_MS = 10 * 60_000;

/** Other code decides by this progress and not by the state, so a new state needs only a rule in `STATE_RULES`. */
export function toProgress(state: LedgerState): Progress {
  return STATE_RULES[state].meaning;
}

const CHARGED_BY_PROGRESS = {
  free: false,
  working: false,
  in_doubt: null,
  paid: true,
  failed: false,
} as const;

/** Value of `charged` in an error about this payment; null while it is in doubt. */
export function toCharged(progress: Progress): boolean | null {
  return CHARGED_BY_PROGRESS[progress];
}

export function isPaid(state: LedgerState): boolean {
  return toProgress(state) === 'paid';
}

export function isInDoubt(state: LedgerState): boolean {
  return toProgress(state) === 'in_doubt';
}

/** A payment as a claim stores it, so that any instance can settle it later at the same terms. */
export type StoredPayment = {
  readonly authorization: Authorization;
  readonly signature: Hex;
  readonly requirements: Requirements;
};

type StoredPaymentJson = Omit<StoredPayment, 'authorization'> & {
  readonly authorization: ReturnType<typeof toAuthorizationTexts>;
};

/** Turns the numbers of an authorization into texts, because JSON has no bigint and its numbers lose digits. */
export function toAuthorizationTexts(authorization: Authorization) {
  const { value, validAfter, validBefore } = authorization;
  const texts = { value: `${value}`, validAfter: `${validAfter}`, validBefore: `${validBefore}` };
  return { ...authorization, ...texts };
}

/** Finds the last claim of a key, to which its last steps belong. A released key may be claimed again. */
export function findCurrentClaim(entry: LedgerEntry): LedgerRow {
  const claim = entry.rows.findLast((row) => row.state === 'claimed');
  if (claim === undefined) throw new Error(`Ledger key ${entry.key} was never claimed.`);
  return claim;
}

/** Data of a new claim. It carries the count of earlier claims, because only the last claim is read. */
export function newClaimData(entry: LedgerEntry | null, payment: StoredPayment): JsonObject {
  const { authorization, signature, requirements } = payment;
  return {
    payment: {
      authorization: toAuthorizationTexts(authorization),
      signature,
      requirements: { ...requirements, extra: { ...requirements.extra } },
    },
    countedBefore: entry === null ? 0 : countClaims(entry),
  };
}

/** Counts the claims of a key that the payer ended. Claims that failed by our fault do not count. */
export function countClaims(entry: LedgerEntry): number {
  const { countedBefore } = findCurrentClaim(entry).data;
  const { state, data } = entry.last;
  const isCounted = state === 'released' && data['isCounted'] === true;
  return (typeof countedBefore === 'number' ? countedBefore : 0) + (isCounted ? 1 : 0);
}

export function readPayment(entry: LedgerEntry): StoredPayment {
  // Only `newClaimData` writes this document, and the store keeps it unchanged.
  const { payment } = findCurrentClaim(entry).data as unknown as { payment: StoredPaymentJson };
  const { value, validAfter, validBefore, ...others } = payment.authorization;
  const numbers = {
    value: BigInt(value),
    validAfter: BigInt(validAfter),
    validBefore: BigInt(validBefore),
  };
  return { ...payment, authorization: { ...others, ...numbers } };
}

/** Finds the transaction that moved, or may have moved, the money; null if none is known. */
export function findTransaction(entry: LedgerEntry): Hex | null {
  const row = entry.rows.findLast((candidate) => typeof candidate.data['transaction'] === 'string');
  const transaction = row?.data['transaction'];
  return typeof transaction === 'string' ? (transaction as Hex) : null; // written as Hex
}

/** Finds the database time at which we knew that the money had moved; null if we do not know it. */
export function findSettledAtMs(entry: LedgerEntry): number | null {
  return entry.rows.find((row) => isPaid(row.state))?.atMs ?? null;
}

/**
 * Reads how often and when all processes have sent a payment. The step `settling` announces the first send, and a step
 * `unknown` announces each later send. Times are database times. `isReverted` is true if a transaction of the payment
 * was mined and reverted. Another transaction would then revert too, at our cost.
 */
export function readSends(entry: LedgerEntry) {
  const { rows } = entry;
  const firstSend = rows.find(({ state }) => state === 'settling') ?? findCurrentClaim(entry);
  const resends = rows.filter(({ data }) => data['isSend'] === true);
  return {
    count: 1 + resends.length,
    firstMs: firstSend.atMs,
    lastMs: resends.at(-1)?.atMs ?? firstSend.atMs,
    isReverted: rows.some(isReverted),
  };
}

export function isReverted({ data }: LedgerRow): boolean {
  return data['isReverted'] === true;
}

/** Value of `how` in a step `settled` that has no proof. The payer then gets the answer. */
export const UNPROVED = 'unproved';

/** True if the payment ended without proof. Its answer belongs to the payer and is not published. */
export function isUnproved(entry: LedgerEntry): boolean {
  return entry.rows.some(({ state, data }) => state === 'settled' && data['how'] === UNPROVED);
}
