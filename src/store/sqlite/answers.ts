/** Stored answers, in pieces on SQLite. */
import type { AnswerStore } from '../contract/answers.ts';
import { StoreError } from '../contract/store-error.ts';
import { MeasuredBody, packedAgainst, unpackedAgainst } from '../shared/packing.ts';
import { rechunk } from '../shared/rechunk.ts';
import { headersFromJson, toStoredJson } from '../shared/stored-json.ts';
import type { SqliteContext } from './context.ts';
import { findReferableReport, findReport } from './reports.ts';

export function sqliteAnswers(context: SqliteContext): AnswerStore {
  const { connection, now } = context;
  return {
    async put(answerId, head, body, reportOf) {
      const headers = toStoredJson({ ...head.headers }, 'the headers of an answer');
      const report = reportOf === undefined ? null : await findReferableReport(context, reportOf);
      const measured = new MeasuredBody(body);
      let storedBytes = 0;
      let n = 0;
      let last: Uint8Array | null = null;
      let isReserved = false;
      const reserveOnce = () => {
        if (!isReserved) reserve(context, answerId, report === null ? null : reportOf);
        isReserved = true;
      };
      try {
        const kept = report === null ? measured : packedAgainst(report, measured);
        for await (const piece of rechunk(kept)) {
          if (last !== null) {
            reserveOnce();
            putChunk(context, answerId, n, last);
            n += 1;
          }
          last = piece;
          storedBytes += piece.length;
        }
        const { bodyBytes, bodySha256 } = measured.measures();
        // The last piece and the manifest at once: most answers have one piece, and wait for one sync.
        connection.transaction(() => {
          reserveOnce();
          if (last !== null) putChunk(context, answerId, n, last);
          connection.run(
            `UPDATE answers SET status = ?, headers = ?, body_bytes = ?, body_sha256 = ?,
               stored_bytes = ?, stored_at_ms = ? WHERE answer_id = ?`,
            head.status,
            headers,
            bodyBytes,
            bodySha256,
            storedBytes,
            now(),
            answerId,
          );
        });
        return { bodyBytes, bodySha256 };
      } catch (cause) {
        // An id that could not be reserved is that of another answer.
        if (isReserved) dropQuietly(context, answerId);
        throw cause;
      }
    },

    async get(answerId) {
      const row = connection.get(
        'SELECT * FROM answers WHERE answer_id = ? AND stored_at_ms IS NOT NULL',
        answerId,
      );
      if (!row) return null;
      const bodySha256 = row.text('body_sha256');
      const reportOf = row.textOrNull('report_of');
      const storedBytes = row.integer('stored_bytes');
      return {
        answerId,
        status: row.integer('status'),
        headers: headersFromJson(row.text('headers')),
        bodyBytes: row.integer('body_bytes'),
        bodySha256,
        storedAtMs: row.integer('stored_at_ms'),
        body() {
          const kept = readChunks(context, answerId, storedBytes);
          return reportOf === null ? kept : unpacked(context, reportOf, kept, bodySha256);
        },
      };
    },
  };
}

async function* unpacked(
  context: SqliteContext,
  reportOf: string,
  kept: AsyncIterable<Uint8Array>,
  bodySha256: string,
): AsyncGenerator<Uint8Array> {
  const report = await findReport(context, reportOf);
  if (report === null) {
    throw new StoreError('corrupt', `the report ${reportOf} of an answer is gone (purged?)`);
  }
  yield* unpackedAgainst(report, kept, bodySha256);
}

function reserve(
  { connection, now }: SqliteContext,
  answerId: string,
  reportOf: string | null | undefined,
): void {
  const inserted = connection.run(
    `INSERT INTO answers (answer_id, started_at_ms, report_of) VALUES (?, ?, ?)
     ON CONFLICT DO NOTHING`,
    answerId,
    now(),
    reportOf ?? null,
  );
  if (inserted > 0) return;
  throw new StoreError('conflict', `the answer id ${answerId} is in use; take a new random one`);
}

function putChunk(
  { connection }: SqliteContext,
  answerId: string,
  n: number,
  piece: Uint8Array,
): void {
  connection.run(
    'INSERT INTO answer_chunks (answer_id, n, bytes) VALUES (?, ?, ?)',
    answerId,
    n,
    piece,
  );
}

async function* readChunks(
  { connection }: SqliteContext,
  answerId: string,
  storedBytes: number,
): AsyncGenerator<Uint8Array> {
  let leftBytes = storedBytes;
  for (let n = 0; leftBytes > 0; n += 1) {
    const row = connection.get(
      'SELECT bytes FROM answer_chunks WHERE answer_id = ? AND n = ?',
      answerId,
      n,
    );
    if (!row) {
      throw new StoreError('corrupt', `piece ${n} of the answer ${answerId} is gone (purged?)`);
    }
    const bytes = row.bytes('bytes');
    leftBytes -= bytes.length;
    yield bytes;
  }
}

/** The purge takes what cannot be removed now (a closed store); the first error matters more. */
function dropQuietly({ connection }: SqliteContext, answerId: string): void {
  try {
    connection.run('DELETE FROM answer_chunks WHERE answer_id = ?', answerId);
    connection.run('DELETE FROM answers WHERE answer_id = ?', answerId);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
  }
}
