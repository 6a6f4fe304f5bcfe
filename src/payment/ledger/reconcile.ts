/** Looks once at a payment in doubt, and concludes no more than the look proves. */
import type { Hex } from 'viem';
import type { LedgerEntry } from '../../store/ledger.ts';
import type { ChainEvidence, ChainVerdict } from '../chain/chain-evidence.ts';
import { describeNodeError } from '../chain/node-requests.ts';
import type { SettleOutcome } from '../settle/facilitator.ts';
import { currentClaim, findTransaction, type StoredPayment, storedPayment } from './ledger.ts';

export type ReconcileVerdict =
  | { readonly kind: 'settled'; readonly transaction: Hex | null; readonly how: string }
  | { readonly kind: 'failed'; readonly reason: string }
  /** The fate of the payment is not known yet. */
  | { readonly kind: 'open'; readonly reason: string };

export type ReconcileOptions = {
  /** Null without `RPC_URL`, and in mock mode. */
  readonly evidence: ChainEvidence | null;
  /** Database time, ms. */
  readonly now: () => number;
};

/** Sends the payment again; null where it may only be looked up. */
export type Resend = (() => Promise<SettleOutcome>) | null;

/** A payment without proof ends in the payer's favour, and its scan is not published. */
export const UNPROVED = 'unproved';

/**
 * Time after `validBefore` at which a payment without proof is given up. No node or facilitator will prove
 * it later, and its answer cannot be kept for ever.
 */
const GIVE_UP_AFTER_MS = 48 * 3_600_000;

/** Result of one look; `seen` is the chain's verdict, where it was asked and answered. */
type Lookup = {
  readonly verdict: ReconcileVerdict;
  readonly seen?: ChainVerdict | undefined;
};

/**
 * Sends the payment again only while it can still be settled; a refusal of that proves nothing, for
 * the first send may have taken the money. Rejects where `resend` does.
 */
export async function reconcileOnce(
  { evidence, now }: ReconcileOptions,
  entry: LedgerEntry,
  resend: Resend,
): Promise<ReconcileVerdict> {
  const payment = storedPayment(entry);
  const { verdict, seen } =
    evidence === null
      ? await askFacilitator(entry, resend)
      : await askChain(evidence, entry, payment, resend);
  const endsAtMs = Number(payment.authorization.validBefore) * 1000;
  if (verdict.kind !== 'open' || now() <= endsAtMs + GIVE_UP_AFTER_MS) return verdict;
  // Even a node that has stopped following the chain proves a payment that it shows.
  if (seen?.kind === 'spent_elsewhere') return { kind: 'failed', reason: 'nonce spent elsewhere' };
  return { kind: 'settled', transaction: null, how: UNPROVED };
}

async function askChain(
  evidence: ChainEvidence,
  entry: LedgerEntry,
  payment: StoredPayment,
  resend: Resend,
): Promise<Lookup> {
  const sinceMs = currentClaim(entry).atMs;
  const known = findTransaction(entry);
  const lookUp = (transaction: Hex | null, sent: SettleOutcome | null) =>
    evidence.lookUp(payment, { sinceMs, transaction }).then(
      (found) => lookupOf(found, sent),
      (error: unknown): Lookup => ({ verdict: stillOpen(sent, describeNodeError(error)) }),
    );
  const first = await lookUp(known, null);
  const { seen } = first;
  const isPayable = seen?.kind === 'unused' && !seen.isExpired && !seen.isReverted;
  if (!isPayable || resend === null) return first;
  const sent = await resend();
  return lookUp(transactionIn(sent) ?? known, sent);
}

function lookupOf(seen: ChainVerdict, sent: SettleOutcome | null): Lookup {
  const ended = verdictOfChain(seen);
  return { seen, verdict: ended ?? stillOpen(sent, `the chain says: ${seen.kind}`) };
}

function verdictOfChain(found: ChainVerdict): ReconcileVerdict | null {
  switch (found.kind) {
    case 'paid':
      return { kind: 'settled', transaction: found.transaction, how: 'found on the chain' };
    case 'spent_elsewhere':
      return found.isFinal ? { kind: 'failed', reason: 'nonce spent elsewhere' } : null;
    case 'unused':
      return found.isFinal ? { kind: 'failed', reason: 'expired unused' } : null;
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

export function transactionIn(outcome: SettleOutcome): Hex | null {
  return 'transaction' in outcome ? outcome.transaction : null;
}

function stillOpen(sent: SettleOutcome | null, found: string): ReconcileVerdict {
  const said = sent === null || sent.kind === 'settled' ? '' : `; sent again: ${sent.reason}`;
  return { kind: 'open', reason: `${found}${said}`.slice(0, 300) };
}
