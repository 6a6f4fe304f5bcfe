/** The errors that refuse a payment or leave it in doubt, and the form in which a `released` step keeps an error. */
import { encodePaymentResponseHeader } from '@x402/core/http';
import type { Hex } from 'viem';
import type { JsonObject, JsonValue } from '../../../scanner/model/json.ts';
import { ERROR_CODES, type ErrorCode, ServiceError } from '../../errors/error-codes.ts';
import { SettlementUnknown } from '../../errors/errors.ts';
import type { LedgerRow } from '../../store/ledger.ts';
import type { StoredPayment } from '../ledger/ledger.ts';
import { isDisconnect } from './call-end.ts';
import type { DeliverySettlement } from './purchase.ts';

/** Stable code of a refusal; clients depend on it. In a 402 it stands before the colon of `error`. */
type RefusalCode =
  | 'payment_required'
  | 'invalid_payment'
  | 'invalid_signature'
  | 'wrong_scheme'
  | 'wrong_network'
  | 'wrong_asset'
  | 'wrong_recipient'
  | 'wrong_amount'
  | 'not_yet_valid'
  | 'authorization_expired'
  | 'validity_too_long'
  | 'verification_failed'
  | 'settlement_failed';

/** Longer messages are cut, because a message may quote a facilitator. */
export const MAX_REFUSAL_LENGTH = 240;

/** The gate answers this error as a 402 with a fresh challenge. Nothing was charged. The message says what to do. */
export class PaymentRefused extends Error {
  override readonly name = 'PaymentRefused';
  readonly code: RefusalCode;
  /** Content of `PAYMENT-RESPONSE`; null when no settlement was tried. */
  readonly settlement: SettlementNotice | null;

  constructor(code: RefusalCode, message: string, settlement: SettlementNotice | null = null) {
    super(message.slice(0, MAX_REFUSAL_LENGTH));
    this.code = code;
    this.settlement = settlement;
  }
}

/** Reduces a facilitator's reason to one word, because its text is untrusted. */
export function toReasonWord(reason: string): string {
  return reason.replaceAll(/[^A-Za-z0-9_]+/g, '_').slice(0, 60) || 'unknown';
}

/** Content of a `PAYMENT-RESPONSE` header. */
type SettlementNotice = DeliverySettlement & {
  /** Reason of the failure; left out after a success. */
  readonly errorReason?: string;
};

/** Encodes the value of a `PAYMENT-RESPONSE` header. */
export function encodeSettlement(notice: SettlementNotice): string {
  const { network, payer, transaction, errorReason } = notice;
  return encodePaymentResponseHeader({
    success: errorReason === undefined,
    ...(errorReason === undefined ? {} : { errorReason }),
    transaction: transaction ?? '',
    network,
    payer,
  });
}

/** Error for a payer while we do not know if the money has moved. */
export function createUnknownError(
  { authorization: { from, nonce }, requirements: { network } }: StoredPayment,
  transaction: Hex | null,
): SettlementUnknown {
  const notice = { network, payer: from, transaction, errorReason: 'settlement_pending' };
  const headers = transaction === null ? {} : { 'payment-response': encodeSettlement(notice) };
  return new SettlementUnknown({ network, payer: from, nonce, transaction }, headers);
}

/** Error for a payer if the chain has proved that their authorization can never pay us. */
export function createUnpaidError(): PaymentRefused {
  return new PaymentRefused(
    'settlement_failed',
    'your authorization ended without having paid us. Nothing was charged: sign a new one',
  );
}

/** Repeats the error that ended a call, for the calls that waited for it with the same payment header. */
class MirroredError extends ServiceError {}

/**
 * Makes the data of a `released` step. Waiting calls repeat its error, if it has one. `isCounted` is true if the payer
 * caused the end. Only such claims count toward the limits of a payment key and of a payment identifier.
 */
export function toReleaseData(reason: string, error: unknown): JsonObject {
  const data = { reason, isCounted: isCausedByPayer(error) };
  if (error instanceof PaymentRefused) {
    return { ...data, refused: { code: error.code, message: error.message } };
  }
  if (error instanceof ServiceError) {
    const { code, message, retryAfterSec } = error;
    const body = error.body as Readonly<Record<string, JsonValue>>; // every error body is JSON
    return { ...data, error: { code, message, retryAfterSec, body } };
  }
  return data;
}

/** False for our faults and for a 504. */
function isCausedByPayer(error: unknown): boolean {
  if (isDisconnect(error) || error instanceof PaymentRefused) return true;
  return error instanceof ServiceError && error.status < 500;
}

/** Reads the error that ended a call. If there was none, returns null, and the calls that waited start again. */
export function readReleaseError({ data }: LedgerRow): ServiceError | PaymentRefused | null {
  // Only `toReleaseData` writes this document, and the store keeps it unchanged.
  const { refused, error } = data as {
    refused?: { code: RefusalCode; message: string };
    error?: {
      code: ErrorCode;
      message: string;
      retryAfterSec: number | null;
      body: Readonly<Record<string, unknown>>;
    };
  };
  if (refused) return new PaymentRefused(refused.code, refused.message);
  if (error === undefined || !(error.code in ERROR_CODES)) return null; // a code of another release
  const { code, message, retryAfterSec, body } = error;
  return new MirroredError(code, message, {
    body,
    ...(retryAfterSec === null ? {} : { retryAfterSec }),
  });
}
