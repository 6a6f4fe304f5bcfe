/** Stored answers, in pieces on MongoDB. */
import type { AnswerStore } from '../contract/answers.ts';
import { StoreError } from '../contract/store-error.ts';
import { MeasuredBody, packedAgainst, unpackedAgainst } from '../shared/packing.ts';
import { rechunk } from '../shared/rechunk.ts';
import { headersFromJson, toStoredJson } from '../shared/stored-json.ts';
import type { MongoContext } from './context.ts';
import { bytesOf, findReferableReport, findReport } from './reports.ts';
import { idOf } from './table.ts';

export function mongoAnswers(context: MongoContext): AnswerStore {
  const { answers, now } = context;
  return {
    async put(answerId, head, body, scanId) {
      const headers = toStoredJson({ ...head.headers }, 'the headers of an answer');
      const report = scanId === undefined ? null : await findReferableReport(context, scanId);
      const reportOf = report === null ? null : (scanId ?? null);
      const row = { _id: answerId, startedAtMs: now(), reportOf, manifest: null };
      const fresh = await answers.insert(row);
      if (!fresh) {
        const message = `the answer id ${answerId} is in use; take a new random one`;
        throw new StoreError('conflict', message);
      }
      try {
        const measured = new MeasuredBody(body);
        const kept = report === null ? measured : packedAgainst(report, measured);
        const storedBytes = await putChunks(context, answerId, kept);
        const measures = measured.measures();
        const { status } = head;
        const manifest = { status, headers, ...measures, storedBytes, storedAtMs: now() };
        await answers.set(answerId, { manifest });
        return measures;
      } catch (cause) {
        await dropQuietly(context, answerId);
        throw cause;
      }
    },

    async get(answerId) {
      const row = await answers.byId(answerId);
      if (!row?.manifest) return null;
      const { reportOf } = row;
      const { status, headers, bodyBytes, bodySha256, storedBytes, storedAtMs } = row.manifest;
      return {
        answerId,
        status,
        headers: headersFromJson(headers),
        bodyBytes,
        bodySha256,
        storedAtMs,
        body() {
          const kept = readChunks(context, answerId, storedBytes);
          return reportOf === null ? kept : unpacked(context, reportOf, kept, bodySha256);
        },
      };
    },
  };
}

async function* unpacked(
  context: MongoContext,
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

/** How many bytes were put. */

async function putChunks(
  { chunks }: MongoContext,
  answerId: string,
  body: AsyncIterable<Uint8Array>,
): Promise<number> {
  let storedBytes = 0;
  let n = 0;
  for await (const bytes of rechunk(body)) {
    await chunks.insert({ _id: idOf(answerId, n), answerId, n, bytes });
    storedBytes += bytes.length;
    n += 1;
  }
  return storedBytes;
}

async function* readChunks(
  { chunks }: MongoContext,
  answerId: string,
  storedBytes: number,
): AsyncGenerator<Uint8Array> {
  let leftBytes = storedBytes;
  for (let n = 0; leftBytes > 0; n += 1) {
    const bytes = bytesOf((await chunks.byId(idOf(answerId, n)))?.bytes);
    if (bytes === null) {
      throw new StoreError('corrupt', `piece ${n} of the answer ${answerId} is gone (purged?)`);
    }
    leftBytes -= bytes.length;
    yield bytes;
  }
}

/** The purge takes what cannot be removed now; the first error matters more. */
async function dropQuietly({ answers, chunks }: MongoContext, answerId: string): Promise<void> {
  try {
    await chunks.remove({ answerId });
    await answers.remove({ _id: answerId });
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
  }
}
