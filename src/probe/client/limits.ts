/** What one scan may take from an origin, and how long an origin may take. */
export type Limits = {
  /** Requests tried, those sent again and redirects included. */
  readonly maxRequests: number;
  /** Header and body bytes received, before decompression. */
  readonly maxBytes: number;
  readonly socketsPerOrigin: number;
  /** Requests on one connection that wait for their answers at once; 1 switches it off. */
  readonly pipelining: number;
  /** From being next in line on a connection (opening it included) to the end of the answer. */
  readonly requestTimeoutMs: number;
  /** How long the answer at the head of a connection may hold up those behind it. */
  readonly stallMs: number;
  /** Per address, while the host has others left to try. */
  readonly dialTimeoutMs: number;
  readonly maxHeaders: number;
  readonly maxHeaderBytes: number;
  /** 1xx responses before the final one. */
  readonly maxInterimResponses: number;
  readonly maxRedirects: number;
  /** A longer `Retry-After` is not waited for. */
  readonly maxRetryAfterMs: number;
  /** After so many 429 answers that no waiting cured, the origin is left alone. */
  readonly maxRateLimited: number;
};

export const DEFAULT_LIMITS: Limits = {
  maxRequests: 60,
  maxBytes: 16 * 1_048_576,
  socketsPerOrigin: 4,
  pipelining: 10,
  requestTimeoutMs: 10_000,
  stallMs: 2_000,
  dialTimeoutMs: 2_500,
  maxHeaders: 128,
  maxHeaderBytes: 65_536,
  maxInterimResponses: 8,
  maxRedirects: 5,
  maxRetryAfterMs: 5_000,
  maxRateLimited: 5,
};
