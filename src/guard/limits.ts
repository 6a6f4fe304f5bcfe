/** What one scan may take from an origin, and how long an origin may take. */
export type Limits = {
  /** Requests tried, those sent again and redirects included. */
  readonly maxRequests: number;
  /** Connections begun; servers that close after each answer need one a request. */
  readonly maxConnections: number;
  /** Bytes off the sockets: handshakes, records, framing and all. */
  readonly maxBytes: number;
  /** Of one answer on the wire, beyond four times its cap. */
  readonly answerOverheadBytes: number;
  /** Pieces of a body as the parser hands them over. */
  readonly maxBodyPieces: number;
  /** So many pieces may be as small as they like; more must hold 4 bytes on average. */
  readonly smallBodyPieces: number;
  /** From the server before a TLS handshake ends; real chains have 3 to 8 KiB. */
  readonly maxHandshakeBytes: number;
  /** Processor time of one handshake, in milliseconds. */
  readonly maxHandshakeMs: number;
  /** Processor time of all handshakes of a scan, and of all TLS records after them. */
  readonly maxTlsMs: number;
  readonly socketsPerOrigin: number;
  /** From having a connection (opening it included) to the end of the answer. */
  readonly requestTimeoutMs: number;
  /** Until a further connection is given up, where others of the origin stand. */
  readonly connectTimeoutMs: number;
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

/** An answer takes at most so many times its cap on the wire: chunks of two bytes take 3.5. */
const ANSWER_WIRE_FACTOR = 4;

/** Bytes off the wire for so many bytes of bodies, heads and framing and all. */
export function maxAnswerBytes(
  bodyBytes: number,
  { answerOverheadBytes }: Pick<Limits, 'answerOverheadBytes'>,
): number {
  return ANSWER_WIRE_FACTOR * bodyBytes + answerOverheadBytes;
}

/** What small pieces of a body must hold on average. */
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
