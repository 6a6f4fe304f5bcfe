/** Both stores: the keys that sign reports. */
import { describe, expect, test } from 'vitest';
import { openSigningKey } from '../../../../src/service/keys/open-signing-key.ts';
import type { ContractSubject } from './subject.ts';
import { DAY_MS, freshWithClock } from './test-clock.ts';

const KEPT_DAYS = 90;
const key = (n: number) => ({ n, kid: `kid ${n}`, publicKey: `x${n}`, privateKey: null });

export function signingKeysFollow(subject: ContractSubject): void {
  describe('signing keys', () => {
    test('are the same for all instances that start at once, and stay', async () => {
      const store = await subject.fresh();
      const opened = await Promise.all(
        Array.from({ length: 20 }, () => openSigningKey(store.signingKeys, null)),
      );
      const again = await subject.restart(store);
      const kept = await openSigningKey(again.signingKeys, null);
      expect(new Set([...opened, kept].map(({ kid }) => kid)).size).toBe(1);
      expect(await again.signingKeys.list()).toHaveLength(1);
    });

    test('follow one another, each number once', async () => {
      const { clock, signingKeys } = await freshWithClock(subject);
      const first = { ...key(1), privateKey: 'pem' };
      await signingKeys.append(first);
      const sinceMs = clock.now();
      clock.advance(DAY_MS);
      await signingKeys.append(key(2));
      await signingKeys.append({ ...key(2), kid: 'late' });
      expect(await signingKeys.list()).toEqual([
        { ...first, sinceMs },
        { ...key(2), sinceMs: clock.now() },
      ]);
    });

    test('are deleted 90 days after their replacement; the one in use never is', async () => {
      const { clock, store } = await freshWithClock(subject);
      await store.signingKeys.append(key(1));
      clock.advance(DAY_MS);
      await store.signingKeys.append(key(2));
      const left = async (nowMs: number) => {
        await store.purge(nowMs);
        return (await store.signingKeys.list()).map(({ n }) => n);
      };
      expect(await left(clock.advance(KEPT_DAYS * DAY_MS - 1))).toEqual([1, 2]);
      expect(await left(clock.advance(1))).toEqual([2]);
      expect(await left(clock.advance(1_000 * DAY_MS))).toEqual([2]);
    });
  });
}
