/** The answer reader limits the size of answers, and parses long ones on a worker. */
import { afterAll, describe, expect, test } from 'vitest';
import {
  type AnswerParser,
  AnswerTooLong,
  createAnswerReader,
} from '../../../src/scanner/third-parties/answer-reader.ts';

const KIB = 1024;

/** Reports whether the main thread read the text, and the length of the text. */
const THREAD_PARSER: AnswerParser<{ readonly isMain: boolean; readonly chars: number }> = {
  module: new URL('./readings.ts', import.meta.url).href,
  exportName: 'readThread',
  parse: (text) => ({ isMain: true, chars: text.length }),
};

const reader = createAnswerReader();
afterAll(() => reader.close());

async function* splitText(text: string, pieceBytes = 16 * KIB): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
}

describe('an answer', () => {
  test.each([
    [0, true],
    [1, true],
    [64 * KIB, true],
    [64 * KIB + 1, false],
    [900 * KIB, false],
  ])('with %d bytes is parsed on the serving thread: %s', async (bytes, isMain) => {
    const read = await reader.read(splitText('x'.repeat(bytes)), KIB * KIB, THREAD_PARSER, null);
    expect(read).toEqual({ isMain, chars: bytes });
  });

  test.each([1, 7, 70_000])('arrives whole in pieces of %d bytes', async (pieceBytes) => {
    const text = 'é€😀'.repeat(8_000);
    const read = await reader.read(splitText(text, pieceBytes), KIB * KIB, THREAD_PARSER, null);
    expect(read.chars).toBe(text.length);
  });

  test('over its size limit is refused, and the reader takes no further piece', async () => {
    let pieceCount = 0;
    let isEnded = false;
    async function* endless(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) {
          pieceCount += 1;
          yield Buffer.alloc(KIB);
        }
      } finally {
        isEnded = true;
      }
    }
    await expect(reader.read(endless(), 16 * KIB, THREAD_PARSER, null)).rejects.toThrow(
      AnswerTooLong,
    );
    expect({ pieceCount, isEnded }).toEqual({ pieceCount: 17, isEnded: true });
  });

  test('without a size limit is read to its end', async () => {
    const chars = 20 * KIB * KIB;
    const text = 'x'.repeat(chars);
    const read = await reader.read(splitText(text, KIB * KIB), Infinity, THREAD_PARSER, null);
    expect(read).toEqual({ isMain: false, chars });
  });
});
