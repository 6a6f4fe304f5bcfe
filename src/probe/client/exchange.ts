import type { Failure } from '../../guard/failures.ts';
import type { FailureReason, HttpMethod } from '../../model/observation.ts';

/** One request to one origin; its caller follows redirects and decodes the body. */
export type ExchangeRequest = {
  readonly method: HttpMethod;
  /** Path and query in the form of the request line. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly capBytes: number;
  readonly timeoutMs: number;
  /** True when more requests follow its answer; the other connections are then opened beside it. */
  readonly isFirstOfMany?: boolean;
};

export type Answer = {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** At most the first `capBytes` bytes, still encoded. */
  readonly body: Buffer;
  readonly truncated: boolean;
  readonly bodyFailure?: FailureReason;
  readonly firstByteMs: number;
};

export type Outcome =
  | { readonly kind: 'answer'; readonly answer: Answer }
  | { readonly kind: 'failure'; readonly failure: Failure };
