import type { Limits } from './limits.ts';

/** Counts what one scan has taken, over all origins that its redirects lead to. */
export class ScanBudget {
  requests = 0;
  bytes = 0;
  sockets = 0;
  /** The longest chain of requests each of which waited for an answer to the one before. */
  roundTrips = 0;
  readonly #limits: Limits;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  get mayRequest(): boolean {
    return this.requests < this.#limits.maxRequests && this.bytes < this.#limits.maxBytes;
  }

  /** False once the bytes are used up. */
  take(bytes: number): boolean {
    this.bytes += bytes;
    return this.bytes <= this.#limits.maxBytes;
  }
}
