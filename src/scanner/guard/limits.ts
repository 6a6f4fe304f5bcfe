export const DEFAULT_LIMITS = {
  /** Tries to resolve a name. The service makes only one for requests that strangers cause for free. */
  maxDnsTries: 3,
  /** Number of requests, retries and followed redirects included. */
  maxRequests: 60,
  /** Connections opened. A server that closes after each answer needs one per request. */
  maxConnections: 60,
  /** Bytes received from the sockets, with handshakes, records and framing. */
  maxBytes: 16 * 1_048_576,
  /** Wire bytes that an answer may have beyond `ANSWER_WIRE_FACTOR` times the cap of its body. */
  answerOverheadBytes: 65_536,
  /** Pieces in which the HTTP parser gives us a body. A chunk of the body is at least one piece. */
  maxBodyPieces: 200_000,
  /** A body of more pieces than this must have `MIN_AVERAGE_PIECE_BYTES` on average. */
  smallBodyPieces: 20_000,
  /** Server bytes before a TLS handshake ends; real chains have 3 to 8 KiB. */
  maxHandshakeBytes: 16_384,
  /** Processor milliseconds of one handshake. */
  maxHandshakeMs: 150,
  /** Processor milliseconds of all handshakes of a scan. Its later TLS records have another budget of this size. */
  maxTlsMs: 500,
  socketsPerOrigin: 6,
  /** Milliseconds from getting a connection (opening it included) to the end of the answer. */
  requestTimeoutMs: 10_000,
  /** Milliseconds until an additional connection is given up, if others are open. */
  connectTimeoutMs: 2_000,
  /** Milliseconds for dialling one address, if the host has another address. */
  dialTimeoutMs: 2_500,
  maxHeaders: 128,
  maxHeaderBytes: 65_536,
  /** 1xx responses before the final one. */
  maxInterimResponses: 8,
  maxRedirects: 5,
  /** Milliseconds. A longer `Retry-After` is not waited for. */
  maxRetryAfterMs: 5_000,
  /** The origin gets no more requests after this many 429 answers that waiting did not resolve. */
  maxRateLimited: 5,
};

/** Limits of one scan. */
export type Limits = Readonly<typeof DEFAULT_LIMITS>;

/** Wire bytes allowed per byte of the cap. A chunk of two bytes takes seven wire bytes, so 3.5 per byte. */
const ANSWER_WIRE_FACTOR = 4;

/** Limit of wire bytes for an answer whose body may have `bodyBytes`, with head and framing. */
export function computeMaxAnswerBytes(bodyBytes: number, { answerOverheadBytes }: Limits): number {
  return ANSWER_WIRE_FACTOR * bodyBytes + answerOverheadBytes;
}

/** The smallest average size of a piece, for a body of more than `smallBodyPieces`. */
export const MIN_AVERAGE_PIECE_BYTES = 4;

/** Counts what one scan has used of its limits, over all origins that its redirects lead to. */
export class ScanBudget {
  requests = 0;
  bytes = 0;
  /** Connections that were started, failed ones included. */
  connections = 0;
  /** Connections that were opened. */
  sockets = 0;
  /** Length of the longest sequence of requests that each waited for the previous answer. */
  roundTrips = 0;
  /** Processor time of TLS handshakes, in milliseconds. */
  handshakeMs = 0;
  /** Processor time of TLS records after the handshakes. */
  recordMs = 0;
  readonly #limits: Limits;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  get canRequest(): boolean {
    return this.requests < this.#limits.maxRequests;
  }

  get canReceive(): boolean {
    return this.bytes < this.#limits.maxBytes;
  }

  get canConnect(): boolean {
    const { maxConnections, maxTlsMs } = this.#limits;
    return this.connections < maxConnections && this.handshakeMs < maxTlsMs;
  }

  /** Reason to end the open connections; null while the scan is within its limits. */
  get spentReason(): string | null {
    if (this.bytes > this.#limits.maxBytes) return 'the scan has used up its bytes';
    return this.recordMs > this.#limits.maxTlsMs ? 'the scan has used up its time for TLS' : null;
  }
}
