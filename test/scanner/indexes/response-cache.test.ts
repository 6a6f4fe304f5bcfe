import { describe, expect, test } from 'vitest';
import { type SourceAnswer, toFailure } from '../../../src/scanner/indexes/ask.ts';
import { createResponseCache, type Question } from '../../../src/scanner/indexes/response-cache.ts';
import { DAY_MS, HOUR_MS, type MemoryCache, memoryCache } from './memory-cache.ts';

const GOOD_ANSWER: SourceAnswer<number> = { ok: true, value: 7 };
const FAILED_ANSWER = toFailure('index answered 500');

/** Creates questions about a number. The test sets the answer of their source in `source.answer`. */
function setUp(cache: MemoryCache = memoryCache()) {
  const answers = createResponseCache(cache);
  const source = { answer: GOOD_ANSWER as SourceAnswer<number>, requests: 0 };
  const question = (overrides: Partial<Question<number>> = {}): Question<number> => ({
    source: 'index',
    key: 'a',
    cacheMs: HOUR_MS,
    isAnswer: (data): data is number => typeof data === 'number',
    ask: async () => {
      source.requests += 1;
      return source.answer;
    },
    ...overrides,
  });
  return { cache, source, question, lookup: (q = question()) => answers.lookup(q) };
}

const createSeenLookup = (ageSec: number, asOf = '2026-08-20T12:00:00.000Z') => ({
  state: 'seen',
  source: 'index',
  asOf,
  ageSec,
  data: 7,
});

describe('a good answer', () => {
  test('is not requested twice while it is fresh, however often it is read', async () => {
    const { source, lookup, cache } = setUp();
    expect(await lookup()).toEqual(createSeenLookup(0));
    for (let round = 1; round < 20; round += 1) {
      cache.wait(HOUR_MS / 20);
      expect(await lookup()).toEqual(createSeenLookup((round * 3_600) / 20));
    }
    expect(source.requests).toBe(1);
  });

  test('is requested again when it is no longer fresh', async () => {
    const { source, lookup, cache } = setUp();
    await lookup();
    cache.wait(HOUR_MS);
    expect(await lookup()).toEqual(createSeenLookup(0, '2026-08-20T13:00:00.000Z'));
    expect(source.requests).toBe(2);
  });

  test('is requested once for all callers at the same time', async () => {
    const { source, question, lookup } = setUp();
    let answerQuestion = (_: SourceAnswer<number>) => {};
    const slowQuestion = question({
      ask: () => {
        source.requests += 1;
        return new Promise((resolve) => {
          answerQuestion = resolve;
        });
      },
    });
    const lookups = Array.from({ length: 20 }, () => lookup(slowQuestion));
    await expect.poll(() => source.requests).toBe(1);
    answerQuestion(GOOD_ANSWER);
    expect(await Promise.all(lookups)).toEqual(
      Array.from({ length: 20 }, () => createSeenLookup(0)),
    );
    expect(source.requests).toBe(1);
  });

  test('is not shared with another source or key', async () => {
    const { source, question, lookup } = setUp();
    await lookup();
    await lookup(question({ key: 'b' }));
    await lookup(question({ source: 'other' }));
    expect(source.requests).toBe(3);
  });

  test('is found by the next process', async () => {
    const { cache, lookup } = setUp();
    await lookup();
    const nextProcess = setUp(cache);
    expect(await nextProcess.lookup()).toEqual(createSeenLookup(0));
    expect(nextProcess.source.requests).toBe(0);
  });
});

describe('while the source is down', () => {
  test('the last good answer stays in use, with its age, for 30 days', async () => {
    const { source, lookup, cache } = setUp();
    await lookup();
    source.answer = FAILED_ANSWER;
    cache.wait(2 * DAY_MS);
    expect(await lookup()).toEqual(createSeenLookup(2 * 86_400));
    cache.wait(28 * DAY_MS - 1_000);
    expect(await lookup()).toEqual(createSeenLookup(30 * 86_400 - 1));
    cache.wait(1_000);
    expect(await lookup()).toEqual({
      state: 'failed',
      source: 'index',
      detail: FAILED_ANSWER.detail,
    });
  });

  test('a question without an earlier answer fails, and the failure is not kept', async () => {
    const { source, lookup, cache } = setUp();
    source.answer = FAILED_ANSWER;
    expect(await lookup()).toEqual({
      state: 'failed',
      source: 'index',
      detail: FAILED_ANSWER.detail,
    });
    expect(cache.kept.size).toBe(0);
    source.answer = GOOD_ANSWER;
    expect(await lookup()).toEqual(createSeenLookup(0));
  });

  test('a source that asked for a pause is not asked until the pause is over', async () => {
    const { source, question, lookup, cache } = setUp();
    source.answer = toFailure('index answered 429', 60_000);
    expect(await lookup()).toMatchObject({ state: 'failed', detail: 'index answered 429' });
    source.answer = GOOD_ANSWER;
    cache.wait(59_999);
    expect(await lookup(question({ key: 'b' }))).toEqual({
      state: 'failed',
      source: 'index',
      detail: 'index answered 429, and is not asked again for the moment',
    });
    expect(source.requests).toBe(1);
    expect(await lookup(question({ source: 'other' }))).toMatchObject({ state: 'seen' });
    cache.wait(1);
    expect(await lookup()).toMatchObject({ state: 'seen', ageSec: 0 });
  });

  test('the last good answer stays in use during a pause too', async () => {
    const { source, question, lookup, cache } = setUp();
    await lookup();
    cache.wait(2 * HOUR_MS);
    source.answer = toFailure('index did not answer', 30_000);
    await lookup(question({ key: 'b' }));
    expect(await lookup()).toEqual(createSeenLookup(7_200));
    expect(source.requests).toBe(2);
  });
});

describe('a cache that fails', () => {
  test('still lets the answer of the source through', async () => {
    const failingCache: MemoryCache = {
      ...memoryCache(),
      get: () => Promise.reject(new Error('no store')),
      put: () => Promise.reject(new Error('no store')),
    };
    const { lookup, source } = setUp(failingCache);
    expect(await lookup()).toEqual(createSeenLookup(0));
    expect(await lookup()).toEqual(createSeenLookup(0));
    expect(source.requests).toBe(2);
  });

  test.each([['text'], [null], [{ of: 'another release' }]])(
    'is ignored, also if it holds the unknown answer %j instead',
    async (data) => {
      const { lookup, cache, source } = setUp();
      await cache.put({ source: 'index', key: 'a', takenAtMs: cache.now(), data });
      expect(await lookup()).toEqual(createSeenLookup(0));
      expect(source.requests).toBe(1);
      source.answer = FAILED_ANSWER;
      await cache.put({ source: 'index', key: 'a', takenAtMs: cache.now(), data });
      expect(await lookup()).toMatchObject({ state: 'failed' });
    },
  );

  test('asks the source again if its stored answer has a time in the future', async () => {
    const { lookup, cache, source } = setUp();
    await cache.put({ source: 'index', key: 'a', takenAtMs: cache.now() + DAY_MS, data: 8 });
    expect(await lookup()).toEqual(createSeenLookup(0));
    source.answer = FAILED_ANSWER;
    await cache.put({ source: 'index', key: 'a', takenAtMs: cache.now() + DAY_MS, data: 8 });
    expect(await lookup()).toMatchObject({ state: 'seen', ageSec: 0, data: 8 });
  });
});
