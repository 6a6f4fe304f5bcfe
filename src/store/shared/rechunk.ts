import { ANSWER_CHUNK_BYTES } from '../contract/answers.ts';

/**
 * Cuts a body into pieces of exactly `ANSWER_CHUNK_BYTES`; only the last one may be shorter. The buffer grows with the
 * body, because most answers have a few KiB. Each piece has a buffer of its own, which is not reused.
 */
export async function* rechunk(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let piece = new Uint8Array(0);
  let filledBytes = 0;
  for await (const given of body) {
    let rest = given;
    while (rest.length > 0) {
      const part = rest.subarray(0, ANSWER_CHUNK_BYTES - filledBytes);
      piece = withRoom(piece, filledBytes + part.length);
      piece.set(part, filledBytes);
      filledBytes += part.length;
      rest = rest.subarray(part.length);
      if (filledBytes < ANSWER_CHUNK_BYTES) continue;
      yield piece;
      piece = new Uint8Array(0);
      filledBytes = 0;
    }
  }
  if (filledBytes > 0) yield piece.subarray(0, filledBytes);
}

/** Doubled at least, so that a body of many small parts is not copied for each of them. */
function withRoom(piece: Uint8Array<ArrayBuffer>, neededBytes: number): Uint8Array<ArrayBuffer> {
  if (neededBytes <= piece.length) return piece;
  const bytes = Math.min(ANSWER_CHUNK_BYTES, Math.max(neededBytes, 2 * piece.length));
  const larger = new Uint8Array(bytes);
  larger.set(piece);
  return larger;
}
