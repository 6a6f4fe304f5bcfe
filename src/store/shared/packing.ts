import { hash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { StoreError } from '../contract/store-error.ts';
import { rechunk } from './rechunk.ts';

const deflate = promisify<Uint8Array, zlib.ZlibOptions, Buffer>(zlib.deflate);
const inflate = promisify<Uint8Array, zlib.ZlibOptions, Buffer>(zlib.inflate);

export function packReport(json: string): Promise<Uint8Array> {
  return deflate(Buffer.from(json), {});
}

/** The JSON of a report. Throws StoreError `corrupt`. */
export async function unpackReport(packed: Uint8Array): Promise<Buffer> {
  // Older programs stored plain JSON, which begins with a byte that zlib data never begins with.
  if (packed[0] === '{'.charCodeAt(0)) return Buffer.from(packed);
  return unpack(packed, {});
}

/**
 * Compresses an answer with the report that it repeats as the dictionary, so mostly the differences take
 * space. A dictionary reaches back 32 KiB; the rest of a longer report is compressed again.
 */
export async function* packedAgainst(
  report: Uint8Array,
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield await deflate(await buffer(body), { dictionary: report });
}

/** Restores the body byte for byte, in pieces. Throws StoreError `corrupt`. */
export async function* unpackedAgainst(
  report: Uint8Array,
  packed: AsyncIterable<Uint8Array>,
  bodySha256: string,
): AsyncGenerator<Uint8Array> {
  const body = await unpack(await buffer(packed), { dictionary: report });
  if (hash('sha256', body) !== bodySha256) {
    throw new StoreError('corrupt', 'a stored answer is not what it was; restore a backup');
  }
  yield* rechunk([body]);
}

async function unpack(packed: Uint8Array, options: zlib.ZlibOptions): Promise<Buffer> {
  try {
    return await inflate(packed, options);
  } catch (cause) {
    throw new StoreError('corrupt', 'a stored value cannot be unpacked; restore a backup', {
      cause,
    });
  }
}
