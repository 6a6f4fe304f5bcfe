/** Bodies are cut into pieces of one size, and take no more memory than they have bytes. */
import { expect, test } from 'vitest';
import { ANSWER_CHUNK_BYTES, cutIntoPieces } from '../../../src/service/store/stored-values.ts';
import { collect } from './contract/samples.ts';

test.each([
  ['in a piece of one byte', [1]],
  ['in one piece', [7_000]],
  ['in pieces of several lengths', [100, 7_000, 3]],
  ['in 4,000 small pieces', Array.from({ length: 4_000 }, () => 100)],
  ['in a piece of the full length and a small one', [ANSWER_CHUNK_BYTES, 10]],
])('a body that arrives %s is stored in pieces of limited memory', async (_case, lengths) => {
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
  const overwrittenPieces = function* () {
    for (const letter of ['abcd', 'efgh', 'ijkl']) {
      reused.write(letter);
      yield reused;
    }
  };
  expect(Buffer.concat(await collect(cutIntoPieces(overwrittenPieces()))).toString()).toBe(
    'abcdefghijkl',
  );
});
