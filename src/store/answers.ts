import { createHash } from 'node:crypto';
import type { StoreContext } from './context.ts';
import { StoreError } from './errors.ts';
import { findReferableReport, findReport } from './results.ts';
import {
  cutIntoPieces,
  headersFromJson,
  packAgainst,
  toStoredJson,
  unpackAgainst,
} from './stored-values.ts';
import type { Row } from './tables.ts';

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

/** Up to this size a body is stored in the row of its answer: one insert, which waits for the disk once. */
const MAX_INLINE_BYTES = 64 * 1024;

/** Readers ignore an answer whose manifest is not written. */
const INCOMPLETE = {
  status: null,
  headers: null,
  bodyBytes: null,
  bodySha256: null,
  storedBytes: null,
  storedAtMs: null,
  bytes: null,
};

/**
 * Answers that were paid for, or are about to be, byte for byte. The manifest is written last, and readers
 * ignore an answer without one.
 *
 * An answer is purged 24 h after the last of its keys was settled, or after one hour when no unfinished or
 * settled ledger key names it (by `answerId`).
 */
export type AnswerStore = ReturnType<typeof answersOn>;

export function answersOn(context: StoreContext) {
  const { tables, now } = context;
  return {
    /**
     * Stores a whole answer, which the next durable row makes durable; pieces of any size are rechunked. `answerId` must be
     * fresh (random): `conflict` otherwise. When `body` throws, nothing is stored and the error is passed on.
     * `reportOf` is the scan whose stored report the body repeats. The report is stored once, for as long as
     * an answer refers to it; the body is stored whole when the report was purged.
     */
    async put(
      answerId: string,
      head: AnswerHead,
      body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
      scanId?: string,
    ): Promise<{ readonly bodyBytes: number; readonly bodySha256: string }> {
      const headers = toStoredJson({ ...head.headers }, 'the headers of an answer');
      const report = scanId === undefined ? null : await findReferableReport(context, scanId);
      const reportOf = report && (scanId ?? null);
      const row = { ...INCOMPLETE, answerId, startedAtMs: now(), reportOf };
      const sha256 = createHash('sha256');
      let bodyBytes = 0;
      async function* measured(): AsyncGenerator<Uint8Array> {
        for await (const piece of body) {
          sha256.update(piece);
          bodyBytes += piece.length;
          yield piece;
        }
      }
      const content = report === null ? measured() : packAgainst(report, measured());
      const pieces = cutIntoPieces(content);
      const first = await pieces.next();
      const bytes = first.done ? new Uint8Array(0) : first.value;
      const complete = (storedBytes: number) => ({
        status: head.status,
        headers,
        bodyBytes,
        bodySha256: sha256.digest('hex'),
        storedBytes,
        storedAtMs: now(),
      });
      // Only the last piece is shorter than the others.
      if (bytes.length <= MAX_INLINE_BYTES) {
        const manifest = complete(bytes.length);
        await insertNew(context, { ...row, ...manifest, bytes });
        return { bodyBytes, bodySha256: manifest.bodySha256 };
      }
      await insertNew(context, row);
      try {
        // The manifest is written last, so that readers never see an incomplete answer.
        const manifest = complete(await insertChunks(context, answerId, bytes, pieces));
        await tables.answers.set({ answerId }, manifest);
        return { bodyBytes, bodySha256: manifest.bodySha256 };
      } catch (cause) {
        await dropQuietly(context, answerId);
        throw cause;
      }
    },

    /** Returns null when the answer was never complete, or was purged. */
    async get(answerId: string): Promise<StoredAnswer | null> {
      const row = await tables.answers.get(answerId);
      if (row === null) return null;
      const { status, headers, bodyBytes, bodySha256, storedAtMs } = row;
      if (status === null || headers === null || bodyBytes === null) return null;
      if (bodySha256 === null || storedAtMs === null) return null;
      return {
        answerId,
        status,
        headers: headersFromJson(headers),
        bodyBytes,
        bodySha256,
        storedAtMs,
        body: () => readBody(context, answerId, bodySha256),
      };
    },
  };
}

async function insertNew({ tables }: StoreContext, row: Row<'answers'>): Promise<void> {
  if (await tables.answers.insert(row)) return;
  const message = `the answer id ${row.answerId} is in use; take a new random one`;
  throw new StoreError('conflict', message);
}

/** Resolves to the bytes of all pieces. */
async function insertChunks(
  { tables }: StoreContext,
  answerId: string,
  first: Uint8Array,
  others: AsyncIterable<Uint8Array>,
): Promise<number> {
  await tables.answerChunks.insert({ answerId, n: 0, bytes: first });
  let storedBytes = first.length;
  let n = 1;
  for await (const bytes of others) {
    await tables.answerChunks.insert({ answerId, n, bytes });
    storedBytes += bytes.length;
    n += 1;
  }
  return storedBytes;
}

/** Ignores errors: the purge removes the rest later, and the caller reports the first error. */
async function dropQuietly({ tables }: StoreContext, answerId: string): Promise<void> {
  try {
    await tables.answerChunks.remove({ answerId });
    await tables.answers.remove({ answerId });
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
  }
}

async function* readBody(
  context: StoreContext,
  answerId: string,
  bodySha256: string,
): AsyncGenerator<Uint8Array> {
  const row = await context.tables.answers.get(answerId);
  if (row === null) throw new StoreError('corrupt', `the answer ${answerId} is gone (purged?)`);
  const content = keptBytes(context, row);
  if (row.reportOf === null) return yield* content;
  const report = await findReport(context, row.reportOf);
  if (report === null) {
    throw new StoreError('corrupt', `the report ${row.reportOf} of an answer is gone (purged?)`);
  }
  yield* unpackAgainst(report, content, bodySha256);
}

async function* keptBytes(
  { tables }: StoreContext,
  { answerId, bytes, storedBytes }: Row<'answers'>,
): AsyncGenerator<Uint8Array> {
  if (bytes !== null) {
    if (bytes.length > 0) yield bytes;
    return;
  }
  let leftBytes = storedBytes ?? 0;
  for (let n = 0; leftBytes > 0; n += 1) {
    const chunk = await tables.answerChunks.get(answerId, n);
    if (chunk === null) {
      throw new StoreError('corrupt', `piece ${n} of the answer ${answerId} is gone (purged?)`);
    }
    leftBytes -= chunk.bytes.length;
    yield chunk.bytes;
  }
}
