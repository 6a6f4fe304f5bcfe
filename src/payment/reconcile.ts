import type { Hex } from 'viem';
import type { LedgerEntry } from '../store/contract/ledger.ts';
import type { ChainEvidence, ChainVerdict } from './chain-evidence.ts';
import type { RouteOffer } from './challenge.ts';
import type { Facilitator, SettleOutcome } from './facilitator.ts';
import { currentClaim, type StoredPayment, storedPayment, transactionOf } from './ledger.ts';

export type ReconcileVerdict =
  | { readonly kind: 'settled'; readonly transaction: Hex | null; readonly how: string }
  | { readonly kind: 'failed'; readonly reason: string }
  /** Nobody can say yet. */
  | { readonly kind: 'open'; readonly reason: string; readonly transaction: Hex | null };

export interface ReconcileOptions {
  readonly facilitator: Facilitator;
  /** Null without `RPC_URL`, and in mock mode. */
  readonly evidence: ChainEvidence | null;
  /** Database time, ms. */
  readonly now: () => number;
  /** What the route offers now; null after it has gone. */
  readonly offerOf: (request: string) => RouteOffer | null;
}

/**
 * Without proof for so long after the authorization ended, a payment is given up: no node and no
 * facilitator will ever say more, and the answer it was for must not be kept for ever.
 */
const GIVE_UP_AFTER_MS = 48 * 3_600_000;

/**
 * One look at a payment whose settlement was sent and whose outcome is not known. Sends it again
 * only if `mayResend`, and while it can still be settled; a refusal of that proves nothing, for the
 * first send may have taken the money.
 */
export async function reconcileOnce(
  options: ReconcileOptions,
  entry: LedgerEntry,
  mayResend: boolean,
): Promise<ReconcileVerdict> {
  const payment = storedPayment(entry);
  const verdict =
    options.evidence === null
      ? await askFacilitator(options, entry, payment, mayResend)
      : await askChain(options, options.evidence, entry, payment, mayResend);
  const endsAtMs = Number(payment.authorization.validBefore) * 1000;
  if (verdict.kind === 'open' && options.now() > endsAtMs + GIVE_UP_AFTER_MS) {
    return { kind: 'failed', reason: `given up: ${verdict.reason}` };
  }
  return verdict;
}

async function askChain(
  options: ReconcileOptions,
  evidence: ChainEvidence,
  entry: LedgerEntry,
  payment: StoredPayment,
  mayResend: boolean,
): Promise<ReconcileVerdict> {
  const sinceMs = currentClaim(entry).atMs;
  const open = (reason: string): ReconcileVerdict => ({
    kind: 'open',
    reason,
    transaction: transactionOf(entry),
  });
  try {
    const found = await evidence.lookUp(payment, sinceMs);
    const isPayable = found.kind === 'unused' && !found.isExpired;
    if (!isPayable || !mayResend) return verdictOfChain(found) ?? open(found.kind);
    const sent = await send(options, entry, payment);
    return verdictOfChain(await evidence.lookUp(payment, sinceMs)) ?? stillOpen(sent, entry);
  } catch (error) {
    return open(`RPC_URL: ${error instanceof Error ? error.name : 'failed'}`);
  }
}

function verdictOfChain(found: ChainVerdict): ReconcileVerdict | null {
  switch (found.kind) {
    case 'paid':
      return { kind: 'settled', transaction: found.transaction, how: 'found on the chain' };
    case 'spent_elsewhere':
      return found.isExpired ? { kind: 'failed', reason: 'nonce spent elsewhere' } : null;
    case 'unused':
      return found.isExpired ? { kind: 'failed', reason: 'expired unused' } : null;
    case 'unexplained':
      return null;
  }
}

/** Only the payer could gain by a lie here: it gets an answer, and pays nothing more. */
async function askFacilitator(
  options: ReconcileOptions,
  entry: LedgerEntry,
  payment: StoredPayment,
  mayResend: boolean,
): Promise<ReconcileVerdict> {
  if (!mayResend) return { kind: 'open', reason: 'waiting', transaction: transactionOf(entry) };
  const sent = await send(options, entry, payment);
  if (sent.kind === 'settled') {
    return { kind: 'settled', transaction: sent.transaction, how: 'settled again' };
  }
  if (sent.kind === 'nonce_used') {
    const transaction = sent.transaction ?? transactionOf(entry);
    return { kind: 'settled', transaction, how: 'nonce used' };
  }
  return stillOpen(sent, entry);
}

function send(
  { facilitator, offerOf }: ReconcileOptions,
  entry: LedgerEntry,
  payment: StoredPayment,
): Promise<SettleOutcome> {
  return facilitator.settle({ payment, offer: offerOf(entry.last.request) });
}

function stillOpen(sent: SettleOutcome, entry: LedgerEntry): ReconcileVerdict {
  const named = 'transaction' in sent ? sent.transaction : null;
  const reason = sent.kind === 'settled' ? 'settled, not yet on the chain' : sent.reason;
  return { kind: 'open', reason, transaction: named ?? transactionOf(entry) };
}
