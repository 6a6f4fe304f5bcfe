/** Both stores: all instances count the requests of a key together. */
import { describe, expect, test } from 'vitest';
import type { ContractSubject } from './subject.ts';
import { freshWithClock, MINUTE_MS } from './test-clock.ts';

export function limitsCount(subject: ContractSubject): void {
  describe('rate limits', () => {
    test('count the requests of a key in windows of fixed length', async () => {
      const { clock, limits } = await freshWithClock(subject);
      clock.advance(MINUTE_MS / 2);
      const resetAtMs = clock.now() + MINUTE_MS / 2;
      expect(await limits.hit('client-1', MINUTE_MS)).toEqual({ count: 1, resetAtMs });
      expect(await limits.hit('client-1', MINUTE_MS)).toEqual({ count: 2, resetAtMs });
      expect(await limits.hit('client-2', MINUTE_MS)).toEqual({ count: 1, resetAtMs });
      clock.advance(MINUTE_MS / 2 - 1);
      expect((await limits.hit('client-1', MINUTE_MS)).count).toBe(3);
      clock.advance(1);
      expect(await limits.hit('client-1', MINUTE_MS)).toEqual({
        count: 1,
        resetAtMs: resetAtMs + MINUTE_MS,
      });
    });
  });
}
