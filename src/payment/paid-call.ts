import type { PaymentHeaders } from './decode-payment.ts';
import type { PaidRequest } from './paid-route.ts';

/** One request for a paid route, whatever framework it came in by. */
export interface PaidCall {
  readonly headers: PaymentHeaders;
  readonly request: PaidRequest;
  /** When it is answered 504, unless its payment is being settled: `performance.now()` of then. */
  readonly deadlineMs: number;
  /** Aborted when the client has gone before its answer was written. */
  readonly gone: AbortSignal;
}

export interface PaidAnswer {
  readonly status: 200 | 402;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | AsyncIterable<Uint8Array>;
  /** To be called when the last byte was handed to the client's connection. */
  written(): void;
}

/** The client hung up: nobody is left to be answered. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}
