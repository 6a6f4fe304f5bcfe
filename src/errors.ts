/**
 * Every error that the API answers: its code, its status and its message. Codes are stable: clients
 * key on them. `plugins/errors.ts` turns these into answers; nothing is ever charged for one.
 * A 402 is no error but a challenge, and belongs to the payment gate.
 */

export const ERROR_CODES = {
  invalid_url: { status: 400, meaning: 'The URL or host is not one that can be scanned.' },
  invalid_request: { status: 400, meaning: 'The body does not have the form of the schema.' },
  invalid_json: { status: 400, meaning: 'The body is not JSON, or holds a forbidden key.' },
  invalid_parameter: { status: 400, meaning: 'A query parameter is missing or out of range.' },
  invalid_query: { status: 400, meaning: 'A query parameter is repeated or bracketed.' },
  invalid_path: { status: 400, meaning: 'The path cannot be decoded.' },
  invalid_payment: { status: 400, meaning: 'The payment header cannot be read.' },
  invalid_payment_identifier: { status: 400, meaning: 'The payment identifier is malformed.' },
  not_verified: { status: 403, meaning: 'Control of the host is not proved, or not recently.' },
  forbidden: { status: 403, meaning: 'This address may not read this.' },
  not_found: { status: 404, meaning: 'There is nothing at this path.' },
  no_fresh_report: { status: 404, meaning: 'No result fresher than 24 hours exists.' },
  unknown_project: { status: 404, meaning: 'The host is not in the directory.' },
  method_not_allowed: { status: 405, meaning: 'The path exists, but not for this method.' },
  payment_conflict: { status: 409, meaning: 'This payment was used for another request.' },
  answer_expired: { status: 410, meaning: 'This payment was answered; the answer is gone.' },
  body_too_large: { status: 413, meaning: 'The body is over the limit.' },
  unsupported_media_type: { status: 415, meaning: 'The body is not application/json.' },
  rate_limited: { status: 429, meaning: 'Too many requests in this minute.' },
  challenge_limit: { status: 429, meaning: 'Too many live verification challenges.' },
  confirm_limit: { status: 429, meaning: 'Too many failed confirms or challenge fetches.' },
  unpaid_scans: { status: 429, meaning: 'This payer left too many finished scans unpaid.' },
  internal_error: { status: 500, meaning: 'A fault of ours.' },
  scanner_failed: { status: 503, meaning: 'The scanner failed; the origin is not to blame.' },
  saturated: { status: 503, meaning: 'Too much work at once.' },
  store_unavailable: { status: 503, meaning: 'The database does not answer.' },
  payments_unavailable: { status: 503, meaning: 'Payments cannot be verified now.' },
  settlement_unknown: {
    status: 503,
    meaning: 'A settlement was sent; its outcome is not known yet.',
  },
  scan_processing: { status: 504, meaning: 'The scan is still running.' },
} as const satisfies Record<string, { readonly status: number; readonly meaning: string }>;

export type ErrorCode = keyof typeof ERROR_CODES;

type ErrorOptions = {
  readonly cause?: unknown;
  /** Answered as `Retry-After`. */
  readonly retryAfterSec?: number;
  /** Further members of the body. */
  readonly body?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
};

/** What happened and what to do about it, with a stable code and its status. */
export abstract class ServiceError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly retryAfterSec: number | null;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.name = new.target.name;
    this.code = code;
    this.status = ERROR_CODES[code].status;
    this.retryAfterSec = options.retryAfterSec ?? null;
    this.body = options.body ?? {};
    this.headers = options.headers ?? {};
  }
}

export class InvalidRequest extends ServiceError {
  constructor(message: string) {
    super('invalid_request', message);
  }
}

export class InvalidJson extends ServiceError {
  constructor(message: string) {
    super(
      'invalid_json',
      `${message} Send a JSON object such as {"url":"https://api.example.com"}.`,
    );
  }
}

export class InvalidParameter extends ServiceError {
  constructor(name: string, accepted: string) {
    super('invalid_parameter', `The query parameter "${name}" must be ${accepted}.`);
  }
}

export class InvalidQuery extends ServiceError {
  constructor(problem: string) {
    super('invalid_query', `${problem} Give every query parameter once, by its plain name.`);
  }
}

export class InvalidPath extends ServiceError {
  constructor() {
    super('invalid_path', 'The path cannot be decoded. Percent-encode it as RFC 3986 says.');
  }
}

export class InvalidPayment extends ServiceError {
  constructor(message: string) {
    super('invalid_payment', message);
  }
}

export class InvalidPaymentIdentifier extends ServiceError {
  constructor() {
    super(
      'invalid_payment_identifier',
      'The payment identifier is malformed: give 16 to 128 characters of A-Z, a-z, 0-9, "_" and "-".',
    );
  }
}

export class NotVerified extends ServiceError {
  constructor(message: string) {
    super('not_verified', message);
  }
}

export class Forbidden extends ServiceError {
  constructor(message: string) {
    super('forbidden', message);
  }
}

export class NotFound extends ServiceError {
  constructor() {
    super('not_found', 'There is nothing at this path. GET /discovery lists what there is.');
  }
}

export class NoFreshReport extends ServiceError {
  constructor(host: string) {
    super(
      'no_fresh_report',
      `No result for ${host} is fresher than 24 hours. POST /v1/scan with {"url":"https://${host}"} makes one.`,
      { body: { scan: { method: 'POST', path: '/v1/scan' } } },
    );
  }
}

export class UnknownProject extends ServiceError {
  constructor(host: string) {
    super(
      'unknown_project',
      `${host} is not in the directory: it was never scanned, or its owner opted out. GET /v1/directory lists what is.`,
    );
  }
}

export class MethodNotAllowed extends ServiceError {
  constructor(allowed: readonly string[]) {
    const allow = allowed.join(', ');
    super('method_not_allowed', `This path takes ${allow} only.`, { headers: { allow } });
  }
}

export class PaymentConflict extends ServiceError {
  /** `field` is what differs from the request that the payment was used for. */
  constructor(field: string, message: string) {
    super('payment_conflict', message, { body: { field } });
  }
}

export class AnswerExpired extends ServiceError {
  constructor() {
    super(
      'answer_expired',
      'This payment was settled and answered, and the answer was purged after 24 hours. Sign a new payment for a new answer.',
    );
  }
}

export class BodyTooLarge extends ServiceError {
  constructor(limitBytes: number) {
    super(
      'body_too_large',
      `The body is over ${limitBytes} bytes. Send the documented members only.`,
    );
  }
}

export class UnsupportedMediaType extends ServiceError {
  constructor() {
    super('unsupported_media_type', 'Send the body as JSON, with Content-Type: application/json.');
  }
}

export class RateLimited extends ServiceError {
  constructor(limit: number, retryAfterSec: number) {
    super(
      'rate_limited',
      `More than ${limit} requests in a minute. Wait ${retryAfterSec} s, as Retry-After says.`,
      { retryAfterSec },
    );
  }
}

export class ChallengeLimit extends ServiceError {
  constructor(host: string, retryAfterSec: number) {
    super(
      'challenge_limit',
      `Too many live challenges for ${host} were issued to you. Serve the last one, or wait as Retry-After says.`,
      { retryAfterSec },
    );
  }
}

export class ConfirmLimit extends ServiceError {
  constructor(message: string, retryAfterSec: number) {
    super('confirm_limit', message, { retryAfterSec });
  }
}

export class UnpaidScans extends ServiceError {
  constructor(retryAfterSec: number) {
    super(
      'unpaid_scans',
      'Several finished scans that you asked for were left unpaid. Pay for one of them, or wait as Retry-After says.',
      { retryAfterSec },
    );
  }
}

export class InternalError extends ServiceError {
  constructor(cause: unknown) {
    super(
      'internal_error',
      'A fault of ours; it is logged. Nothing was charged: try again later.',
      {
        cause,
      },
    );
  }
}

export class ScannerFailed extends ServiceError {
  constructor(cause: unknown) {
    super(
      'scanner_failed',
      'The scanner failed; the origin is not to blame and nothing was charged. Try again.',
      { cause, retryAfterSec: 10 },
    );
  }
}

export class Saturated extends ServiceError {
  constructor(retryAfterSec = 10) {
    super('saturated', 'Too much work at once. Nothing was charged: wait as Retry-After says.', {
      retryAfterSec,
    });
  }
}

export class StoreUnavailable extends ServiceError {
  constructor(cause: unknown) {
    super(
      'store_unavailable',
      'The database does not answer. Nothing was charged: try again later.',
      {
        cause,
        retryAfterSec: 10,
      },
    );
  }
}

export class PaymentsUnavailable extends ServiceError {
  constructor(cause?: unknown) {
    super(
      'payments_unavailable',
      'Payments cannot be verified now. Nothing was charged: try again later; free routes answer.',
      { cause, retryAfterSec: 30 },
    );
  }
}

/** Where to look for the payment while its settlement is being reconciled. */
export type UnsettledPayment = {
  readonly network: string;
  readonly payer: string;
  readonly nonce: string;
  readonly transaction: string | null;
};

export class SettlementUnknown extends ServiceError {
  constructor(payment: UnsettledPayment) {
    super(
      'settlement_unknown',
      'Your payment was sent for settlement and its outcome is not known yet. Send the same payment header again after Retry-After; do not sign a new one.',
      { retryAfterSec: 10, body: { payment } },
    );
  }
}

export class ScanProcessing extends ServiceError {
  constructor(retryAfterSec = 10) {
    super(
      'scan_processing',
      'The scan is still running and goes on. Nothing was charged: send the request again after Retry-After, and it is answered from the finished scan.',
      { retryAfterSec, body: { status: 'processing', retryAfterSec } },
    );
  }
}
