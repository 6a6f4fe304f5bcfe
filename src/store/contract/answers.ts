/** A paid answer is served again for this long after the last settlement that names it. */
export const ANSWER_LIFETIME_MS = 24 * 3_600_000;

/** Bodies are stored and read in pieces of at most this size. */
export const ANSWER_CHUNK_BYTES = 1024 * 1024;

export type AnswerHead = {
  readonly status: number;
  /** Names as they will be sent; the values byte for byte. */
  readonly headers: Readonly<Record<string, string>>;
};

export type StoredAnswer = AnswerHead & {
  readonly answerId: string;
  readonly bodyBytes: number;
  /** Lower-case hex SHA-256 of the body. */
  readonly bodySha256: string;
  readonly storedAtMs: number;
  /** The body in pieces of at most 1 MiB; may be called again. Rejects `corrupt` if a piece is gone. */
  body(): AsyncIterable<Uint8Array>;
};

/**
 * Answers that were paid for, or are about to be, byte for byte. The manifest is written last, and readers
 * ignore an answer without one.
 *
 * An answer is purged 24 h after the last of its keys was settled, or after one hour when no unfinished or
 * settled ledger key names it (by `answerId`).
 */
export type AnswerStore = {
  /**
   * Stores a whole answer durably; pieces of any size are rechunked. `answerId` must be fresh (random):
   * `conflict` otherwise. When `body` throws, nothing is stored and the error is passed on.
   * `reportOf` is the scan whose stored report the body repeats. The report is stored once, for as long as
   * an answer refers to it; the body is stored whole when the report was purged.
   */
  put(
    answerId: string,
    head: AnswerHead,
    body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    reportOf?: string,
  ): Promise<{ readonly bodyBytes: number; readonly bodySha256: string }>;

  /** Returns null when the answer was never complete, or was purged. */
  get(answerId: string): Promise<StoredAnswer | null>;
};
