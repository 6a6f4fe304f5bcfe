/** Both stores: snapshots of third parties. */
import { describe, expect, test } from 'vitest';
import type { ContractSubject } from './subject.ts';

export function snapshotsStandIn(subject: ContractSubject): void {
  describe('ecosystem snapshots', () => {
    test('keep the newest of each source and key, after a restart too', async () => {
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

    test('refuse a snapshot that is too large', async () => {
      const { snapshots } = await subject.fresh();
      const data = 'x'.repeat(9 * 1024 * 1024);
      const put = snapshots.put({ source: 's', key: 'k', takenAtMs: 1, data });
      await expect(put).rejects.toMatchObject({ code: 'too_large' });
    });
  });
}
