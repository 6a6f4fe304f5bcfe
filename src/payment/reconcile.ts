/** One look at a payment that was sent and whose outcome is not known: what it proves, and no more. */
import type { Hex } from 'viem';
import type { LedgerEntry } from '../store/contract/ledger.ts';
import type { ChainEvidence, ChainVerdict } from './chain/chain-evidence.ts';
import { describeNodeError } from './chain/node-client.ts';
import type { RouteOffer } from './challenge.ts';
import type { Facilitator, SettleOutcome } from './facilitator.ts';
import { currentClaim, type StoredPayment, storedPayment, transactionOf } from './ledger.ts';

export type ReconcileVerdict =
  | { readonly kind: 'settled'; readonly transaction: Hex | null; readonly how: string }
  | { readonly kind: 'failed'; readonly reason: string }
  /** Nobody can say yet. */
  | {
      readonly kind: 'open';
      readonly reason: string;
      readonly isSent: boolean;
      readonly isLast: boolean;
    };

export type ReconcileOptions = {
  readonly facilitator: Facilitator;
  /** Null without `RPC_URL`, and in mock mode. */
  readonly evidence: ChainEvidence | null;
  /** Database time, ms. */
  readonly now: () => number;
  /** What the route offers now; null after it has gone. */
  readonly offerOf: (request: string) => RouteOffer | null;
};

/** How a payment ends that could not be looked at: in the payer's favour, and nothing is published. */
export const UNPROVED = 'unproved';

/**
 * Without proof for so long after the authorization ended, a payment is given up: no node and no
 * facilitator will ever say more, and the answer it was for must not be kept for ever.
 */
const GIVE_UP_AFTER_MS = 48 * 3_600_000;

/** What one look found; `seen` is what the chain showed, where it was asked and answered. */
type Look = {
  readonly verdict: ReconcileVerdict;
  readonly seen?: ChainVerdict | undefined;
};

/**
 * Sends the payment again only if `mayResend`, and while it can still be settled; a refusal of that
 * proves nothing, for the first send may have taken the money.
 */
export async function reconcileOnce(
  options: ReconcileOptions,
  entry: LedgerEntry,
  mayResend: boolean,
): Promise<ReconcileVerdict> {
  const payment = storedPayment(entry);
  const { verdict, seen } =
    options.evidence === null
      ? await askFacilitator(options, entry, payment, mayResend)
      : await askChain(options, options.evidence, entry, payment, mayResend);
  const endsAtMs = Number(payment.authorization.validBefore) * 1000;
  if (verdict.kind !== 'open' || options.now() <= endsAtMs + GIVE_UP_AFTER_MS) return verdict;
  // A node that stands still has shown at least who got the money.
  if (seen?.kind === 'spent_elsewhere') return { kind: 'failed', reason: 'nonce spent elsewhere' };
  return { kind: 'settled', transaction: null, how: UNPROVED };
}

async function askChain(
  options: ReconcileOptions,
  evidence: ChainEvidence,
  entry: LedgerEntry,
  payment: StoredPayment,
  mayResend: boolean,
): Promise<Look> {
  const sinceMs = currentClaim(entry).atMs;
  let transaction = transactionOf(entry);
  let sent: SettleOutcome | null = null;
  try {
    const found = await evidence.lookUp(payment, { sinceMs, transaction });
    const isPayable = found.kind === 'unused' && !found.isExpired && !found.isReverted;
    if (!isPayable || !mayResend) return lookOf(found, sent);
    sent = await send(options, entry, payment);
    if ('transaction' in sent && sent.transaction !== null) transaction = sent.transaction;
    return lookOf(await evidence.lookUp(payment, { sinceMs, transaction }), sent);
  } catch (error) {
    return { verdict: stillOpen(sent, describeNodeError(error)) };
  }
}

function lookOf(seen: ChainVerdict, sent: SettleOutcome | null): Look {
  const isReverted = seen.kind === 'unused' && seen.isReverted;
  const ended = verdictOfChain(seen);
  return { seen, verdict: ended ?? stillOpen(sent, `the chain says: ${seen.kind}`, isReverted) };
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

/** Only the payer could gain by a lie here: it gets an answer, and pays nothing more. */
async function askFacilitator(
  options: ReconcileOptions,
  entry: LedgerEntry,
  payment: StoredPayment,
  mayResend: boolean,
): Promise<Look> {
  if (!mayResend) return { verdict: stillOpen(null, 'waiting') };
  const sent = await send(options, entry, payment);
  if (sent.kind === 'settled') {
    const { transaction } = sent;
    return { verdict: { kind: 'settled', transaction, how: 'settled again' } };
  }
  if (sent.kind === 'nonce_used') {
    const transaction = sent.transaction ?? transactionOf(entry);
    return { verdict: { kind: 'settled', transaction, how: 'nonce used' } };
  }
  return { verdict: stillOpen(sent, sent.reason) };
}

function send(
  { facilitator, offerOf }: ReconcileOptions,
  entry: LedgerEntry,
  payment: StoredPayment,
): Promise<SettleOutcome> {
  return facilitator.settle({ payment, offer: offerOf(entry.last.request) });
}

function stillOpen(
  sent: SettleOutcome | null,
  found: string,
  isReverted = false,
): ReconcileVerdict {
  const said = sent === null || sent.kind === 'settled' ? '' : `; sent again: ${sent.reason}`;
  const isLast = isReverted || (sent?.kind === 'unclear' && sent.isLast === true);
  // What never left costs no try: the next one may be the first that is heard.
  const isSent = sent !== null && sent.kind !== 'not_sent';
  return { kind: 'open', reason: `${found}${said}`.slice(0, 300), isSent, isLast };
}
