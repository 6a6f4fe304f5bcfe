/**
 * `plugins/error-answers.ts` turns these errors into answers. Nobody is ever charged for an error. `charged` reports the
 * state of the request's payment. A 402 is not an error but the challenge of the payment gate.
 */
import { ServiceError } from './error-codes.ts';

export class InvalidUrl extends ServiceError {
  /** `reason` is a stable name. */
  constructor(message: string, reason: string) {
    super('invalid_url', message, { body: { reason } });
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

/** `accepted` is the description in the parameter's schema; empty if the parameter is missing. */
export class RejectedParameter extends ServiceError {
  constructor(name: string, accepted: string) {
    const problem = accepted === '' ? 'is missing' : `is not accepted: ${accepted}`;
    super('invalid_parameter', `The query parameter "${name}" ${problem}`.replace(/\.?$/, '.'));
  }
}

export class InvalidQuery extends ServiceError {
  constructor(problem: string) {
    super('invalid_query', `${problem} Give every query parameter once, by its plain name.`);
  }
}

export class InvalidHost extends ServiceError {
  constructor() {
    super('invalid_http', 'A request names its host once. Send one Host header.');
  }
}

export class InvalidPath extends ServiceError {
  constructor() {
    super('invalid_path', 'The path cannot be decoded. Percent-encode it as RFC 3986 says.');
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

/** Thrown within an hour after a confirm, if the caller did not start the confirmed token. */
export class NotYourProof extends ServiceError {
  constructor(message: string) {
    super('not_your_proof', message);
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
  constructor(origin: { readonly url: string }) {
    super(
      'no_fresh_report',
      `No result for ${origin.url} is fresher than 24 hours. POST /v1/scan with {"url":"${origin.url}"} makes one.`,
      { body: { scan: { method: 'POST', path: '/v1/scan' } } },
    );
  }
}

export class UnknownProject extends ServiceError {
  constructor(host: string) {
    super(
      'unknown_project',
      `${host} is not in the directory: it was never scanned, or its owner opted out. GET /v1/directory lists the hosts.`,
    );
  }
}

export class MethodNotAllowed extends ServiceError {
  constructor(allowed: readonly string[]) {
    const allow = allowed.join(', ');
    super('method_not_allowed', `This path accepts only ${allow}.`, { headers: { allow } });
  }
}

export class PaymentConflict extends ServiceError {
  /** `field` names what differs from the request that the payment was first used for. */
  constructor(field: string, message: string) {
    super('payment_conflict', message, { body: { field } });
  }
}

export class AnswerExpired extends ServiceError {
  /** `isOwn` is true if this payment bought the answer, false if another payment with its identifier did. */
  constructor(isOwn: boolean) {
    const message = isOwn
      ? 'This payment was settled and answered, and the answer was deleted after 24 hours. Sign a new payment for a new answer.'
      : 'The answer that was bought with this payment identifier was deleted after 24 hours. This payment was not charged: send it with a new identifier for a new answer.';
    super('answer_expired', message, { charged: isOwn });
  }
}

export class AnswerPrivate extends ServiceError {
  constructor() {
    super(
      'answer_private',
      'This payment was settled and its answer was delivered over ten minutes ago. Its header is public on the chain by now, so the answer opens only to the payment-identifier that was sent with it: send that too, or sign a new payment for a new answer.',
      { charged: true },
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
    super(
      'unsupported_media_type',
      'Send the body as plain JSON, with Content-Type: application/json and no Content-Encoding.',
    );
  }
}

export class RateLimited extends ServiceError {
  constructor(limit: number, retryAfterSec: number) {
    super(
      'rate_limited',
      `You sent more than ${limit} requests in a minute. Wait ${retryAfterSec} s, as Retry-After says.`,
      { retryAfterSec, limit },
    );
  }
}

export class OwnershipTokenLimit extends ServiceError {
  constructor(host: string, limit: number, retryAfterSec: number) {
    super(
      'challenge_limit',
      `You started too many verifications for ${host}. Serve the newest token, or wait for Retry-After.`,
      { retryAfterSec, limit },
    );
  }
}

export class ConfirmLimit extends ServiceError {
  constructor(host: string, limit: number, retryAfterSec: number) {
    super(
      'confirm_limit',
      `Too many failed confirms for ${host} within an hour. Check the file, and wait as Retry-After says. Or confirm with the listingKey of your token: its failures are counted apart.`,
      { retryAfterSec, limit },
    );
  }
}

export class UnpaidScans extends ServiceError {
  constructor(limit: number, retryAfterSec: number) {
    super(
      'unpaid_scans',
      'You left several finished scans unpaid. Pay for one of them, or wait as Retry-After says.',
      { retryAfterSec, limit },
    );
  }
}

export class TooManyOpen extends ServiceError {
  constructor(retryAfterSec: number) {
    super(
      'too_many_open',
      'This payer or network has too many unfinished calls. This one did not start, and nothing was charged. Try again after Retry-After.',
      { retryAfterSec },
    );
  }
}

export class TooManyTries extends ServiceError {
  /** `charged` is the state of the attempted payment. */
  constructor(message: string, retryAfterSec: number, charged: boolean) {
    super('too_many_tries', message, { retryAfterSec, charged });
  }
}

export class InternalError extends ServiceError {
  constructor(cause: unknown) {
    super('internal_error', 'This is our fault, and it is logged. Try again later.', { cause });
  }
}

export class ScannerFailed extends ServiceError {
  constructor(cause: unknown, body: Readonly<Record<string, unknown>> = {}) {
    super('scanner_failed', 'The scanner failed. The origin is not at fault. Try again.', {
      cause,
      retryAfterSec: 10,
      body,
    });
  }
}

export class Saturated extends ServiceError {
  constructor(retryAfterSec = 10) {
    super('saturated', 'The service has too much work. Wait for Retry-After.', { retryAfterSec });
  }
}

export class StoreUnavailable extends ServiceError {
  constructor(cause: unknown, body: Readonly<Record<string, unknown>> = {}) {
    super(
      'store_unavailable',
      'The database does not answer. Send the same request again later; you will not be charged twice.',
      { cause, retryAfterSec: 10, body },
    );
  }
}

export class PaymentsUnavailable extends ServiceError {
  constructor(cause?: unknown) {
    super(
      'payments_unavailable',
      'The service cannot take payments now. Send the same request again after Retry-After; you will not be charged twice. Free routes still answer.',
      { cause, retryAfterSec: 30 },
    );
  }
}

/** Identifies a payment whose settlement is still looked up. */
type UnsettledPayment = {
  readonly network: string;
  readonly payer: string;
  readonly nonce: string;
  readonly transaction: string | null;
};

export class SettlementUnknown extends ServiceError {
  /** `headers` repeat the settlement as far as it is known. */
  constructor(payment: UnsettledPayment, headers: Readonly<Record<string, string>>) {
    super(
      'settlement_unknown',
      'Your payment was sent for settlement and its outcome is not known yet. Send the same request again after Retry-After, with the same payment header or a new one; you will not be charged twice.',
      { retryAfterSec: 10, body: { payment }, headers, charged: null },
    );
  }
}

export class ScanProcessing extends ServiceError {
  constructor(retryAfterSec = 10) {
    super(
      'scan_processing',
      'The scan is still running and goes on. Send the same request again after Retry-After, with the same payment header or a new one: it is answered from this scan, and you will not be charged twice.',
      { retryAfterSec, body: { status: 'processing', retryAfterSec } },
    );
  }
}
