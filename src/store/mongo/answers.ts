/** Stored answers, in pieces on MongoDB. */
import { createHash } from 'node:crypto';
import { Binary } from 'mongodb';
import type { AnswerStore } from '../contract/answers.ts';
import { StoreError } from '../contract/store-error.ts';
import { rechunk } from '../shared/rechunk.ts';
import { headersFromJson, toStoredJson } from '../shared/stored-json.ts';
import type { MongoContext } from './context.ts';
import { idOf } from './table.ts';

export function mongoAnswers(context: MongoContext): AnswerStore {
  const { answers, now } = context;
  return {
    async put(answerId, head, body) {
      const headers = toStoredJson({ ...head.headers }, 'the headers of an answer');
      const fresh = await answers.insert({ _id: answerId, startedAtMs: now(), manifest: null });
      if (!fresh) {
        const message = `the answer id ${answerId} is in use; take a new random one`;
        throw new StoreError('conflict', message);
      }
      try {
        const { bodyBytes, bodySha256 } = await putChunks(context, answerId, body);
        const { status } = head;
        const manifest = { status, headers, bodyBytes, bodySha256, storedAtMs: now() };
        await answers.set(answerId, { manifest });
        return { bodyBytes, bodySha256 };
      } catch (cause) {
        await dropQuietly(context, answerId);
        throw cause;
      }
    },

    async get(answerId) {
      const manifest = (await answers.byId(answerId))?.manifest;
      if (!manifest) return null;
      const { status, headers, bodyBytes, bodySha256, storedAtMs } = manifest;
      return {
        answerId,
        status,
        headers: headersFromJson(headers),
        bodyBytes,
        bodySha256,
        storedAtMs,
        body: () => readChunks(context, answerId, bodyBytes),
      };
    },
  };
}

async function putChunks(
  { chunks }: MongoContext,
  answerId: string,
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<{ bodyBytes: number; bodySha256: string }> {
  const hash = createHash('sha256');
  let bodyBytes = 0;
  let n = 0;
  for await (const bytes of rechunk(body)) {
    await chunks.insert({ _id: idOf(answerId, n), answerId, n, bytes });
    hash.update(bytes);
    bodyBytes += bytes.length;
    n += 1;
  }
  return { bodyBytes, bodySha256: hash.digest('hex') };
}

async function* readChunks(
  { chunks }: MongoContext,
  answerId: string,
  bodyBytes: number,
): AsyncGenerator<Uint8Array> {
  let leftBytes = bodyBytes;
  for (let n = 0; leftBytes > 0; n += 1) {
    const stored: unknown = (await chunks.byId(idOf(answerId, n)))?.bytes;
    // The driver hands bytes back in its own wrapper.
    const bytes = stored instanceof Binary ? stored.value() : stored;
    if (!(bytes instanceof Uint8Array)) {
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
