import { describe, expect, test } from 'vitest';
import { createAnswerShelf, type Question } from '../../src/ecosystem/answer-shelf.ts';
import { type Answer, failed } from '../../src/ecosystem/ask.ts';
import { DAY_MS, HOUR_MS, type MemoryShelf, memoryShelf } from './memory-shelf.ts';

const GOOD: Answer<number> = { ok: true, value: 7 };
const DOWN = failed('index answered 500');

/** A question about a number, whose source says what the test sets. */
function setUp(shelf: MemoryShelf = memoryShelf()) {
  const answers = createAnswerShelf(shelf);
  const source = { says: GOOD as Answer<number>, asked: 0 };
  const question = (overrides: Partial<Question<number>> = {}): Question<number> => ({
    source: 'index',
    key: 'a',
    cacheMs: HOUR_MS,
    isAnswer: (data): data is number => typeof data === 'number',
    ask: async () => {
      source.asked += 1;
      return source.says;
    },
    ...overrides,
  });
  return { shelf, source, question, look: (q = question()) => answers.look(q) };
}

const seen = (ageSec: number, asOf = '2026-08-20T12:00:00.000Z') => ({
  state: 'seen',
  source: 'index',
  asOf,
  ageSec,
  data: 7,
});

describe('a good answer', () => {
  test('is not asked for twice while it is fresh, however often it is looked at', async () => {
    const { source, look, shelf } = setUp();
    expect(await look()).toEqual(seen(0));
    for (let round = 1; round < 20; round += 1) {
      shelf.wait(HOUR_MS / 20);
      expect(await look()).toEqual(seen((round * 3_600) / 20));
    }
    expect(source.asked).toBe(1);
  });

  test('is asked for anew once it is no longer fresh', async () => {
    const { source, look, shelf } = setUp();
    await look();
    shelf.wait(HOUR_MS);
    expect(await look()).toEqual(seen(0, '2026-08-20T13:00:00.000Z'));
    expect(source.asked).toBe(2);
  });

  test('is one answer for all who look at the same time', async () => {
    const { source, question, look } = setUp();
    let answer = (_: Answer<number>) => {};
    const slow = question({
      ask: () => {
        source.asked += 1;
        return new Promise((resolve) => {
          answer = resolve;
        });
      },
    });
    const looks = Array.from({ length: 20 }, () => look(slow));
    await expect.poll(() => source.asked).toBe(1);
    answer(GOOD);
    expect(await Promise.all(looks)).toEqual(Array.from({ length: 20 }, () => seen(0)));
    expect(source.asked).toBe(1);
  });

  test('belongs to its source and key', async () => {
    const { source, question, look } = setUp();
    await look();
    await look(question({ key: 'b' }));
    await look(question({ source: 'other' }));
    expect(source.asked).toBe(3);
  });

  test('outlives the process', async () => {
    const { shelf, look } = setUp();
    await look();
    const next = setUp(shelf);
    expect(await next.look()).toEqual(seen(0));
    expect(next.source.asked).toBe(0);
  });
});

describe('while the source is down', () => {
  test('the last good answer stands, with its age, for 30 days', async () => {
    const { source, look, shelf } = setUp();
    await look();
    source.says = DOWN;
    shelf.wait(2 * DAY_MS);
    expect(await look()).toEqual(seen(2 * 86_400));
    shelf.wait(28 * DAY_MS - 1_000);
    expect(await look()).toEqual(seen(30 * 86_400 - 1));
    shelf.wait(1_000);
    expect(await look()).toEqual({ state: 'failed', source: 'index', detail: DOWN.detail });
  });

  test('what was never seen fails, and a failure is not kept', async () => {
    const { source, look, shelf } = setUp();
    source.says = DOWN;
    expect(await look()).toEqual({ state: 'failed', source: 'index', detail: DOWN.detail });
    expect(shelf.kept.size).toBe(0);
    source.says = GOOD;
    expect(await look()).toEqual(seen(0));
  });

  test('a source that asked for a pause, or hung, is left alone until it is over', async () => {
    const { source, question, look, shelf } = setUp();
    source.says = failed('index answered 429', 60_000);
    expect(await look()).toMatchObject({ state: 'failed', detail: 'index answered 429' });
    source.says = GOOD;
    shelf.wait(59_999);
    expect(await look(question({ key: 'b' }))).toEqual({
      state: 'failed',
      source: 'index',
      detail: 'index answered 429, and is left alone for the moment',
    });
    expect(source.asked).toBe(1);
    expect(await look(question({ source: 'other' }))).toMatchObject({ state: 'seen' });
    shelf.wait(1);
    expect(await look()).toMatchObject({ state: 'seen', ageSec: 0 });
  });

  test('the last good answer stands during a pause too', async () => {
    const { source, question, look, shelf } = setUp();
    await look();
    shelf.wait(2 * HOUR_MS);
    source.says = failed('index did not answer', 30_000);
    await look(question({ key: 'b' }));
    expect(await look()).toEqual(seen(7_200));
    expect(source.asked).toBe(2);
  });
});

describe('a shelf that fails', () => {
  test('costs the cache, not the answer', async () => {
    const broken: MemoryShelf = {
      ...memoryShelf(),
      get: () => Promise.reject(new Error('no store')),
      put: () => Promise.reject(new Error('no store')),
    };
    const { look, source } = setUp(broken);
    expect(await look()).toEqual(seen(0));
    expect(await look()).toEqual(seen(0));
    expect(source.asked).toBe(2);
  });

  test.each([['text'], [null], [{ of: 'another release' }]])(
    'or holds %j for an answer is asked past',
    async (data) => {
      const { look, shelf, source } = setUp();
      await shelf.put({ source: 'index', key: 'a', takenAtMs: shelf.now(), data });
      expect(await look()).toEqual(seen(0));
      expect(source.asked).toBe(1);
      source.says = DOWN;
      await shelf.put({ source: 'index', key: 'a', takenAtMs: shelf.now(), data });
      expect(await look()).toMatchObject({ state: 'failed' });
    },
  );

  test('or stamps of a clock that was set back since are not fresh', async () => {
    const { look, shelf, source } = setUp();
    await shelf.put({ source: 'index', key: 'a', takenAtMs: shelf.now() + DAY_MS, data: 8 });
    expect(await look()).toEqual(seen(0));
    source.says = DOWN;
    await shelf.put({ source: 'index', key: 'a', takenAtMs: shelf.now() + DAY_MS, data: 8 });
    expect(await look()).toMatchObject({ state: 'seen', ageSec: 0, data: 8 });
  });
});
