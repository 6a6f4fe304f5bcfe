/** Answers are stored in pieces of one size. */
import { ANSWER_CHUNK_BYTES } from '../contract/answers.ts';

/** Cuts a body into pieces of exactly `ANSWER_CHUNK_BYTES`; only the last one may be shorter. */
export async function* rechunk(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let piece = new Uint8Array(ANSWER_CHUNK_BYTES);
  let filledBytes = 0;
  for await (const given of body) {
    let rest = given;
    while (rest.length > 0) {
      const part = rest.subarray(0, ANSWER_CHUNK_BYTES - filledBytes);
      piece.set(part, filledBytes);
      filledBytes += part.length;
      rest = rest.subarray(part.length);
      if (filledBytes < ANSWER_CHUNK_BYTES) continue;
      yield piece;
      piece = new Uint8Array(ANSWER_CHUNK_BYTES);
      filledBytes = 0;
    }
  }
  if (filledBytes > 0) yield piece.subarray(0, filledBytes);
}
