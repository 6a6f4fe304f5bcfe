/** One look at a payment in doubt, and the times of looks. */

import type { Hex } from 'viem';
import type { LedgerEntry } from '../../store/ledger.ts';
import type { ChainEvidence, ChainVerdict } from '../chain/chain-evidence.ts';
import { describeNodeError } from '../chain/node-requests.ts';
import type { SettleOutcome } from '../settle/facilitator.ts';
import {
  findCurrentClaim,
  findTransaction,
  readPayment,
  type StoredPayment,
  UNPROVED,
} from './ledger.ts';

export type ReconcileVerdict =
  | { readonly kind: 'settled'; readonly transaction: Hex | null; readonly how: string }
  | { readonly kind: 'failed'; readonly reason: string }
  /** It is not known yet whether the payment settles. */
  | { readonly kind: 'open'; readonly reason: string };

export type ReconcileOptions = {
  /** Null without `RPC_URL`, and in mock mode. */
  readonly evidence: ChainEvidence | null;
  /** Database time, ms. */
  readonly now: () => number;
};

/** Sends the payment again; null if it may only be looked up. */
export type Resend = (() => Promise<SettleOutcome>) | null;

/**
 * Time after `validBefore` at which a payment without proof is given up. No node or facilitator will prove
 * it later, and its answer cannot be kept for ever.
 */
const GIVE_UP_AFTER_MS = 48 * 3_600_000;

/** Result of one look; `chainVerdict` is missing if the chain was not asked or did not answer. */
type Lookup = {
  readonly verdict: ReconcileVerdict;
  readonly chainVerdict?: ChainVerdict | undefined;
};

/**
 * Sends the payment again only while it can still be settled; a refusal of that proves nothing, for
 * the first send may have taken the money. Rejects if `resend` does.
 */
export async function reconcileOnce(
  { evidence, now }: ReconcileOptions,
  entry: LedgerEntry,
  resend: Resend,
): Promise<ReconcileVerdict> {
  const payment = readPayment(entry);
  const { verdict, chainVerdict } =
    evidence === null
      ? await askFacilitator(entry, resend)
      : await askChain(evidence, entry, payment, resend);
  const endsAtMs = Number(payment.authorization.validBefore) * 1000;
  if (verdict.kind !== 'open' || now() <= endsAtMs + GIVE_UP_AFTER_MS) return verdict;
  // Even a node that has stopped following the chain proves a payment that it shows.
  if (chainVerdict?.kind === 'spent_elsewhere')
    return { kind: 'failed', reason: 'nonce spent elsewhere' };
  return { kind: 'settled', transaction: null, how: UNPROVED };
}

async function askChain(
  evidence: ChainEvidence,
  entry: LedgerEntry,
  payment: StoredPayment,
  resend: Resend,
): Promise<Lookup> {
  const sinceMs = findCurrentClaim(entry).atMs;
  const known = findTransaction(entry);
  const lookUp = (transaction: Hex | null, sent: SettleOutcome | null) =>
    evidence.lookUp(payment, { sinceMs, transaction }).then(
      (chainVerdict) => lookupOf(chainVerdict, sent),
      (error: unknown): Lookup => ({ verdict: stillOpen(sent, describeNodeError(error)) }),
    );
  const first = await lookUp(known, null);
  const { chainVerdict } = first;
  const isPayable =
    chainVerdict?.kind === 'unused' && !chainVerdict.isExpired && !chainVerdict.isReverted;
  if (!isPayable || resend === null) return first;
  const sent = await resend();
  return lookUp(findOutcomeTransaction(sent) ?? known, sent);
}

function lookupOf(chainVerdict: ChainVerdict, sent: SettleOutcome | null): Lookup {
  const ended = verdictOfChain(chainVerdict);
  return {
    chainVerdict,
    verdict: ended ?? stillOpen(sent, `the chain says: ${chainVerdict.kind}`),
  };
}

function verdictOfChain(verdict: ChainVerdict): ReconcileVerdict | null {
  switch (verdict.kind) {
    case 'paid':
      return { kind: 'settled', transaction: verdict.transaction, how: 'found on the chain' };
    case 'spent_elsewhere':
      return verdict.isFinal ? { kind: 'failed', reason: 'nonce spent elsewhere' } : null;
    case 'unused':
      return verdict.isFinal ? { kind: 'failed', reason: 'expired unused' } : null;
    case 'unexplained':
      return null;
  }
}

/** Trusts the facilitator: by a false answer only the payer gains, and gains one answer. */
async function askFacilitator(entry: LedgerEntry, resend: Resend): Promise<Lookup> {
  if (resend === null) return { verdict: stillOpen(null, 'waiting') };
  const sent = await resend();
  switch (sent.kind) {
    case 'settled':
      return { verdict: { kind: 'settled', transaction: sent.transaction, how: 'settled again' } };
    case 'nonce_used': {
      const transaction = sent.transaction ?? findTransaction(entry);
      return { verdict: { kind: 'settled', transaction, how: 'nonce used' } };
    }
    case 'refused':
    case 'not_sent':
    case 'unclear':
      return { verdict: stillOpen(sent, sent.reason) };
  }
}

export function findOutcomeTransaction(outcome: SettleOutcome): Hex | null {
  return 'transaction' in outcome ? outcome.transaction : null;
}

function stillOpen(sent: SettleOutcome | null, status: string): ReconcileVerdict {
  const resent = sent === null || sent.kind === 'settled' ? '' : `; sent again: ${sent.reason}`;
  return { kind: 'open', reason: `${status}${resent}`.slice(0, 300) };
}

export const DEFAULT_TIMING = {
  /** Interval of look-ups while a caller waits. */
  lookIntervalMs: 1_000,
  /**
   * Instants of the further sends, counted from the first send; the last is made at three quarters of the
   * validity, and no later than the last of these. The first is also the shortest pause between two
   * sends of one process.
   */
  resendAfterMs: [5_000, 30_000, 2 * 60_000, 15 * 60_000],
  /** Intervals of look-ups in the background: they double from the first to the second. */
  firstBackoffMs: 1_000,
  lastBackoffMs: 3_600_000,
};

export type ReconcileTiming = Readonly<typeof DEFAULT_TIMING>;

/** Random share of a backoff, so that keys of one moment are not looked up together. */
const JITTER = 0.25;
/**
 * Wait until the next look in the background, ms: its backoff, and no longer than until the payment is
 * to be sent again, or the chain has proof. `random`: 0 to 1.
 */
export function toNextLookMs({
  backoffMs,
  firstBackoffMs,
  untilDueMs,
  random,
}: {
  readonly backoffMs: number;
  readonly firstBackoffMs: number;
  /** Above 0; `Infinity` if nothing is due. */
  readonly untilDueMs: number;
  readonly random: number;
}): number {
  const jitter = JITTER * random;
  return Math.min(backoffMs * (1 + jitter), untilDueMs + firstBackoffMs * jitter);
}
