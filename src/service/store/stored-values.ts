import { hash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import type { JsonObject, JsonValue } from '../../scanner/model/json.ts';
import { StoreError } from './store-error.ts';

/** A MongoDB document has at most 16 MiB, and this limit leaves room for the other members. */
const MAX_STORED_JSON_BYTES = 8 * 1024 * 1024;

/** `subject` names the value in the error. Throws StoreError `too_large`. */
export function toStoredJson(value: JsonValue, subject: string): string {
  const text = JSON.stringify(value);
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_STORED_JSON_BYTES) {
    const message = `${subject} has ${bytes} bytes of JSON, at most ${MAX_STORED_JSON_BYTES} are stored; store less of it`;
    throw new StoreError('too_large', message);
  }
  return text;
}

/** @throws StoreError `corrupt` */
export function fromStoredJson(text: string): JsonValue {
  try {
    const value: JsonValue = JSON.parse(text);
    return value;
  } catch (cause) {
    const message = 'a stored value is not JSON; restore the store from a backup';
    throw new StoreError('corrupt', message, { cause });
  }
}

/** @throws StoreError `corrupt` */
export function objectFromStoredJson(text: string): JsonObject {
  const value = fromStoredJson(text);
  if (isJsonObject(value)) return value;
  const message = 'a stored value is not an object; restore the store from a backup';
  throw new StoreError('corrupt', message);
}

function isJsonObject(value: JsonValue): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** @throws StoreError `corrupt` */
export function headersFromJson(text: string): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(objectFromStoredJson(text))) {
    if (typeof value !== 'string') {
      const message = `the stored header ${name} is not a string; restore a backup`;
      throw new StoreError('corrupt', message);
    }
    headers[name] = value;
  }
  return headers;
}

/** Bodies are stored and read in pieces of at most this size. */
export const ANSWER_CHUNK_BYTES = 1024 * 1024;

const deflate = promisify<Uint8Array, zlib.ZlibOptions, Buffer>(zlib.deflate);
const inflate = promisify<Uint8Array, zlib.ZlibOptions, Buffer>(zlib.inflate);

export function pack(text: string): Promise<Uint8Array> {
  return deflate(Buffer.from(text), {});
}

/** @throws StoreError `corrupt` */
export async function unpack(packed: Uint8Array, options: zlib.ZlibOptions = {}): Promise<Buffer> {
  try {
    return await inflate(packed, options);
  } catch (cause) {
    const message = 'a stored value cannot be unpacked; restore a backup';
    throw new StoreError('corrupt', message, { cause });
  }
}

/**
 * Compresses an answer. The report that the answer repeats is the dictionary, so mainly the differences take space. A
 * dictionary has at most 32 KiB, so the parts of a longer report that are not in it take space again.
 */
export async function* packWithReport(
  report: Uint8Array,
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield await deflate(await buffer(body), { dictionary: report });
}

/** Yields the body of a compressed answer in pieces, byte for byte. Throws StoreError `corrupt`. */
export async function* unpackWithReport(
  report: Uint8Array,
  packed: AsyncIterable<Uint8Array>,
  bodySha256: string,
): AsyncGenerator<Uint8Array> {
  const body = await unpack(await buffer(packed), { dictionary: report });
  if (hash('sha256', body) !== bodySha256) {
    throw new StoreError('corrupt', 'a stored answer has changed; restore a backup');
  }
  yield* cutIntoPieces([body]);
}

/**
 * Cuts a body into pieces of exactly `ANSWER_CHUNK_BYTES`; only the last piece may be shorter. The buffer of a piece
 * starts small and grows, because most answers have a few KiB. No two pieces share a buffer.
 */
export async function* cutIntoPieces(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let piece = new Uint8Array(0);
  let filledBytes = 0;
  for await (const part of body) {
    let remaining = part;
    while (remaining.length > 0) {
      const fitting = remaining.subarray(0, ANSWER_CHUNK_BYTES - filledBytes);
      piece = withRoom(piece, filledBytes + fitting.length);
      piece.set(fitting, filledBytes);
      filledBytes += fitting.length;
      remaining = remaining.subarray(fitting.length);
      if (filledBytes < ANSWER_CHUNK_BYTES) continue;
      yield piece;
      piece = new Uint8Array(0);
      filledBytes = 0;
    }
  }
  if (filledBytes > 0) yield piece.subarray(0, filledBytes);
}

/** At least doubles a buffer that is too small. A body of many small parts is then not copied for each part. */
function withRoom(piece: Uint8Array<ArrayBuffer>, neededBytes: number): Uint8Array<ArrayBuffer> {
  if (neededBytes <= piece.length) return piece;
  const bytes = Math.min(ANSWER_CHUNK_BYTES, Math.max(neededBytes, 2 * piece.length));
  const larger = new Uint8Array(bytes);
  larger.set(piece);
  return larger;
}
