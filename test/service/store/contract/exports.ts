/** Both stores: snapshots of the whole directory. */
import { describe, expect, test } from 'vitest';
import { collect, publishedScan } from './samples.ts';
import type { ContractSubject } from './subject.ts';

export function exportsAreConsistent(subject: ContractSubject): void {
  describe('export', () => {
    test('streams every listed record with its history, newest scan first', async () => {
      const store = await subject.fresh();
      for (const [index, host] of ['a.com', 'b.com', 'c.com', 'a.com'].entries()) {
        await store.publish(publishedScan({ host, scannedAtMs: 1_000 + index, score: index }));
      }
      await store.listing.set('b.com', { listed: false });
      const { count, truncated, records } = await store.exports.takeSnapshot(10);
      expect([count, truncated]).toEqual([2, false]);
      const exported = await collect(records);
      expect(exported.map(({ host, scanCount }) => [host, scanCount])).toEqual([
        ['a.com', 2],
        ['c.com', 1],
      ]);
      expect(exported[0]?.history.map((row) => row.score)).toEqual([0, 3]);
      expect(exported[0]).toMatchObject({ firstSeenAtMs: 1_000, listed: true, verified: false });
    });

    test.each([
      [2, 2, true],
      [3, 3, false],
    ])('has at most %i records: %i, truncated: %s', async (limit, expected, isTruncated) => {
      const store = await subject.fresh();
      for (const host of ['a.com', 'b.com', 'c.com']) await store.publish(publishedScan({ host }));
      const { count, truncated, records } = await store.exports.takeSnapshot(limit);
      expect([count, truncated]).toEqual([expected, isTruncated]);
      expect(await collect(records)).toHaveLength(expected);
    });

    test('shows nothing that was published after it was taken', async () => {
      const store = await subject.fresh();
      for (const host of ['a.com', 'b.com']) {
        await store.publish(publishedScan({ host, scannedAtMs: 1_000, grade: 'A' }));
      }
      const { records } = await store.exports.takeSnapshot(10);
      await store.publish(publishedScan({ host: 'a.com', scannedAtMs: 2_000, grade: 'F' }));
      await store.publish(publishedScan({ host: 'new.com', scannedAtMs: 2_000 }));
      const exported = await collect(records);
      expect(exported.map((record) => record.grade)).toEqual(['A', 'A']);
      expect(exported.map((record) => record.history.length)).toEqual([1, 1]);
    });

    test('of an empty directory is empty', async () => {
      const { exports } = await subject.fresh();
      const { count, truncated, records } = await exports.takeSnapshot(10);
      expect([count, truncated, await collect(records)]).toEqual([0, false, []]);
    });
  });
}
