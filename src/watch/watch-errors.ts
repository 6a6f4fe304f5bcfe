import { ServiceError } from '../model/error-codes.ts';

/** One answer for a wrong secret and for no watch at all. */
export class NotYourWatch extends ServiceError {
  constructor(host: string) {
    super(
      'not_your_watch',
      `No watch of ${host} has this secret. POST /v1/watch answers a new one to the owner, and replaces the watch.`,
    );
  }
}

export class TooManyWatches extends ServiceError {
  /** `reached` names the limit: "5 hosts of example.com are watched". */
  constructor(reached: string) {
    super(
      'too_many_watches',
      `${reached}, and that is the limit. End one with POST /v1/watch/stop, or give another webhook.`,
    );
  }
}

export class WatchJustChanged extends ServiceError {
  constructor(host: string, limit: number, waitMs: number) {
    super(
      'rate_limited',
      `The watch of ${host} was replaced within the last ten minutes. The last answer's secret is in force; wait as Retry-After says to replace it again.`,
      { limit, retryAfterSec: Math.max(1, Math.ceil(waitMs / 1_000)) },
    );
  }
}

export class NotAgreed extends ServiceError {
  constructor(isOver: boolean) {
    super(
      'not_agreed',
      isOver
        ? 'The watch is over, and nothing is sent any more. POST /v1/watch starts a new one.'
        : 'The receiver has not agreed yet. It agrees by answering the event watch.started with 200 and {"challenge":"…"}, the data.challenge of that event.',
    );
  }
}
