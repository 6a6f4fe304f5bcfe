/** Stored answers, in pieces on SQLite. */
import { createHash } from 'node:crypto';
import type { AnswerStore } from '../contract/answers.ts';
import { StoreError } from '../contract/store-error.ts';
import { rechunk } from '../rules/rechunk.ts';
import { headersFromJson, toStoredJson } from '../rules/stored-json.ts';
import type { SqliteContext } from './context.ts';

export function sqliteAnswers(context: SqliteContext): AnswerStore {
  const { connection, now } = context;
  return {
    async put(answerId, head, body) {
      const headers = toStoredJson({ ...head.headers }, 'the headers of an answer');
      reserve(context, answerId);
      try {
        const { bodyBytes, bodySha256 } = await putChunks(context, answerId, body);
        connection.run(
          `UPDATE answers SET status = ?, headers = ?, body_bytes = ?, body_sha256 = ?,
             stored_at_ms = ? WHERE answer_id = ?`,
          head.status,
          headers,
          bodyBytes,
          bodySha256,
          now(),
          answerId,
        );
        return { bodyBytes, bodySha256 };
      } catch (cause) {
        dropQuietly(context, answerId);
        throw cause;
      }
    },

    async get(answerId) {
      const row = connection.get(
        'SELECT * FROM answers WHERE answer_id = ? AND stored_at_ms IS NOT NULL',
        answerId,
      );
      if (!row) return null;
      const bodyBytes = row.integer('body_bytes');
      return {
        answerId,
        status: row.integer('status'),
        headers: headersFromJson(row.text('headers')),
        bodyBytes,
        bodySha256: row.text('body_sha256'),
        storedAtMs: row.integer('stored_at_ms'),
        body: () => readChunks(context, answerId, bodyBytes),
      };
    },
  };
}

function reserve({ connection, now }: SqliteContext, answerId: string): void {
  const inserted = connection.run(
    'INSERT INTO answers (answer_id, started_at_ms) VALUES (?, ?) ON CONFLICT DO NOTHING',
    answerId,
    now(),
  );
  if (inserted > 0) return;
  throw new StoreError('conflict', `the answer id ${answerId} is in use; take a new random one`);
}

async function putChunks(
  { connection }: SqliteContext,
  answerId: string,
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<{ bodyBytes: number; bodySha256: string }> {
  const hash = createHash('sha256');
  let bodyBytes = 0;
  let n = 0;
  for await (const piece of rechunk(body)) {
    connection.run(
      'INSERT INTO answer_chunks (answer_id, n, bytes) VALUES (?, ?, ?)',
      answerId,
      n,
      piece,
    );
    hash.update(piece);
    bodyBytes += piece.length;
    n += 1;
  }
  return { bodyBytes, bodySha256: hash.digest('hex') };
}

async function* readChunks(
  { connection }: SqliteContext,
  answerId: string,
  bodyBytes: number,
): AsyncGenerator<Uint8Array> {
  let leftBytes = bodyBytes;
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
