import { ServiceError } from '../errors/error-codes.ts';

/** Answers a wrong secret and a missing watch alike. */
export class NotYourWatch extends ServiceError {
  constructor(host: string) {
    super(
      'not_your_watch',
      `No watch of ${host} has this secret. POST /v1/watch gives the owner a new secret, and replaces the watch.`,
    );
  }
}

export class TooManyWatches extends ServiceError {
  /** `limit` is like "5 hosts of example.com are watched". */
  constructor(limit: string) {
    super(
      'too_many_watches',
      `${limit}, and that is the limit. End one with POST /v1/watch/stop, or give another webhook.`,
    );
  }
}

export class WatchJustReplaced extends ServiceError {
  constructor(host: string, limit: number, waitMs: number) {
    super(
      'rate_limited',
      `The watch of ${host} was replaced within the last ten minutes. Use the secret of the last answer, or wait as Retry-After says and replace the watch again.`,
      { limit, retryAfterSec: Math.max(1, Math.ceil(waitMs / 1_000)) },
    );
  }
}

export class NotAgreed extends ServiceError {
  /** @param isOver true if the watch has ended; false if its receiver has not agreed yet */
  constructor(isOver: boolean) {
    super(
      'not_agreed',
      isOver
        ? 'The watch is over, and nothing is sent any more. POST /v1/watch starts a new one.'
        : 'The receiver has not agreed yet. It agrees by answering the event watch.started with 200 and {"challenge":"…"}, the data.challenge of that event.',
    );
  }
}
