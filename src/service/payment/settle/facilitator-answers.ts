/** Reads the answers of a facilitator, and decides what an answer or an error on the way proves about a payment. */

import type { Hex } from 'viem';
import { readMembers, tryParseJson } from '../../../scanner/model/json.ts';
import { redact } from '../../../scanner/model/redact.ts';
import { isEvmAddress, isSameAddress } from '../../../scanner/parse/x402/namespaces.ts';
import {
  type AnswerParser,
  isRefusedRedirect,
  REDIRECT_TEXT,
} from '../../../scanner/third-parties/answer-reader.ts';
import type { StoredPayment } from '../ledger/ledger.ts';
import { type SettleOutcome, type SupportedKind, toUnclear } from './facilitator.ts';

const MODULE = new URL('./facilitator-answers.ts', import.meta.url).href;
const MAX_MEMBER_CHARS = 1_000;
const MAX_EXCERPT_CHARS = 200;
const MAX_KINDS = 10_000;
const NONCE_USED_PATTERN =
  /nonce_already_used|authorization_already_used|authorization.*used or cancel/i;
const TRANSACTION_HASH_PATTERN = /^0x[0-9a-fA-F]{64}$/;

export type FacilitatorAnswer = {
  /** `isValid` of a verify answer, or `success` of a settle answer; null if the answer has neither. */
  readonly isSuccess: boolean | null;
  /** `invalidReason` or `errorReason`. */
  readonly reason?: string;
  readonly payer?: string;
  readonly transaction?: string;
  readonly network?: string;
  /** Start of the answer, quoted in error messages. */
  readonly excerpt: string;
};

export const FACILITATOR_ANSWER_PARSER: AnswerParser<FacilitatorAnswer> = {
  module: MODULE,
  exportName: 'readFacilitatorAnswer',
  parse: readFacilitatorAnswer,
};

export const SUPPORTED_KINDS_PARSER: AnswerParser<readonly SupportedKind[] | null> = {
  module: MODULE,
  exportName: 'readSupportedKinds',
  parse: readSupportedKinds,
};

export function readFacilitatorAnswer(text: string): FacilitatorAnswer {
  const answer = readMembers(tryParseJson(text));
  const reason = answer['invalidReason'] ?? answer['errorReason'];
  const isSuccess = answer['isValid'] ?? answer['success'];
  return {
    isSuccess: typeof isSuccess === 'boolean' ? isSuccess : null,
    ...toTextMember('reason', typeof reason === 'string' ? reason : null),
    // A value of a wrong type becomes a text too, so that it does not count as absent.
    ...toTextMember('payer', answer['payer']),
    ...toTextMember('transaction', answer['transaction']),
    ...toTextMember('network', answer['network']),
    excerpt: text.slice(0, MAX_EXCERPT_CHARS).replaceAll(/\s+/g, ' ').trim(),
  };
}

/** Null if the answer has no list of kinds. */
export function readSupportedKinds(text: string): readonly SupportedKind[] | null {
  const { kinds } = readMembers(tryParseJson(text));
  if (!Array.isArray(kinds)) return null;
  return kinds.slice(0, MAX_KINDS).flatMap((kind) => {
    const { x402Version, scheme, network } = readMembers(kind);
    const isKind =
      typeof x402Version === 'number' && typeof scheme === 'string' && typeof network === 'string';
    return isKind ? [{ x402Version, scheme, network }] : [];
  });
}

function toTextMember<Name extends string>(name: Name, value: unknown) {
  const hasValue = value !== undefined && value !== null;
  const text = hasValue ? { [name]: String(value).slice(0, MAX_MEMBER_CHARS) } : {};
  return text as { readonly [name in Name]?: string }; // the computed name is `Name`
}

export function toSettleOutcome(answer: FacilitatorAnswer, payment: StoredPayment): SettleOutcome {
  const transaction = parseTransaction(answer.transaction);
  if (answer.isSuccess) return toOutcomeOfSuccess(answer, payment, transaction);
  const { reason = '' } = answer;
  if (isNonceUsedReason(reason)) return { kind: 'nonce_used', reason, transaction };
  // If a refusal names a transaction, something was sent, whatever its reason says.
  const isUnsent = transaction === null && !answer.transaction;
  if (isUnsent && Object.hasOwn(UNSENT_REASONS, reason)) return { kind: 'refused', reason };
  return toUnclear(redact(reason) || 'failed without a reason', transaction);
}

export function isNonceUsedReason(reason: string): boolean {
  return NONCE_USED_PATTERN.test(reason);
}

/** Only a refused connection proves that the facilitator did not get the payment. */
export function toOutcomeOfError(error: unknown): SettleOutcome {
  if (isConnectionRefused(error)) return { kind: 'not_sent', reason: 'connection refused' };
  return toUnclear(describeError(error), null);
}

export function describeError(error: unknown): string {
  if (isRefusedRedirect(error)) return REDIRECT_TEXT;
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return redact(text).slice(0, 300);
}

/** True only if every address of the facilitator refused the connection. */
function isConnectionRefused(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof AggregateError) return error.errors.every(isConnectionRefused);
  if ('code' in error && error.code === 'ECONNREFUSED') return true;
  return isConnectionRefused(error.cause);
}

function toOutcomeOfSuccess(
  { network, payer }: FacilitatorAnswer,
  { authorization, requirements }: StoredPayment,
  transaction: Hex | null,
): SettleOutcome {
  if (transaction === null) return toUnclear('success without a transaction hash', null);
  if (network !== requirements.network) {
    return toUnclear('success on another network', transaction);
  }
  if (payer !== undefined && !isSamePayer(payer, authorization.from)) {
    return toUnclear('success for another payer', transaction);
  }
  return { kind: 'settled', transaction };
}

function parseTransaction(transaction = ''): Hex | null {
  if (!TRANSACTION_HASH_PATTERN.test(transaction) || /^0x0+$/.test(transaction)) return null;
  return `0x${transaction.slice(2).toLowerCase()}`;
}

export function isSamePayer(payer: string, from: Hex): boolean {
  return isEvmAddress(payer) && isSameAddress(payer, from);
}

/** Sources of the reasons. */
const SPECIFICATION = 'specs/x402-specification-v2.md, section 9';
const X402_EVM = '@x402/evm 2.27.0, exact/facilitator';
const X402_V1 = 'x402 1.2.0, verify of exact on EVM';
const CDP_API = 'CDP API, X402SettleErrorReason (docs.rs/cdp-sdk 0.6.0)';
const CIRCLE_API =
  'Circle Gateway API, settle an x402 payment (developers.circle.com/api-reference/gateway)';
const X402_PYTHON = 'python/x402/mechanisms/evm/constants.py';

/**
 * Reasons of a facilitator that name a fault of the authorization, each with its source. Facilitators check the
 * authorization before they send, so these reasons prove that nothing was sent. Any other reason proves nothing.
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
  eip6492_factory_not_allowed: X402_EVM,
  invalid_exact_evm_authorization_value: X402_EVM,
  invalid_exact_evm_failed_to_parse_signature: X402_EVM,
  invalid_exact_evm_insufficient_balance: X402_EVM,
  invalid_exact_evm_missing_eip712_domain: X402_EVM,
  invalid_exact_evm_network_mismatch: X402_EVM,
  invalid_exact_evm_recipient_mismatch: X402_EVM,
  invalid_exact_evm_scheme: X402_EVM,
  invalid_exact_evm_signature: X402_EVM,
  invalid_exact_evm_token_name_mismatch: X402_EVM,
  invalid_exact_evm_token_version_mismatch: X402_EVM,
  unsupported_payload_type: X402_EVM,
  invalid_exact_evm_payload_authorization_value: X402_V1,
  invalid_exact_evm_payload_authorization_typed_data_message: CDP_API,
  invalid_exact_evm_payload_authorization_value_too_low: CDP_API,
  invalid_exact_evm_payload_signature_address: CDP_API,
  address_mismatch: CIRCLE_API,
  amount_mismatch: CIRCLE_API,
  authorization_expired: CIRCLE_API,
  authorization_not_yet_valid: CIRCLE_API,
  authorization_validity_too_short: CIRCLE_API,
  invalid_signature: CIRCLE_API,
  self_transfer: CIRCLE_API,
  unsupported_asset: CIRCLE_API,
  unsupported_network: CIRCLE_API,
  insufficient_balance: X402_PYTHON,
};

/** Codes of the specification after which a transaction may have been sent, each with an explanation. */
export const UNCLEAR_REASONS: Readonly<Record<string, string>> = {
  invalid_transaction_state: 'a transaction was sent, and failed or was rejected',
  settlement_pending: 'a transaction was sent, and is not final',
  unexpected_settle_error: 'it may have happened after a transaction was sent',
  unexpected_verify_error: 'the settlement failed at an unknown place',
};
