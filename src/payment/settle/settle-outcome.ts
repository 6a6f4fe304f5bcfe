/** Reads a facilitator's answer to "settle": settled, refused, not sent, or in doubt. */
import type { SettleResponse } from '@x402/core/types';
import type { Hex } from 'viem';
import { isEvmAddress, isSameAddress } from '../../config/parse-values.ts';
import { redact } from '../../model/redact.ts';
import type { StoredPayment } from '../ledger/ledger.ts';
import type { SettleOutcome } from './facilitator.ts';

/**
 * Reasons that speak of the authorization itself, so that nothing can have been sent: the codes of
 * the x402 v2 specification (section "Error Codes"), those of `@x402/evm` for exact on EIP-3009, and
 * the shorter names that facilitators use for the same. What is not listed counts as in doubt.
 */
const AUTHORIZATION_REASONS: ReadonlySet<string> = new Set([
  'insufficient_funds',
  'insufficient_balance',
  'invalid_exact_evm_insufficient_balance',
  'invalid_signature',
  'invalid_exact_evm_signature',
  'invalid_exact_evm_payload_signature',
  'invalid_exact_evm_failed_to_parse_signature',
  'eip6492_factory_not_allowed',
  'expired',
  'authorization_expired',
  'invalid_exact_evm_payload_authorization_valid_before',
  'invalid_exact_evm_payload_authorization_valid_after',
  'invalid_exact_evm_payload_authorization_value',
  'invalid_exact_evm_payload_authorization_value_mismatch',
  'invalid_exact_evm_payload_recipient_mismatch',
  'invalid_exact_evm_recipient_mismatch',
  'invalid_exact_evm_authorization_value',
  'invalid_exact_evm_scheme',
  'invalid_exact_evm_network_mismatch',
  'invalid_exact_evm_missing_eip712_domain',
  'invalid_exact_evm_token_name_mismatch',
  'invalid_exact_evm_token_version_mismatch',
  'invalid_scheme',
  'invalid_network',
  'invalid_payload',
  'invalid_payment_requirements',
  'invalid_x402_version',
  'unsupported_scheme',
  'unsupported_payload_type',
]);

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
  if (isUnsent && AUTHORIZATION_REASONS.has(reason)) return { kind: 'refused', reason };
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
