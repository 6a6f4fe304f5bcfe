/** Bodies are cut into pieces of one size, and take no more memory than they have bytes. */
import { expect, test } from 'vitest';
import { ANSWER_CHUNK_BYTES, cutIntoPieces } from '../../src/store/stored-values.ts';
import { collect } from './contract/samples.ts';

test.each([
  [[1]],
  [[7_000]],
  [[100, 7_000, 3]],
  [Array.from({ length: 4_000 }, () => 100)],
  [[ANSWER_CHUNK_BYTES, 10]],
])('in pieces of %j bytes', async (lengths) => {
  const body = lengths.map((length, index) => Buffer.alloc(length, index + 1));
  const pieces = await collect(cutIntoPieces(body));
  expect(Buffer.concat(pieces).equals(Buffer.concat(body))).toBe(true);
  for (const piece of pieces) {
    expect(piece.buffer.byteLength).toBeLessThanOrEqual(
      Math.min(ANSWER_CHUNK_BYTES, 2 * piece.length),
    );
  }
});

test('a piece does not change if the caller overwrites its input later', async () => {
  const reused = Buffer.alloc(4);
  const given = function* () {
    for (const letter of ['abcd', 'efgh', 'ijkl']) {
      reused.write(letter);
      yield reused;
    }
  };
  expect(Buffer.concat(await collect(cutIntoPieces(given()))).toString()).toBe('abcdefghijkl');
});
