/** All scans share one budget of decoded text. Over the budget, the largest holder is ended. */
import { gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { NoRoom, TextBudget } from '../../../../src/scanner/probe/client/text-budget.ts';
import { ask, clientFor, startOrigin } from './harness.ts';

describe('a budget of text', () => {
  // First, because a timer of another test may still run.
  test('makes V8 count over 64 MiB, at which it collects, after the release of a long text', () => {
    const countedBytes: number[] = [];
    class CountedBuffer extends ArrayBuffer {
      constructor(bytes: number, options: { readonly maxByteLength?: number }) {
        super(bytes, options);
        countedBytes.push(this.byteLength);
      }
    }
    vi.useFakeTimers();
    vi.stubGlobal('ArrayBuffer', CountedBuffer);
    onTestFinished(() => {
      vi.useRealTimers();
      vi.unstubAllGlobals();
    });
    const budget = new TextBudget();
    const release = (characters: number) => {
      const share = budget.openShare(() => {});
      share.addCharacters(characters);
      share.release();
      share.release();
      vi.runAllTimers();
    };
    release(8 * 1_048_576);
    expect(countedBytes).toEqual([96 * 1_048_576]);
    release(1_000);
    // A thread that only reads short texts collects no more often.
    expect(countedBytes.slice(1)).toEqual([12_000]);
  });

  test('outlives a machine that has no memory for the buffer that V8 counts', () => {
    const refusedBytes: number[] = [];
    class RefusedBuffer {
      constructor(bytes: number) {
        refusedBytes.push(bytes);
        throw new RangeError('Array buffer allocation failed');
      }
    }
    vi.useFakeTimers();
    vi.stubGlobal('ArrayBuffer', RefusedBuffer);
    onTestFinished(() => {
      vi.useRealTimers();
      vi.unstubAllGlobals();
    });
    const share = new TextBudget().openShare(() => {});
    share.addCharacters(1_000);
    share.release();
    expect(() => vi.runAllTimers()).not.toThrow();
    expect(refusedBytes).toEqual([12_000]);
  });

  test('counts two bytes a character, and is saturated only above its limit', () => {
    const saturationChanges: boolean[] = [];
    const budget = new TextBudget({
      maxBytes: 20,
      onChange: (isSaturated) => saturationChanges.push(isSaturated),
    });
    const endedHolders: string[] = [];
    const share = budget.openShare(() => endedHolders.push('one'));
    share.addCharacters(10);
    expect([budget.isSaturated, endedHolders]).toEqual([false, []]);
    share.addCharacters(1);
    expect([budget.isSaturated, endedHolders]).toEqual([true, ['one']]);
    share.release();
    share.addCharacters(1_000);
    expect(budget.isSaturated).toBe(false);
    expect(saturationChanges).toEqual([true, false]);
  });

  test('ends the largest holder first, once, and counts its text until the holder is released', () => {
    const budget = new TextBudget({ maxBytes: 100 });
    const endedHolders: string[] = [];
    const [small, large, third] = ['small', 'large', 'third'].map((name) =>
      budget.openShare(() => endedHolders.push(name)),
    );
    large?.addCharacters(30);
    small?.addCharacters(10);
    third?.addCharacters(20);
    expect(endedHolders).toEqual(['large']);
    // The text of an ended holder ends no other one.
    large?.addCharacters(5);
    small?.addCharacters(20);
    expect(endedHolders).toEqual(['large']);
    third?.addCharacters(1);
    expect(endedHolders).toEqual(['large', 'small']);
    large?.release();
    expect(budget.isSaturated).toBe(true);
    small?.release();
    expect(budget.isSaturated).toBe(false);
  });

  test('is 128 MiB by default', () => {
    const budget = new TextBudget();
    const share = budget.openShare(() => {});
    share.addCharacters(64 * 1_048_576);
    expect(budget.isSaturated).toBe(false);
    share.addCharacters(1);
    expect(budget.isSaturated).toBe(true);
  });
});

describe('scans under one budget', () => {
  test.each(['plain', 'compressed'])('count %s text after it is read', async (encoding) => {
    const page = 'é'.repeat(50_000);
    const target = await startOrigin((request, response) => {
      const body = request.url === '/small' ? 'small' : page;
      if (encoding === 'plain') response.end(body);
      else response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(body));
    });
    const textBudget = new TextBudget({ maxBytes: 250_000 });
    const [largeClient, smallClient] = [
      clientFor(target, { textBudget }),
      clientFor(target, { textBudget }),
    ];
    const options = { capBytes: 1_048_576 };
    expect((await ask(smallClient, target, '/small', options)).ok).toBe(true);
    expect((await ask(largeClient, target, '/1', options)).ok).toBe(true);
    expect((await ask(largeClient, target, '/2', options)).ok).toBe(true);
    expect(textBudget.isSaturated).toBe(false);
    expect((await ask(largeClient, target, '/3', options)).ok).toBe(true);
    expect(textBudget.isSaturated).toBe(true);
    // Our lack of room is not an answer of the origin, so the scan fails.
    await expect(ask(largeClient, target, '/4', options)).rejects.toThrow(NoRoom);
    largeClient.close();
    expect(textBudget.isSaturated).toBe(false);
    expect((await ask(smallClient, target, '/small2', options)).ok).toBe(true);
  });
});

describe('bodies over 1 MiB', () => {
  const page = 'x'.repeat(1_500_000);
  const options = { capBytes: 2_000_000 };

  async function startLargeOrigin(encoding: string) {
    return startOrigin((request, response) => {
      const body = request.url === '/small' ? 'small' : page;
      if (encoding === 'plain') response.end(body);
      else response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(body));
    });
  }

  test.each(['plain', 'compressed'])('%s ones are read in turn', async (encoding) => {
    const target = await startLargeOrigin(encoding);
    const textBudget = new TextBudget({ maxBytes: 5_000_000 });
    const [first, second, third] = [1, 2, 3].map(() => clientFor(target, { textBudget }));
    if (!first || !second || !third) throw new Error('three clients');
    expect(await ask(first, target, '/1', options)).toMatchObject({ ok: true, truncated: false });
    const waiting = ask(second, target, '/2', options);
    expect(await ask(third, target, '/small', options)).toMatchObject({ ok: true });
    first.close();
    const answer = await waiting;
    expect(answer).toMatchObject({ ok: true, truncated: false });
    expect(answer.ok && answer.data.body.length).toBe(page.length);
  });

  test.each(['plain', 'compressed'])('a %s one without room is our fault', async (encoding) => {
    const target = await startLargeOrigin(encoding);
    const textBudget = new TextBudget({ maxBytes: 5_000_000, maxWaitMs: 50 });
    const [first, second] = [clientFor(target, { textBudget }), clientFor(target, { textBudget })];
    expect((await ask(first, target, '/1', options)).ok).toBe(true);
    await expect(ask(second, target, '/2', options)).rejects.toThrow(NoRoom);
    first.close();
    expect((await ask(clientFor(target, { textBudget }), target, '/3', options)).ok).toBe(true);
  });

  test('one that is longer than its cap needs no more room than the cap', async () => {
    const target = await startLargeOrigin('plain');
    const client = clientFor(target, { textBudget: new TextBudget({ maxBytes: 2_400_000 }) });
    const answer = await ask(client, target, '/1', { capBytes: 1_200_000 });
    expect(answer).toMatchObject({ ok: true, truncated: true });
  });
});
