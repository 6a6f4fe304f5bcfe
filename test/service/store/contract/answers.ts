/** Both stores: stored answers, in pieces. */
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { ANSWER_CHUNK_BYTES } from '../../../../src/service/store/stored-values.ts';
import { collect, scanResult } from './samples.ts';
import type { ContractSubject } from './subject.ts';
import { DAY_MS, freshWithClock } from './test-clock.ts';

const HEAD = { status: 200, headers: { 'content-type': 'application/json', 'X-Odd-Case': 'é' } };

export function answersKeep(subject: ContractSubject): void {
  describe('answers', () => {
    test('returns head and body byte for byte, after a restart too', async () => {
      const store = await subject.fresh();
      const body = Buffer.from([0, 255, 10, 13, 34, 128]);
      const put = await store.answers.put('a', HEAD, [body]);
      const bodySha256 = createHash('sha256').update(body).digest('hex');
      expect(put).toEqual({ bodyBytes: 6, bodySha256 });

      const again = await subject.restart(store);
      const answer = await again.answers.get('a');
      expect(answer).toMatchObject({ ...HEAD, bodyBytes: 6, bodySha256 });
      expect(Buffer.concat(await collect(answer?.body() ?? none()))).toEqual(body);
      // A second reader also gets the whole answer.
      expect(Buffer.concat(await collect(answer?.body() ?? none()))).toEqual(body);
    });

    test.each([
      0,
      1,
      ANSWER_CHUNK_BYTES - 1,
      ANSWER_CHUNK_BYTES,
      ANSWER_CHUNK_BYTES + 1,
      2 * ANSWER_CHUNK_BYTES,
    ])('re-cuts a body of %i bytes into pieces of at most 1 MiB', async (bytes) => {
      const { answers } = await subject.fresh();
      const body = Buffer.alloc(bytes, 'abcdefg');
      await answers.put('a', HEAD, inPieces(body, 300_001));
      const pieces = await collect((await answers.get('a'))?.body() ?? none());
      expect(Buffer.concat(pieces).equals(body)).toBe(true);
      expect(pieces).toHaveLength(Math.ceil(bytes / ANSWER_CHUNK_BYTES));
      expect(Math.max(0, ...pieces.map((piece) => piece.length))).toBeLessThanOrEqual(
        ANSWER_CHUNK_BYTES,
      );
    });

    test('shows nothing of a broken-off answer, and frees its id', async () => {
      const { answers } = await subject.fresh();
      await expect(answers.put('a', HEAD, breaksOff())).rejects.toThrow('origin went away');
      expect(await answers.get('a')).toBeNull();
      await answers.put('a', HEAD, [Buffer.from('whole')]);
      expect((await answers.get('a'))?.bodyBytes).toBe(5);
    });

    test('refuses an id in use and keeps the stored answer', async () => {
      const { answers } = await subject.fresh();
      await answers.put('a', HEAD, [Buffer.from('first')]);
      await expect(answers.put('a', HEAD, [Buffer.from('second')])).rejects.toMatchObject({
        code: 'conflict',
      });
      const pieces = await collect((await answers.get('a'))?.body() ?? none());
      expect(Buffer.concat(pieces).toString()).toBe('first');
    });

    test('returns a body that repeats a report byte for byte, after a restart too', async () => {
      const { clock, store } = await freshWithClock(subject);
      const report = { results: texts(400), 'odd ü': '\u{1f701}' };
      const result = scanResult({ scannedAtMs: clock.now(), report });
      await store.results.save(result);
      const bodies = [
        JSON.stringify({ cache: 'miss', ...report }),
        JSON.stringify({ results: [...texts(400)].reverse(), cache: 'hit' }),
        JSON.stringify({ results: texts(90_000) }),
        'nothing of it',
        '',
      ].map((text) => Buffer.from(text));
      for (const [n, body] of bodies.entries()) {
        const put = await store.answers.put(`a${n}`, HEAD, inPieces(body, 3_001), result.scanId);
        const bodySha256 = createHash('sha256').update(body).digest('hex');
        expect(put).toEqual({ bodyBytes: body.length, bodySha256 });
      }
      const again = await subject.restart(store);
      for (const [n, body] of bodies.entries()) {
        const answer = await again.answers.get(`a${n}`);
        expect(answer).toMatchObject({ ...HEAD, bodyBytes: body.length });
        for (let reader = 0; reader < 2; reader++) {
          const pieces = await collect(answer?.body() ?? none());
          expect(Buffer.concat(pieces).equals(body)).toBe(true);
          expect(Math.max(0, ...pieces.map((piece) => piece.length))).toBeLessThanOrEqual(
            ANSWER_CHUNK_BYTES,
          );
        }
      }
    });

    test('stores a body whole if its report is missing, or about to be purged', async () => {
      const { clock, answers, results } = await freshWithClock(subject);
      const result = scanResult({ scannedAtMs: clock.now() });
      await results.save(result);
      clock.advance(DAY_MS);
      for (const [answerId, scanId] of [
        ['a', 'never'],
        ['b', result.scanId],
      ] as const) {
        await answers.put(answerId, HEAD, [Buffer.from('whole')], scanId);
        const pieces = await collect((await answers.get(answerId))?.body() ?? none());
        expect(Buffer.concat(pieces).toString()).toBe('whole');
      }
    });

    test('returns null for an id that was never stored', async () => {
      const { answers } = await subject.fresh();
      expect(await answers.get('never')).toBeNull();
    });
  });
}

function texts(count: number): string[] {
  return Array.from({ length: count }, (_, n) => `line ${n}: what was seen, and what to do`);
}

function* inPieces(body: Buffer, pieceBytes: number): Generator<Uint8Array> {
  for (let at = 0; at < body.length; at += pieceBytes) yield body.subarray(at, at + pieceBytes);
}

async function* breaksOff(): AsyncGenerator<Uint8Array> {
  yield Buffer.alloc(2 * ANSWER_CHUNK_BYTES);
  throw new Error('origin went away');
}

async function* none(): AsyncGenerator<Uint8Array> {
  yield* [];
  throw new Error('there is no answer');
}
