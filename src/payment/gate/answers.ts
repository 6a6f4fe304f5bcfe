import { randomUUID } from 'node:crypto';
import { encodePaymentResponseHeader } from '@x402/core/http';
import { ERROR_CODES, type ErrorCode, ServiceError } from '../../model/error-codes.ts';
import { AnswerExpired } from '../../model/errors.ts';
import type { JsonObject, JsonValue } from '../../model/json.ts';
import type { AnswerStore, StoredAnswer } from '../../store/answers.ts';
import { ANSWER_LIFETIME_MS } from '../../store/context.ts';
import type { LedgerEntry, LedgerRow, LedgerStore } from '../../store/ledger.ts';
import type { Store } from '../../store/store.ts';
import { findSettledAtMs, findTransaction, isUnproved, readPayment } from '../ledger/ledger.ts';
import type { ComputedAnswer, PaidAnswer } from '../paid-route.ts';
import {
  type DeliverySettlement,
  type PaidDelivery,
  type Purchase,
  type PurchaseOutcome,
  publishStep,
} from './purchase.ts';

/**
 * Reasons of a refusal, stable because clients key on them. A 402 has the code before the colon of
 * `error`.
 */
export type RefusalCode =
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

/** Longest message in a challenge; longer words of a facilitator are cut. */
export const MAX_REFUSAL_LENGTH = 240;

/** Answered as a 402 with a fresh challenge; nothing was charged. The message says what to do. */
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

/** Content of `PAYMENT-RESPONSE`. */
export type SettlementNotice = DeliverySettlement & {
  /** Reason of the failure; left out if it succeeded. */
  readonly errorReason?: string;
};

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

/**
 * Reads the answer that a settled key bought. Throws `AnswerExpired` from 24 hours after its settlement:
 * the age decides, because a purge may be late, or may be spared by other payers of the same answer.
 */
export async function findDelivery(
  stores: Pick<Store, 'answers' | 'now'>,
  entry: LedgerEntry,
  { isOwn }: { readonly isOwn: boolean },
): Promise<PaidDelivery> {
  const { answerId } = entry.last;
  const settledMs = findSettledAtMs(entry) ?? 0;
  const isExpired = stores.now() >= settledMs + ANSWER_LIFETIME_MS;
  const answer = isExpired || answerId === undefined ? null : await stores.answers.get(answerId);
  if (answer === null) throw new AnswerExpired(isOwn);
  const { authorization, requirements } = readPayment(entry);
  return {
    key: entry.key,
    headers: isUnproved(entry) ? { ...answer.headers, 'x-settlement': 'unproved' } : answer.headers,
    bodyBytes: answer.bodyBytes,
    body: () => answer.body(),
    settlement: {
      network: requirements.network,
      payer: authorization.from,
      transaction: findTransaction(entry),
    },
  };
}

export type SendOptions = {
  /** The request carried `X-PAYMENT`. */
  readonly hasLegacyHeader: boolean;
  /** True for every call but the charged one. */
  readonly isRedelivered: boolean;
  markWritten(): void;
};

export function toPaidAnswer(delivery: PaidDelivery, options: SendOptions): PaidAnswer {
  const settlement = encodeSettlement(delivery.settlement);
  const { body } = delivery;
  const whole = typeof body === 'string' ? body : body();
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
    body: whole,
    markWritten: options.markWritten,
  };
  publishStep({ name: 'answer', answer, bodyBytes: delivery.bodyBytes });
  return answer;
}

export type StoredDelivery = {
  readonly answerId: string;
  /** `transaction` is null, because the answer is not paid for yet. */
  readonly delivery: PaidDelivery;
};

/** Stores the whole answer; the step `settling` makes it durable before it is charged. */
export async function storeDelivery(
  answers: AnswerStore,
  purchase: Purchase,
  computed: ComputedAnswer,
): Promise<StoredDelivery> {
  if ('answerId' in computed) {
    const stored = await requireAnswer(answers, computed.answerId);
    return deliveryFrom(purchase, stored);
  }
  const { headers, body, reportOf } = computed;
  const answerId = randomUUID();
  const pieces = typeof body === 'string' ? [Buffer.from(body)] : body;
  const { bodyBytes } = await answers.put(answerId, { status: 200, headers }, pieces, reportOf);
  if (typeof body !== 'string')
    return deliveryFrom(purchase, await requireAnswer(answers, answerId));
  // Kept in memory too, so that it can be sent if the store fails after the settlement.
  return { answerId, delivery: { ...unpaid(purchase), headers, bodyBytes, body } };
}

function deliveryFrom(purchase: Purchase, stored: StoredAnswer): StoredDelivery {
  const { answerId, headers, bodyBytes } = stored;
  return {
    answerId,
    delivery: { ...unpaid(purchase), headers, bodyBytes, body: () => stored.body() },
  };
}

function unpaid({ key, payment, offer }: Purchase): Pick<PaidDelivery, 'key' | 'settlement'> {
  const { network } = offer.requirements;
  return {
    key,
    settlement: { network, payer: payment.authorization.from, transaction: null },
  };
}

async function requireAnswer(answers: AnswerStore, answerId: string): Promise<StoredAnswer> {
  const stored = await answers.get(answerId);
  if (stored === null) throw new Error(`Answer ${answerId} is not stored, or was purged.`);
  return stored;
}

/** An error of another instance, for calls that waited there with the same header. */
class MirroredError extends ServiceError {}

/** Data of a `released` step: the error that ended the call, and whether its payer chose to end it. */
export function toReleaseData(reason: string, outcome: PurchaseOutcome): JsonObject {
  const data = { reason, isCounted: isPayersDoing(outcome) };
  const error = outcome.kind === 'refused' ? outcome.error : null;
  if (error instanceof PaymentRefused) {
    return { ...data, refused: { code: error.code, message: error.message } };
  }
  if (error instanceof ServiceError) {
    const { code, message, retryAfterSec } = error;
    const body = error.body as Readonly<Record<string, JsonValue>>; // answered as JSON, so it is
    return { ...data, error: { code, message, retryAfterSec, body } };
  }
  return data;
}

/** True for ends by the payer, which count against key and identifier: neither our faults nor a 504. */
function isPayersDoing(outcome: PurchaseOutcome): boolean {
  if (outcome.kind === 'disconnected') return true;
  if (outcome.kind !== 'refused') return false;
  const { error } = outcome;
  return error instanceof PaymentRefused || (error instanceof ServiceError && error.status < 500);
}

/** The error to answer again, or null if the call ended without one: its waiters start anew. */
export function readReleaseError({ data }: LedgerRow): ServiceError | PaymentRefused | null {
  // `toReleaseData` is the only writer of this document, and the store keeps it unchanged.
  const stored = data as {
    refused?: { code: RefusalCode; message: string };
    error?: {
      code: ErrorCode;
      message: string;
      retryAfterSec: number | null;
      body: Readonly<Record<string, unknown>>;
    };
  };
  if (stored.refused) return new PaymentRefused(stored.refused.code, stored.refused.message);
  if (stored.error === undefined || !(stored.error.code in ERROR_CODES)) return null;
  const { code, message, retryAfterSec, body } = stored.error;
  return new MirroredError(code, message, {
    body,
    ...(retryAfterSec === null ? {} : { retryAfterSec }),
  });
}

/** Records which answers were written in full: at once in memory, then in the ledger. */
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

  /** Written, and perhaps not yet marked in the ledger. */
  isPending(key: string): boolean {
    return this.#pending.has(key);
  }

  async flush(): Promise<void> {
    await Promise.all(this.#pending.values());
  }
}
