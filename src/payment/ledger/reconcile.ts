/** Looks up once how a payment in doubt ended, and computes when the next look is due. */

import type { Hex } from 'viem';
import type { LedgerEntry } from '../../store/ledger.ts';
import type { ChainEvidence, ChainVerdict } from '../chain/chain-evidence.ts';
import { describeNodeError } from '../chain/node-requests.ts';
import type { SettleOutcome } from '../settle/facilitator.ts';
import { findCurrentClaim, findTransaction, readPayment, UNPROVED } from './ledger.ts';

export type ReconcileVerdict =
  | { readonly kind: 'settled'; readonly transaction: Hex | null; readonly how: string }
  | { readonly kind: 'failed'; readonly reason: string }
  /** The payment is still in doubt. */
  | { readonly kind: 'open'; readonly reason: string };

export type ReconcileOptions = {
  /** Null without `RPC_URL`, and in mock mode. */
  readonly evidence: ChainEvidence | null;
  /** Database time, ms. */
  readonly now: () => number;
};

/** Sends the payment again; null if no further send is due. */
export type Resend = (() => Promise<SettleOutcome>) | null;

/** This long after `validBefore`, a payment without proof counts as settled: we cannot store its answer for ever. */
const GIVE_UP_AFTER_MS = 48 * 3_600_000;

/** Result of one look-up; `chainVerdict` is missing if no node was asked, or the node did not answer. */
type LookResult = {
  readonly verdict: ReconcileVerdict;
  readonly chainVerdict?: ChainVerdict | undefined;
};

/**
 * Asks the chain, or without a node the facilitator, how a payment ended. Sends the payment again only while it can
 * still be settled. A refusal of that send proves nothing, because an earlier send may have taken the money. Rejects
 * if `resend` rejects.
 */
export async function reconcileOnce(
  { evidence, now }: ReconcileOptions,
  entry: LedgerEntry,
  resend: Resend,
): Promise<ReconcileVerdict> {
  const { verdict, chainVerdict } =
    evidence === null
      ? await askFacilitator(entry, resend)
      : await askChain(evidence, entry, resend);
  const giveUpMs = entry.last.validBeforeMs + GIVE_UP_AFTER_MS;
  if (verdict.kind !== 'open' || now() <= giveUpMs) return verdict;
  // If the node no longer follows the chain, no block is final. Still, a nonce that was spent elsewhere never pays us.
  if (chainVerdict?.kind === 'spent_elsewhere')
    return { kind: 'failed', reason: 'nonce spent elsewhere' };
  return { kind: 'settled', transaction: null, how: UNPROVED };
}

async function askChain(
  evidence: ChainEvidence,
  entry: LedgerEntry,
  resend: Resend,
): Promise<LookResult> {
  const payment = readPayment(entry);
  const sinceMs = findCurrentClaim(entry).atMs;
  const knownTransaction = findTransaction(entry);
  const lookUp = (transaction: Hex | null, sent: SettleOutcome | null) =>
    evidence.lookUp(payment, { sinceMs, transaction }).then(
      (chainVerdict) => toLookResult(chainVerdict, sent),
      (error: unknown): LookResult => ({ verdict: toOpenVerdict(sent, describeNodeError(error)) }),
    );
  const firstLook = await lookUp(knownTransaction, null);
  const { chainVerdict } = firstLook;
  const isPayable =
    chainVerdict?.kind === 'unused' && !chainVerdict.isExpired && !chainVerdict.isReverted;
  if (!isPayable || resend === null) return firstLook;
  const sent = await resend();
  return lookUp(findOutcomeTransaction(sent) ?? knownTransaction, sent);
}

function toLookResult(chainVerdict: ChainVerdict, sent: SettleOutcome | null): LookResult {
  const finalVerdict = toFinalVerdict(chainVerdict);
  return {
    chainVerdict,
    verdict: finalVerdict ?? toOpenVerdict(sent, `the chain says: ${chainVerdict.kind}`),
  };
}

/** Null while the chain does not decide the payment. */
function toFinalVerdict(verdict: ChainVerdict): ReconcileVerdict | null {
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

/** Trusts the facilitator: if it lies, we give away one paid answer. */
async function askFacilitator(entry: LedgerEntry, resend: Resend): Promise<LookResult> {
  if (resend === null) return { verdict: toOpenVerdict(null, 'waiting') };
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
      return { verdict: toOpenVerdict(sent, sent.reason) };
  }
}

export function findOutcomeTransaction(outcome: SettleOutcome): Hex | null {
  return 'transaction' in outcome ? outcome.transaction : null;
}

function toOpenVerdict(sent: SettleOutcome | null, status: string): ReconcileVerdict {
  const resent = sent === null || sent.kind === 'settled' ? '' : `; sent again: ${sent.reason}`;
  return { kind: 'open', reason: `${status}${resent}`.slice(0, 300) };
}

export const DEFAULT_TIMING = {
  /** Interval of looks while a call waits. */
  lookIntervalMs: 1_000,
  /**
   * Times of the later sends, counted from the first send. The last send moves to three quarters of the validity if
   * that is earlier. The first of these times is also the minimum pause between two sends of a process.
   */
  resendAfterMs: [5_000, 30_000, 2 * 60_000, 15 * 60_000],
  /** First and longest interval of looks in the background. The interval doubles after each look. */
  firstBackoffMs: 1_000,
  lastBackoffMs: 3_600_000,
};

export type ReconcileTiming = Readonly<typeof DEFAULT_TIMING>;

/** At most this share of a backoff is added at random, so that keys of one outage are not looked up together. */
const MAX_JITTER_SHARE = 0.25;
/**
 * Computes the wait until the next look in the background: the backoff, but not past `untilDueMs`. `random` is
 * between 0 and 1.
 */
export function toNextLookMs({
  backoffMs,
  firstBackoffMs,
  untilDueMs,
  random,
}: {
  readonly backoffMs: number;
  readonly firstBackoffMs: number;
  /** Time until the next send, or until the chain can prove the end; above 0. `Infinity` if neither is ahead. */
  readonly untilDueMs: number;
  readonly random: number;
}): number {
  const jitterShare = MAX_JITTER_SHARE * random;
  return Math.min(backoffMs * (1 + jitterShare), untilDueMs + firstBackoffMs * jitterShare);
}
