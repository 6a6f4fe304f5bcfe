/** Reads a facilitator's answer to "settle": settled, refused, not sent, or in doubt. */

import type { SettleResponse } from '@x402/core/types';
import type { Hex } from 'viem';
import { isEvmAddress, isSameAddress } from '../../config/parse-values.ts';
import { redact } from '../../model/redact.ts';
import type { StoredPayment } from '../ledger/ledger.ts';
import type { SettleOutcome } from './facilitator.ts';

const NONCE_USED = /nonce_already_used|authorization_already_used|authorization.*used or cancel/i;
const TRANSACTION = /^0x[0-9a-fA-F]{64}$/;

/** Concludes from a facilitator's answer to settle no more than it proves about this payment. */
export function toSettleOutcome(response: SettleResponse, payment: StoredPayment): SettleOutcome {
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
export function toOutcomeOfError(error: unknown): SettleOutcome {
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

const SPECIFICATION = 'specs/x402-specification-v2.md, section 9';
const EVM = '@x402/evm 2.27.0, exact/facilitator';
const V1 = 'x402 1.2.0, verify of exact on EVM';
const CDP = 'CDP API, X402SettleErrorReason (docs.rs/cdp-sdk 0.6.0)';
const CIRCLE =
  'Circle Gateway API, settle an x402 payment (developers.circle.com/api-reference/gateway)';
const PYTHON = 'python/x402/mechanisms/evm/constants.py';

/**
 * Reasons of a facilitator that speak of the authorization itself, which is checked before anything is
 * sent, each with its source. Written by hand: a reason that is not listed proves nothing.
 */
export const UNSENT_REASONS: Readonly<Record<string, string>> = {
  insufficient_funds: SPECIFICATION,
  invalid_exact_evm_payload_authorization_valid_after: SPECIFICATION,
  invalid_exact_evm_payload_authorization_valid_before: SPECIFICATION,
  invalid_exact_evm_payload_authorization_value_mismatch: SPECIFICATION,
  invalid_exact_evm_payload_recipient_mismatch: SPECIFICATION,
  invalid_exact_evm_payload_signature: SPECIFICATION,
  invalid_network: SPECIFICATION,
  invalid_payload: SPECIFICATION,
  invalid_payment_requirements: SPECIFICATION,
  invalid_scheme: SPECIFICATION,
  invalid_x402_version: SPECIFICATION,
  unsupported_scheme: SPECIFICATION,
  eip6492_factory_not_allowed: EVM,
  invalid_exact_evm_authorization_value: EVM,
  invalid_exact_evm_failed_to_parse_signature: EVM,
  invalid_exact_evm_insufficient_balance: EVM,
  invalid_exact_evm_missing_eip712_domain: EVM,
  invalid_exact_evm_network_mismatch: EVM,
  invalid_exact_evm_recipient_mismatch: EVM,
  invalid_exact_evm_scheme: EVM,
  invalid_exact_evm_signature: EVM,
  invalid_exact_evm_token_name_mismatch: EVM,
  invalid_exact_evm_token_version_mismatch: EVM,
  unsupported_payload_type: EVM,
  invalid_exact_evm_payload_authorization_value: V1,
  invalid_exact_evm_payload_authorization_typed_data_message: CDP,
  invalid_exact_evm_payload_authorization_value_too_low: CDP,
  invalid_exact_evm_payload_signature_address: CDP,
  address_mismatch: CIRCLE,
  amount_mismatch: CIRCLE,
  authorization_expired: CIRCLE,
  authorization_not_yet_valid: CIRCLE,
  authorization_validity_too_short: CIRCLE,
  invalid_signature: CIRCLE,
  self_transfer: CIRCLE,
  unsupported_asset: CIRCLE,
  unsupported_network: CIRCLE,
  insufficient_balance: PYTHON,
};

/** Codes of the specification that prove nothing, each with the reason why. */
export const UNCLEAR_REASONS: Readonly<Record<string, string>> = {
  invalid_transaction_state: 'a transaction was sent, and failed or was rejected',
  settlement_pending: 'a transaction was sent, and is not final',
  unexpected_settle_error: 'it may have happened after a transaction was sent',
  unexpected_verify_error: 'a settlement that says so failed at an unknown place',
};

/** Returns true if the reason proves that nothing was sent. */
export function isUnsentReason(reason: string): boolean {
  return Object.hasOwn(UNSENT_REASONS, reason);
}
