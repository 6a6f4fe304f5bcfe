/** Limits of one scan. */
export type Limits = {
  /** Requests tried, with retries and redirects. */
  readonly maxRequests: number;
  /** Connections opened; servers that close after each answer need one per request. */
  readonly maxConnections: number;
  /** Bytes off the sockets, with handshakes, records and framing. */
  readonly maxBytes: number;
  /** Wire bytes of one answer beyond four times its cap. */
  readonly answerOverheadBytes: number;
  /** Chunks of a body, by the parser's count. */
  readonly maxBodyPieces: number;
  /** Chunks that may have any size; beyond this number they must average 4 bytes. */
  readonly smallBodyPieces: number;
  /** Server bytes before a TLS handshake ends; real chains have 3 to 8 KiB. */
  readonly maxHandshakeBytes: number;
  /** Processor milliseconds of one handshake. */
  readonly maxHandshakeMs: number;
  /** Processor milliseconds of all handshakes of a scan, and of all TLS records after them. */
  readonly maxTlsMs: number;
  readonly socketsPerOrigin: number;
  /** Milliseconds from getting a connection (opening it included) to the end of the answer. */
  readonly requestTimeoutMs: number;
  /** Milliseconds before an additional connection is given up, while others are open. */
  readonly connectTimeoutMs: number;
  /** Milliseconds per address, while the host has other addresses. */
  readonly dialTimeoutMs: number;
  readonly maxHeaders: number;
  readonly maxHeaderBytes: number;
  /** 1xx responses before the final one. */
  readonly maxInterimResponses: number;
  readonly maxRedirects: number;
  /** Milliseconds; a longer `Retry-After` is not waited for. */
  readonly maxRetryAfterMs: number;
  /** The origin gets no more requests after this many 429 answers that waiting did not resolve. */
  readonly maxRateLimited: number;
};

/** Wire bytes per byte of the cap; chunks of two bytes take 3.5. */
const ANSWER_WIRE_FACTOR = 4;

/** Wire bytes allowed for these bodies, with heads and framing. */
export function maxAnswerBytes(
  bodyBytes: number,
  { answerOverheadBytes }: Pick<Limits, 'answerOverheadBytes'>,
): number {
  return ANSWER_WIRE_FACTOR * bodyBytes + answerOverheadBytes;
}

/** Average size that small chunks must have. */
export const SMALL_PIECE_BYTES = 4;

export const DEFAULT_LIMITS: Limits = {
  maxRequests: 60,
  maxConnections: 60,
  maxBytes: 16 * 1_048_576,
  answerOverheadBytes: 65_536,
  maxBodyPieces: 200_000,
  smallBodyPieces: 20_000,
  maxHandshakeBytes: 16_384,
  maxHandshakeMs: 150,
  maxTlsMs: 500,
  socketsPerOrigin: 6,
  requestTimeoutMs: 10_000,
  connectTimeoutMs: 2_000,
  dialTimeoutMs: 2_500,
  maxHeaders: 128,
  maxHeaderBytes: 65_536,
  maxInterimResponses: 8,
  maxRedirects: 5,
  maxRetryAfterMs: 5_000,
  maxRateLimited: 5,
};
