/** Both stores: shares, one insert each. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Store } from '../../../src/store/contract/store.ts';
import type { ContractSubject } from './subject.ts';
import { HOUR_MS, TestClock } from './test-clock.ts';

const LIFETIME_MS = 60_000;

export function sharesAreCounted(subject: ContractSubject): void {
  describe('shares', () => {
    it('are taken up to the limit, and again after a release', async () => {
      const store = await subject.fresh();
      const first = await take(store, 2);
      expect(first).not.toBeNull();
      expect(await take(store, 2)).not.toBeNull();
      expect(await take(store, 2)).toBeNull();
      expect(await take(store, 3)).not.toBeNull();
      if (first) await store.shares.release(first);
      expect(await take(store, 3)).not.toBeNull();
      expect(await take(store, 3)).toBeNull();
    });

    it('are as many as the limit, however many race for them', async () => {
      const store = await subject.fresh();
      const taken = await Promise.all(Array.from({ length: 20 }, () => take(store, 5)));
      expect(taken.filter((share) => share !== null)).toHaveLength(5);
    });

    it('keep holders apart, and tell a taker whose reply was lost that it has one', async () => {
      const store = await subject.fresh();
      const request = { holder: 'a', limit: 1, attempt: randomUUID(), lifetimeMs: LIFETIME_MS };
      const first = await store.shares.take(request);
      expect(await store.shares.take(request)).toEqual(first);
      expect(await take(store, 1, 'b')).not.toBeNull();
    });

    it('end when they expire, and are purged', async () => {
      const clock = new TestClock();
      const store = await subject.fresh({ clock: clock.now });
      const late = await take(store, 1);
      clock.advance(LIFETIME_MS - 1);
      expect(await take(store, 1)).toBeNull();
      clock.advance(1);
      expect(await take(store, 1)).not.toBeNull();
      if (late) await store.shares.release(late);
      expect(await take(store, 1)).toBeNull();
      expect((await store.purge(clock.advance(HOUR_MS + LIFETIME_MS))).other).toBeGreaterThan(0);
    });

    it('end with their owner, unless they are to outlive it', async () => {
      const store = await subject.fresh();
      const request = { limit: 1, lifetimeMs: LIFETIME_MS };
      await store.shares.take({ ...request, holder: 'open', attempt: randomUUID() });
      await store.shares.take({
        ...request,
        holder: 'guesses',
        attempt: randomUUID(),
        outlivesOwner: true,
      });
      const again = await subject.restart(store);
      expect(await take(again, 1, 'open')).not.toBeNull();
      expect(await take(again, 1, 'guesses')).toBeNull();
    });
  });
}

function take(store: Store, limit: number, holder = 'payer') {
  return store.shares.take({ holder, limit, attempt: randomUUID(), lifetimeMs: LIFETIME_MS });
}
