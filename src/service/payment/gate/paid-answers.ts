import { randomUUID } from 'node:crypto';
import { encodePaymentResponseHeader } from '@x402/core/http';
import type { Hex } from 'viem';
import type { JsonObject, JsonValue } from '../../../scanner/model/json.ts';
import { ERROR_CODES, type ErrorCode, ServiceError } from '../../errors/error-codes.ts';
import { SettlementUnknown } from '../../errors/errors.ts';
import type { AnswerStore } from '../../store/answers.ts';
import type { LedgerRow, LedgerStore } from '../../store/ledger.ts';
import type { StoredPayment } from '../ledger/ledger.ts';
import type { ComputedAnswer, PaidAnswer } from '../paid-route.ts';
import {
  type DeliverySettlement,
  isDisconnect,
  type PaidDelivery,
  type Purchase,
  publishStep,
} from './purchase.ts';

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

type SendOptions = {
  /** The request carried `X-PAYMENT`. */
  readonly hasLegacyHeader: boolean;
  /** False only for the call whose payment was just charged. */
  readonly isRedelivered: boolean;
  /** Called when the last byte was handed to the client's connection. */
  markWritten(): void;
};

export function toPaidAnswer(delivery: PaidDelivery, options: SendOptions): PaidAnswer {
  const settlement = encodeSettlement(delivery.settlement);
  const { body } = delivery;
  const answer: PaidAnswer = {
    status: 200,
    headers: {
      ...delivery.headers,
      'content-length': String(delivery.bodyBytes),
      'cache-control': 'private, no-store',
      'payment-response': settlement,
      ...(options.hasLegacyHeader ? { 'x-payment-response': settlement } : {}),
      ...(options.isRedelivered ? { 'x-redelivered': '1' } : {}),
    },
    body: typeof body === 'string' ? body : body(),
    markWritten: options.markWritten,
  };
  publishStep({ name: 'answer', answer, bodyBytes: delivery.bodyBytes });
  return answer;
}

type StoredDelivery = {
  readonly answerId: string;
  /** Its settlement has no transaction, because the answer is not paid for yet. */
  readonly delivery: PaidDelivery;
};

/** Stores the whole answer. The ledger step `settling` makes the answer durable before the payment is sent. */
export async function storeDelivery(
  answers: AnswerStore,
  { key, payment: { authorization, requirements } }: Purchase,
  computed: ComputedAnswer,
): Promise<StoredDelivery> {
  const { network } = requirements;
  const unpaid = { key, settlement: { network, payer: authorization.from, transaction: null } };
  if ('answerId' in computed) {
    const { answerId } = computed;
    const stored = await answers.get(answerId);
    if (stored === null) throw new Error(`Answer ${answerId} is not stored, or was purged.`);
    const { headers, bodyBytes } = stored;
    return { answerId, delivery: { ...unpaid, headers, bodyBytes, body: () => stored.body() } };
  }
  const { headers, body, reportOf } = computed;
  const answerId = randomUUID();
  const pieces = [Buffer.from(body)];
  const { bodyBytes } = await answers.put(answerId, { status: 200, headers }, pieces, reportOf);
  // The body stays in memory, so that it can be sent even if the store fails after the settlement.
  return { answerId, delivery: { ...unpaid, headers, bodyBytes, body } };
}

/** Repeats the error that ended a call, for the calls that waited for it with the same payment header. */
class MirroredError extends ServiceError {}

/**
 * Makes the data of a `released` step: the error that ended the call (null if none did), and `isCounted`, true if the
 * payer caused the end. The claim then counts against the limits of its key and of its identifier.
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
  if (error === undefined || !(error.code in ERROR_CODES)) return null;
  const { code, message, retryAfterSec, body } = error;
  return new MirroredError(code, message, {
    body,
    ...(retryAfterSec === null ? {} : { retryAfterSec }),
  });
}

/** Records which answers were written to their clients in full: at once in memory, then in the ledger. */
export class WrittenAnswers {
  readonly #ledger: LedgerStore;
  readonly #onError: (message: string, error: unknown) => void;
  readonly #pending = new Map<string, Promise<void>>();

  constructor(ledger: LedgerStore, onError: (message: string, error: unknown) => void) {
    this.#ledger = ledger;
    this.#onError = onError;
  }

  mark(key: string): void {
    if (this.#pending.has(key)) return;
    const marking = this.#ledger
      .markWritten(key)
      .catch((error: unknown) => this.#onError(`${key} counts as not written`, error))
      .finally(() => this.#pending.delete(key));
    this.#pending.set(key, marking);
  }

  /** True if the answer was written and its mark in the ledger may still be missing. */
  isPending(key: string): boolean {
    return this.#pending.has(key);
  }

  /** Waits until all marks are in the ledger, or failed. */
  async flush(): Promise<void> {
    await Promise.all(this.#pending.values());
  }
}
