/** Both stores: snapshots and verdicts of third parties. */
import { describe, expect, it } from 'vitest';
import { VERDICT_LIFETIME_MS } from '../../../src/store/contract/snapshots.ts';
import type { ContractSubject } from './subject.ts';
import { TestClock } from './test-clock.ts';

export function snapshotsStandIn(subject: ContractSubject): void {
  describe('ecosystem snapshots', () => {
    it('keep the newest of each source and key, after a restart too', async () => {
      const store = await subject.fresh();
      const snapshot = { source: 'x402scan', key: 'api.example.com', takenAtMs: 2_000 };
      await store.snapshots.put({ ...snapshot, data: { resources: [] } });
      await store.snapshots.put({ ...snapshot, takenAtMs: 3_000, data: { resources: ['a.b$c'] } });
      await store.snapshots.put({ ...snapshot, takenAtMs: 1_000, data: 'older' });
      await store.snapshots.put({ ...snapshot, source: 'bazaar', data: null });
      const { snapshots } = await subject.restart(store);
      expect(await snapshots.get('x402scan', 'api.example.com')).toEqual({
        ...snapshot,
        takenAtMs: 3_000,
        data: { resources: ['a.b$c'] },
      });
      expect((await snapshots.get('bazaar', 'api.example.com'))?.data).toBeNull();
      expect(await snapshots.get('x402scan', 'other.com')).toBeNull();
    });

    it('refuse what is too large', async () => {
      const { snapshots } = await subject.fresh();
      const data = 'x'.repeat(9 * 1024 * 1024);
      const put = snapshots.put({ source: 's', key: 'k', takenAtMs: 1, data });
      await expect(put).rejects.toMatchObject({ code: 'too_large' });
    });

    it('keep the last verdicts of a host for 30 days', async () => {
      const clock = new TestClock();
      const { snapshots } = await subject.fresh({ clock: clock.now });
      const startMs = clock.now();
      const verdict = { host: 'api.example.com', checkId: 'D1', atMs: startMs };
      await snapshots.putVerdict({ ...verdict, data: { status: 'warn' } });
      await snapshots.putVerdict({ ...verdict, atMs: startMs + 1, data: { status: 'pass' } });
      await snapshots.putVerdict({ ...verdict, data: { status: 'fail' } });
      await snapshots.putVerdict({ ...verdict, checkId: 'D3', data: { status: 'warn' } });
      await snapshots.putVerdict({ ...verdict, host: 'other.com', data: 1 });

      clock.advance(VERDICT_LIFETIME_MS);
      const both = await snapshots.verdicts('api.example.com');
      expect([...both].toSorted(([a], [b]) => a.localeCompare(b))).toEqual([
        ['D1', { atMs: startMs + 1, data: { status: 'pass' } }],
        ['D3', { atMs: startMs, data: { status: 'warn' } }],
      ]);
      clock.advance(1);
      expect([...(await snapshots.verdicts('api.example.com')).keys()]).toEqual(['D1']);
      clock.advance(1);
      expect((await snapshots.verdicts('api.example.com')).size).toBe(0);
    });
  });
}
