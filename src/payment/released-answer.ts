import { ERROR_CODES, type ErrorCode, ServiceError } from '../errors/codes.ts';
import type { JsonObject, JsonValue } from '../model/json.ts';
import type { LedgerRow } from '../store/contract/ledger.ts';
import { PaymentRefused, type RefusalCode } from './payment-refused.ts';

/** An error that another host answered, for those who waited there with the same header. */
class MirroredError extends ServiceError {}

/** What a `released` step keeps of the error that ended the call. */
export function releasedData(reason: string, error: unknown): JsonObject {
  if (error instanceof PaymentRefused) {
    return { reason, refused: { code: error.code, message: error.message } };
  }
  if (error instanceof ServiceError) {
    const { code, message, retryAfterSec } = error;
    const body = error.body as Readonly<Record<string, JsonValue>>; // answered as JSON, so it is
    return { reason, error: { code, message, retryAfterSec, body } };
  }
  return { reason };
}

/** The error to answer again, or null where the call ended without one: its waiters start anew. */
export function errorOfReleased({ data }: LedgerRow): ServiceError | PaymentRefused | null {
  // `releasedData` is the only writer of this document, and the store keeps it unchanged.
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
