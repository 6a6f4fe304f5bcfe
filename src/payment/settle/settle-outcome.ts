/** Reads a facilitator's answer to "settle": settled, refused, not sent, or in doubt. */
import type { SettleResponse } from '@x402/core/types';
import type { Hex } from 'viem';
import { isEvmAddress, isSameAddress } from '../../config/parse-values.ts';
import { redact } from '../../model/redact.ts';
import type { StoredPayment } from '../ledger/ledger.ts';
import type { SettleOutcome } from './facilitator.ts';
import { isUnsentReason } from './unsent-reasons.ts';

const NONCE_USED = /nonce_already_used|authorization_already_used|authorization.*used or cancel/i;
const TRANSACTION = /^0x[0-9a-fA-F]{64}$/;

/** Concludes from a facilitator's answer to settle no more than it proves about this payment. */
export function settleOutcome(response: SettleResponse, payment: StoredPayment): SettleOutcome {
  const transaction = transactionOf(response);
  if (response.success) return outcomeOfSuccess(response, payment, transaction);
  const reason = response.errorReason ?? '';
  if (NONCE_USED.test(reason)) return { kind: 'nonce_used', reason, transaction };
  // A refusal that names a transaction was sent, whatever it says of itself.
  const isUnsent = transaction === null && !response.transaction;
  if (isUnsent && isUnsentReason(reason)) return { kind: 'refused', reason };
  return { kind: 'unclear', reason: redact(reason) || 'failed without a reason', transaction };
}

/** Concludes from an error on the way to a facilitator: only a refused connection proves anything. */
export function settleOutcomeOfError(error: unknown): SettleOutcome {
  if (isConnectionRefused(error)) return { kind: 'not_sent', reason: 'connection refused' };
  const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return { kind: 'unclear', reason: redact(reason).slice(0, 300), transaction: null };
}

/** True only if no address of the host took the connection. */
function isConnectionRefused(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof AggregateError) return error.errors.every(isConnectionRefused);
  if ('code' in error && error.code === 'ECONNREFUSED') return true;
  return isConnectionRefused(error.cause);
}

function outcomeOfSuccess(
  { network, payer }: SettleResponse,
  { authorization, requirements }: StoredPayment,
  transaction: Hex | null,
): SettleOutcome {
  const unclear = (reason: string): SettleOutcome => ({ kind: 'unclear', reason, transaction });
  if (transaction === null) return unclear('success without a transaction hash');
  if (network !== requirements.network) return unclear('success on another network');
  if (payer !== undefined && !isSamePayer(payer, authorization.from)) {
    return unclear('success for another payer');
  }
  return { kind: 'settled', transaction };
}

function transactionOf({ transaction }: SettleResponse): Hex | null {
  if (typeof transaction !== 'string' || !TRANSACTION.test(transaction)) return null;
  if (/^0x0+$/.test(transaction)) return null;
  return `0x${transaction.slice(2).toLowerCase()}`;
}

function isSamePayer(payer: string, from: Hex): boolean {
  return isEvmAddress(payer) && isSameAddress(payer, from);
}
