/** Status and meaning of each code. Codes are stable, because clients key on them. */
export const ERROR_CODES = {
  invalid_url: { status: 400, meaning: 'The URL or host is not one that can be scanned.' },
  invalid_request: { status: 400, meaning: 'The body does not have the form of the schema.' },
  invalid_json: { status: 400, meaning: 'The body is not JSON, or holds a forbidden key.' },
  invalid_parameter: { status: 400, meaning: 'A query parameter is missing or out of range.' },
  invalid_query: { status: 400, meaning: 'A query parameter is repeated or bracketed.' },
  invalid_http: { status: 400, meaning: 'This is not a well-formed HTTP request.' },
  invalid_path: { status: 400, meaning: 'The path cannot be decoded.' },
  invalid_payment_identifier: { status: 400, meaning: 'The payment identifier is malformed.' },
  not_verified: {
    status: 403,
    meaning: 'The caller has not proved control of the host, or not recently.',
  },
  not_your_proof: { status: 403, meaning: 'Another client proved control recently.' },
  not_your_watch: { status: 403, meaning: 'No watch of this host has this secret.' },
  forbidden: { status: 403, meaning: 'This address may not read this path.' },
  not_found: { status: 404, meaning: 'There is nothing at this path.' },
  no_fresh_report: { status: 404, meaning: 'No result fresher than 24 hours exists.' },
  unknown_project: { status: 404, meaning: 'The host is not in the directory.' },
  method_not_allowed: { status: 405, meaning: 'The path exists, but not for this method.' },
  payment_conflict: { status: 409, meaning: 'This payment was used for another request.' },
  too_many_watches: { status: 409, meaning: 'The limit of watches is reached.' },
  not_agreed: { status: 409, meaning: 'The receiver has not agreed to the watch.' },
  answer_expired: {
    status: 410,
    meaning: 'This payment was answered, and the answer has been deleted.',
  },
  answer_private: {
    status: 410,
    meaning: 'This payment was answered; only its identifier opens the answer now.',
  },
  body_too_large: { status: 413, meaning: 'The body is over the limit.' },
  unsupported_media_type: { status: 415, meaning: 'The body is not application/json.' },
  rate_limited: { status: 429, meaning: 'Too many requests in this minute.' },
  challenge_limit: { status: 429, meaning: 'Too many live verification challenges.' },
  confirm_limit: { status: 429, meaning: 'Too many failed confirms or challenge fetches.' },
  unpaid_scans: { status: 429, meaning: 'This payer left too many finished scans unpaid.' },
  too_many_open: {
    status: 429,
    meaning: 'This payer, or this client, has too many unfinished calls.',
  },
  too_many_tries: {
    status: 429,
    meaning: 'This payment, or this payment identifier, was tried too often.',
  },
  internal_error: { status: 500, meaning: 'The service failed.' },
  scanner_failed: { status: 503, meaning: 'The scanner failed; the origin is not to blame.' },
  saturated: { status: 503, meaning: 'The service has too much work.' },
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
  /** Sent as `Retry-After`. */
  readonly retryAfterSec?: number;
  /** The limit that a 429 enforces; sent as `RateLimit-Limit`. */
  readonly limit?: number;
  /** Extra members of the response body. */
  readonly body?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly charged?: Charged;
};

/** True if the request's payment was charged, false if not, null while that is unknown. */
type Charged = boolean | null;

/** Subclasses have a stable code and status; the message says what happened and what to do. */
export abstract class ServiceError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly retryAfterSec: number | null;
  readonly limit: number | null;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined if the throwing code knows nothing about payments. */
  readonly charged: Charged | undefined;

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.name = new.target.name;
    this.code = code;
    this.status = ERROR_CODES[code].status;
    this.retryAfterSec = options.retryAfterSec ?? null;
    this.limit = options.limit ?? null;
    this.body = options.body ?? {};
    this.headers = options.headers ?? {};
    this.charged = options.charged;
  }
}

/** Wraps any error of a paid call together with the state of its payment. */
export class PaidCallFailed extends Error {
  override readonly name = 'PaidCallFailed';
  readonly charged: Charged;

  constructor(cause: unknown, charged: Charged) {
    super('a paid call failed', { cause });
    this.charged = charged;
  }
}
