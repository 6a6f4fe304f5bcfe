import { createHash } from 'node:crypto';
import type { StoreContext } from './context.ts';
import { findReferableReport, findReport } from './results.ts';
import { StoreError } from './store-error.ts';
import {
  cutIntoPieces,
  headersFromJson,
  packWithReport,
  toStoredJson,
  unpackWithReport,
} from './stored-values.ts';
import type { Row } from './tables.ts';

type AnswerHead = {
  readonly status: number;
  /** Header names keep their letter case, and values are kept byte for byte. */
  readonly headers: Readonly<Record<string, string>>;
};

type StoredAnswer = AnswerHead & {
  readonly bodyBytes: number;
  /** Lower-case hex SHA-256 of the body. */
  readonly bodySha256: string;
  /** Each call reads the body again, in pieces of at most 1 MiB. Rejects `corrupt` if a piece is missing. */
  body(): AsyncIterable<Uint8Array>;
};

/** A longer body is stored in rows of its own. A shorter body needs only one insert and one wait for the disk. */
const MAX_INLINE_BYTES = 64 * 1024;

/** The columns that are null before the whole body of an answer is stored. */
const NO_MANIFEST = {
  status: null,
  headers: null,
  bodyBytes: null,
  bodySha256: null,
  storedBytes: null,
  storedAtMs: null,
  bytes: null,
};

/**
 * Answers that a payer has bought or is about to buy, stored byte for byte. The manifest is written last, and readers
 * ignore an answer without a manifest.
 *
 * Ledger keys name an answer by `answerId`. The answer is purged 24 h after the last of these keys was settled. An
 * answer is purged after one hour if no unfinished or settled key names it.
 */
export type AnswerStore = ReturnType<typeof createAnswerStore>;

export function createAnswerStore(context: StoreContext) {
  const { tables, now } = context;
  return {
    /**
     * Stores a whole answer, which becomes durable with the next durable row. The body may have pieces of any size.
     * Rejects `conflict` if `answerId` is in use. If `body` throws, nothing is stored and the error is passed on.
     * @param answerId a new random id
     * @param scanId the scan whose stored report the body repeats. The answer then refers to that report, and stores
     *   only the differences. If the report was purged, the body is stored whole.
     */
    async put(
      answerId: string,
      head: AnswerHead,
      body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
      scanId: string | null = null,
    ): Promise<{ readonly bodyBytes: number; readonly bodySha256: string }> {
      const headers = toStoredJson({ ...head.headers }, 'the headers of an answer');
      const report = scanId === null ? null : await findReferableReport(context, scanId);
      const reportOf = report === null ? null : scanId;
      const row = { ...NO_MANIFEST, answerId, startedAtMs: now(), reportOf };
      const sha256 = createHash('sha256');
      let bodyBytes = 0;
      /** Hashes and counts the body while it is read. */
      async function* measure(): AsyncGenerator<Uint8Array> {
        for await (const piece of body) {
          sha256.update(piece);
          bodyBytes += piece.length;
          yield piece;
        }
      }
      const content = report === null ? measure() : packWithReport(report, measure());
      const pieces = cutIntoPieces(content);
      const firstPiece = await pieces.next();
      const bytes = firstPiece.done ? new Uint8Array(0) : firstPiece.value;
      const toManifest = (storedBytes: number) => ({
        status: head.status,
        headers,
        bodyBytes,
        bodySha256: sha256.digest('hex'),
        storedBytes,
        storedAtMs: now(),
      });
      // Only the last piece is shorter than `ANSWER_CHUNK_BYTES`, so a short first piece is the whole body.
      if (bytes.length <= MAX_INLINE_BYTES) {
        const manifest = toManifest(bytes.length);
        await insertAnswer(context, { ...row, ...manifest, bytes });
        return { bodyBytes, bodySha256: manifest.bodySha256 };
      }
      await insertAnswer(context, row);
      try {
        const manifest = toManifest(await insertChunks(context, answerId, bytes, pieces));
        await tables.answers.set({ answerId }, manifest);
        return { bodyBytes, bodySha256: manifest.bodySha256 };
      } catch (cause) {
        await removeIgnoringErrors(context, answerId);
        throw cause;
      }
    },

    /** Returns null when the answer was never complete, or was purged. */
    async get(answerId: string): Promise<StoredAnswer | null> {
      const row = await tables.answers.get(answerId);
      if (row === null) return null;
      const { status, headers, bodyBytes, bodySha256 } = row;
      if (status === null || headers === null || bodyBytes === null || bodySha256 === null) {
        return null;
      }
      return {
        status,
        headers: headersFromJson(headers),
        bodyBytes,
        bodySha256,
        body: () => readBody(context, answerId, bodySha256),
      };
    },
  };
}

async function insertAnswer({ tables }: StoreContext, row: Row<'answers'>): Promise<void> {
  if (await tables.answers.insert(row)) return;
  const message = `the answer id ${row.answerId} is in use; take a new random one`;
  throw new StoreError('conflict', message);
}

/** Resolves to the number of bytes in all pieces. */
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

/** Ignores errors of the store: the purge removes the rows later, and the caller reports its own error. */
async function removeIgnoringErrors({ tables }: StoreContext, answerId: string): Promise<void> {
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
  const content = readStoredBytes(context, row);
  if (row.reportOf === null) return yield* content;
  const report = await findReport(context, row.reportOf);
  if (report === null) {
    throw new StoreError('corrupt', `the report ${row.reportOf} of an answer is gone (purged?)`);
  }
  yield* unpackWithReport(report, content, bodySha256);
}

async function* readStoredBytes(
  { tables }: StoreContext,
  { answerId, bytes, storedBytes }: Row<'answers'>,
): AsyncGenerator<Uint8Array> {
  if (bytes !== null) {
    if (bytes.length > 0) yield bytes;
    return;
  }
  let remainingBytes = storedBytes ?? 0;
  for (let n = 0; remainingBytes > 0; n += 1) {
    const chunk = await tables.answerChunks.get(answerId, n);
    if (chunk === null) {
      throw new StoreError('corrupt', `piece ${n} of the answer ${answerId} is gone (purged?)`);
    }
    remainingBytes -= chunk.bytes.length;
    yield chunk.bytes;
  }
}
