import { createHash } from 'node:crypto';
import type { AnswerStore } from '../contract/answers.ts';
import { StoreError } from '../contract/store-error.ts';
import type { StoreContext } from './context.ts';
import { packedAgainst, unpackedAgainst } from './packing.ts';
import { rechunk } from './rechunk.ts';
import { findReferableReport, findReport } from './reports.ts';
import { headersFromJson, toStoredJson } from './stored-json.ts';
import type { Row } from './tables.ts';

/** What is kept of a body up to here stands in the row of its answer: most are one insert, that waits for the disk once. */
const MAX_INLINE_BYTES = 64 * 1024;
const NOTHING = new Uint8Array(0);

/** An answer without its manifest is not complete, and does not exist for readers. */
const INCOMPLETE = {
  status: null,
  headers: null,
  bodyBytes: null,
  bodySha256: null,
  storedBytes: null,
  storedAtMs: null,
  bytes: null,
};

export function answersOn(context: StoreContext): AnswerStore {
  const { tables, now } = context;
  return {
    async put(answerId, head, body, scanId) {
      const headers = toStoredJson({ ...head.headers }, 'the headers of an answer');
      const report = scanId === undefined ? null : await findReferableReport(context, scanId);
      const reportOf = report === null ? null : (scanId ?? null);
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
      const pieces = new KeptPieces(context, row);
      try {
        const kept = report === null ? measured() : packedAgainst(report, measured());
        for await (const piece of rechunk(kept)) await pieces.add(piece);
        const measures = { bodyBytes, bodySha256: sha256.digest('hex') };
        await pieces.complete({ status: head.status, headers, ...measures, storedAtMs: now() });
        return measures;
      } catch (cause) {
        await pieces.dropQuietly();
        throw cause;
      }
    },

    async get(answerId) {
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

type Manifest = Pick<
  Row<'answers'>,
  'status' | 'headers' | 'bodyBytes' | 'bodySha256' | 'storedAtMs'
>;

/** The pieces that are kept of one body, the last of them in hand: a single small one needs no row of its own. */
class KeptPieces {
  readonly #context: StoreContext;
  readonly #row: Row<'answers'>;
  #isReserved = false;
  #n = 0;
  #storedBytes = 0;
  #last: Uint8Array | null = null;

  constructor(context: StoreContext, row: Row<'answers'>) {
    this.#context = context;
    this.#row = row;
  }

  async add(piece: Uint8Array): Promise<void> {
    await this.#write(this.#last);
    this.#last = piece;
    this.#storedBytes += piece.length;
  }

  /** Written last, so that an answer that is not complete does not exist. */
  async complete(manifest: Manifest): Promise<void> {
    const whole = { ...manifest, storedBytes: this.#storedBytes };
    if (!this.#isReserved && this.#storedBytes <= MAX_INLINE_BYTES) {
      return this.#insert({ ...this.#row, ...whole, bytes: this.#last ?? NOTHING });
    }
    await this.#write(this.#last);
    await this.#context.tables.answers.set({ answerId: this.#row.answerId }, whole);
  }

  /** The purge takes what cannot be removed now; the first error matters more. */
  async dropQuietly(): Promise<void> {
    // An id that could not be reserved is that of another answer.
    if (!this.#isReserved) return;
    const { answers, answerChunks } = this.#context.tables;
    const { answerId } = this.#row;
    try {
      await answerChunks.remove({ answerId });
      await answers.remove({ answerId });
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
    }
  }

  async #write(piece: Uint8Array | null): Promise<void> {
    if (piece === null) return;
    if (!this.#isReserved) await this.#insert(this.#row);
    this.#isReserved = true;
    const { answerId } = this.#row;
    await this.#context.tables.answerChunks.insert({ answerId, n: this.#n, bytes: piece });
    this.#n += 1;
  }

  async #insert(row: Row<'answers'>): Promise<void> {
    if (await this.#context.tables.answers.insert(row)) return;
    const message = `the answer id ${row.answerId} is in use; take a new random one`;
    throw new StoreError('conflict', message);
  }
}

async function* readBody(
  context: StoreContext,
  answerId: string,
  bodySha256: string,
): AsyncGenerator<Uint8Array> {
  const row = await context.tables.answers.get(answerId);
  if (row === null) throw new StoreError('corrupt', `the answer ${answerId} is gone (purged?)`);
  const kept = keptBytes(context, row);
  if (row.reportOf === null) return yield* kept;
  const report = await findReport(context, row.reportOf);
  if (report === null) {
    throw new StoreError('corrupt', `the report ${row.reportOf} of an answer is gone (purged?)`);
  }
  yield* unpackedAgainst(report, kept, bodySha256);
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
