/** Both stores: publication. */
import { describe, expect, test } from 'vitest';
import { HISTORY_ROWS_PER_HOST } from '../../../../src/service/store/directory.ts';
import { issuedToken, publishedScan } from './samples.ts';
import type { ContractSubject } from './subject.ts';

export function publishingRepeats(subject: ContractSubject): void {
  describe('publishing', () => {
    test('writes record, history and change, with every member', async () => {
      const store = await subject.fresh();
      const scan = publishedScan();
      expect(await store.directory.get(scan.host)).toBeNull();
      expect(await store.directory.findGrade(scan.host)).toBeNull();
      await store.publish({ ...scan, payableBy: 'settings' });
      const again = await subject.restart(store);
      expect(await again.directory.get(scan.host)).toEqual({
        ...scan,
        payableBy: 'settings',
        firstSeenAtMs: scan.scannedAtMs,
        availability: null,
        scanCount: 1,
        verified: false,
        listed: true,
        enrichmentSuppressed: false,
      });
      const { scanId, grade, score, scannedAtMs, checksVersion } = scan;
      expect(await again.history.list(scan.host)).toEqual([
        { scanId, grade, score, scannedAtMs, checksVersion, payableBy: 'settings' },
      ]);
      expect((await again.changes.list({ sinceMs: 0, limit: 10 })).changes).toHaveLength(1);
    });

    test('lists a host from the first scan that reached it, and announces it then', async () => {
      const store = await subject.fresh();
      const host = 'typo.example.com';
      const query = { sort: 'recent', q: '', page: 0, pageSize: 9 } as const;
      const shown = async () => {
        const { directory, changes, exports } = store;
        const lists = [
          await directory.list(query),
          await directory.list({ ...query, q: 'typo' }),
          await directory.list({ ...query, category: 'data', sort: 'grade' }),
          await directory.list({ ...query, grade: 'A', sinceMs: 0 }),
          await exports.takeSnapshot(9),
        ];
        const changeRows = (await changes.list({ sinceMs: 0, limit: 9 })).changes;
        const grades = Object.values(await directory.countByGrade()).reduce((sum, n) => sum + n, 0);
        return { counts: [...lists.map(({ count }) => count), grades], told: changeRows };
      };
      const at = (scannedAtMs: number) => ({ host, scannedAtMs, grade: 'A' }) as const;
      await store.publish(publishedScan({ ...at(1_000), reached: false }));
      await store.publish(publishedScan({ ...at(2_000), reached: false }));
      expect(await shown()).toEqual({ counts: [0, 0, 0, 0, 0, 0], told: [] });
      expect(await store.directory.get(host)).toMatchObject({ scanCount: 2, reached: false });
      expect(await store.directory.findGrade(host)).toMatchObject({ grade: 'A' });

      await store.publish(publishedScan(at(3_000)));
      const reached = await shown();
      expect(reached.counts).toEqual([1, 1, 1, 1, 1, 1]);
      expect(reached.told).toMatchObject([{ changeType: 'new', host }]);
      // The host was reached once, so a later scan without an answer is a change.
      await store.publish(publishedScan({ ...at(4_000), grade: 'F', reached: false }));
      expect((await shown()).told).toMatchObject([
        { changeType: 'new', grade: 'A' },
        { changeType: 'grade_changed', grade: 'F', previousGrade: 'A' },
      ]);
    });

    test('does nothing the second time, in sequence or in parallel', async () => {
      const store = await subject.fresh();
      const scan = publishedScan();
      await Promise.all(Array.from({ length: 8 }, () => store.publish(scan)));
      await store.publish(scan);
      expect((await store.directory.get(scan.host))?.scanCount).toBe(1);
      expect(await store.history.list(scan.host)).toHaveLength(1);
      expect((await store.changes.list({ sinceMs: 0, limit: 10 })).changes).toHaveLength(1);
    });

    test('keeps the record of the newest scan when an older one is published late', async () => {
      const store = await subject.fresh();
      const newer = publishedScan({ grade: 'A', score: 95 });
      const older = publishedScan({ grade: 'F', score: 3, scannedAtMs: newer.scannedAtMs - 1 });
      await store.publish(newer);
      await store.publish(older);
      expect(await store.directory.get(newer.host)).toMatchObject({
        scanId: newer.scanId,
        grade: 'A',
        scanCount: 2,
        firstSeenAtMs: older.scannedAtMs,
      });
      expect((await store.history.list(newer.host)).map((row) => row.scanId)).toEqual([
        older.scanId,
        newer.scanId,
      ]);
    });

    test('returns the grade of the newest scan, and at once if that is another one', async () => {
      const store = await subject.fresh();
      const first = publishedScan({ grade: 'A', score: 95 });
      const later = { grade: 'F', score: 3, counts: { pass: 1, warn: 2, fail: 22 } } as const;
      const second = publishedScan({ ...later, scannedAtMs: first.scannedAtMs + 1 });
      for (const { scannedAtMs, grade, score, counts, ...scan } of [first, second]) {
        await store.publish({ scannedAtMs, grade, score, counts, ...scan });
        const rating = { scannedAtMs, grade, score, counts };
        expect(await store.directory.findGrade(scan.host)).toMatchObject(rating);
      }
    });

    test('ends at the newest scan if many of one host are published at once', async () => {
      const store = await subject.fresh();
      const scans = Array.from({ length: 12 }, (_, index) =>
        publishedScan({ scannedAtMs: 1_000 + ((index * 7) % 12), score: (index * 7) % 12 }),
      );
      await Promise.all(scans.map((scan) => store.publish(scan)));
      expect(await store.directory.get('api.example.com')).toMatchObject({
        scannedAtMs: 1_011,
        score: 11,
        scanCount: 12,
        firstSeenAtMs: 1_000,
      });
      const { changes } = await store.changes.list({ sinceMs: 0, limit: 50 });
      expect(changes.map((change) => change.n)).toEqual(scans.map((_, index) => index + 1));
      expect(changes.filter((change) => change.changeType === 'new')).toHaveLength(1);
    });

    test('keeps the newest 400 rows of a host, and counts all', async () => {
      const store = await subject.fresh();
      const host = 'api.example.com';
      await subject.seedHistory(store, host, HISTORY_ROWS_PER_HOST - 1, 1_000);
      for (const scannedAtMs of [8_000, 8_001, 8_002, 8_003]) {
        await store.publish(publishedScan({ scannedAtMs }));
      }
      const history = await store.history.list(host, 10_000);
      expect(history).toHaveLength(HISTORY_ROWS_PER_HOST);
      expect(history.at(0)?.scannedAtMs).toBe(1_003);
      expect(history.at(-1)?.scannedAtMs).toBe(8_003);
      expect(await store.history.list(host, 2)).toEqual(history.slice(-2));
      expect(await store.directory.get(host)).toMatchObject({
        scanCount: HISTORY_ROWS_PER_HOST + 3,
        firstSeenAtMs: 1_000,
      });
    });

    test('returns the present record, however often it was read before', async () => {
      const store = await subject.fresh();
      const host = 'api.example.com';
      const read = async () => {
        await store.directory.get(host);
        return store.directory.get(host);
      };
      expect(await read()).toBeNull();
      await store.publish(publishedScan({ score: 70, scannedAtMs: 1_000 }));
      expect(await read()).toMatchObject({ score: 70, scanCount: 1, verified: false });
      await store.ownership.recordConfirm(host, issuedToken('hash'));
      expect(await read()).toMatchObject({ verified: true, listed: true });
      await store.listing.set(host, { listed: false });
      expect(await read()).toMatchObject({ listed: false, enrichmentSuppressed: false });
      await store.listing.set(host, { enrichmentSuppressed: true });
      expect(await read()).toMatchObject({ listed: false, enrichmentSuppressed: true });
      await store.publish(publishedScan({ score: 80, scannedAtMs: 2_000 }));
      expect(await read()).toMatchObject({ score: 80, scanCount: 2, listed: false });
      await store.listing.set(host, { listed: true });
      expect(await read()).toMatchObject({ score: 80, listed: true });
    });

    test("keeps the settings of the host's owner", async () => {
      const store = await subject.fresh();
      const host = 'api.example.com';
      await store.ownership.recordConfirm(host, issuedToken('hash'));
      await store.listing.set(host, { listed: false, enrichmentSuppressed: true });
      await store.publish(publishedScan());
      const again = await subject.restart(store);
      await again.publish(publishedScan());
      expect(await again.directory.get(host)).toMatchObject({
        verified: true,
        listed: false,
        enrichmentSuppressed: true,
      });
    });
  });
}
