/** Both stores: the feed of changes. */
import { describe, expect, test } from 'vitest';
import type { DirectoryChange } from '../../../../src/service/store/changes.ts';
import type { Store } from '../../../../src/service/store/store.ts';
import { publishedScan } from './samples.ts';
import type { ContractSubject } from './subject.ts';
import { freshWithClock } from './test-clock.ts';

export function changesAreNumbered(subject: ContractSubject): void {
  describe('changes', () => {
    test('say new, rescanned and grade_changed, with the earlier values', async () => {
      const { clock, store } = await freshWithClock(subject);
      const startMs = clock.now();
      const scans = [
        publishedScan({ grade: 'B', score: 84, scannedAtMs: 1_000 }),
        publishedScan({ grade: 'B', score: 81, scannedAtMs: 1_001 }),
        publishedScan({ grade: 'F', score: 20, scannedAtMs: 1_002 }),
      ];
      for (const scan of scans) {
        await store.publish(scan);
        clock.advance(1_000);
      }
      const checksVersion = '2026-08-14.2';
      const host = 'api.example.com';
      const common = { host, checksVersion };
      expect(await store.changes.list({ sinceMs: 0, limit: 10 })).toEqual({
        hasMore: false,
        changes: [
          {
            ...common,
            n: 1,
            scanId: scans[0]?.scanId,
            changeType: 'new',
            changedAtMs: startMs,
            grade: 'B',
            score: 84,
          },
          {
            ...common,
            n: 2,
            scanId: scans[1]?.scanId,
            changeType: 'rescanned',
            changedAtMs: startMs + 1_000,
            grade: 'B',
            score: 81,
          },
          {
            ...common,
            n: 3,
            scanId: scans[2]?.scanId,
            changeType: 'grade_changed',
            changedAtMs: startMs + 2_000,
            grade: 'F',
            score: 20,
            previousGrade: 'B',
            previousScore: 81,
          },
        ],
      });
    });

    test('announce the current record when an older scan is published late', async () => {
      const store = await subject.fresh();
      await store.publish(publishedScan({ grade: 'A', score: 92, scannedAtMs: 2_000 }));
      await store.publish(publishedScan({ grade: 'F', score: 1, scannedAtMs: 1_000 }));
      const { changes } = await store.changes.list({ sinceMs: 0, limit: 10 });
      expect(changes.map(({ changeType, grade }) => [changeType, grade])).toEqual([
        ['new', 'A'],
        ['rescanned', 'A'],
      ]);
    });

    test('have strictly increasing times while the clock stands still or runs back', async () => {
      const { clock, store } = await freshWithClock(subject);
      const startMs = clock.now();
      for (const host of ['a.com', 'b.com', 'c.com']) {
        await store.publish(publishedScan({ host }));
        clock.advance(-10);
      }
      const { changes } = await store.changes.list({ sinceMs: 0, limit: 10 });
      expect(changes.map((change) => change.changedAtMs)).toEqual([
        startMs,
        startMs + 1,
        startMs + 2,
      ]);
    });

    test('have times of whole milliseconds, which their texts show in full', async () => {
      const store = await subject.fresh();
      await store.publish(publishedScan({}));
      const { changes } = await store.changes.list({ sinceMs: 0, limit: 10 });
      expect(changes.map(({ changedAtMs }) => Number.isInteger(changedAtMs))).toEqual([true]);
    });

    test('are paged by the time of the last change, which the next page excludes', async () => {
      const { store } = await freshWithClock(subject);
      for (let index = 0; index < 7; index += 1) {
        await store.publish(publishedScan({ host: `h${index}.com` }));
      }
      const pages = await allPages(store, 3);
      expect(pages.map((page) => page.length)).toEqual([3, 3, 1]);
      expect(pages.flat().map((change) => change.n)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    });

    test('announce a further page only if it has a change', async () => {
      const store = await subject.fresh();
      for (const host of ['a.com', 'b.com']) await store.publish(publishedScan({ host }));
      expect((await store.changes.list({ sinceMs: 0, limit: 1 })).hasMore).toBe(true);
      expect((await store.changes.list({ sinceMs: 0, limit: 2 })).hasMore).toBe(false);
    });

    test('are read newest first, without hosts that are opted out now', async () => {
      const store = await subject.fresh();
      for (const host of ['a.com', 'b.com', 'c.com', 'd.com']) {
        await store.publish(publishedScan({ host }));
      }
      await store.listing.set('c.com', { listed: false });
      const hosts = async (limit: number) =>
        (await store.changes.findNewest(limit)).map(({ host }) => host);
      expect(await hosts(10)).toEqual(['d.com', 'b.com', 'a.com']);
      expect(await hosts(3)).toEqual(['d.com', 'b.com']);
    });

    test('leave out hosts that are opted out now, and show them again when they return', async () => {
      const store = await subject.fresh();
      for (const host of ['a.com', 'b.com', 'a.com']) await store.publish(publishedScan({ host }));
      await store.listing.set('a.com', { listed: false });
      const { changes, hasMore } = await store.changes.list({ sinceMs: 0, limit: 1 });
      expect([changes.map((change) => change.host), hasMore]).toEqual([['b.com'], false]);
      await store.listing.set('a.com', { listed: true });
      const back = (await store.changes.list({ sinceMs: 0, limit: 9 })).changes;
      expect(back.map(({ n, host, changeType }) => [n, host, changeType])).toEqual([
        [1, 'a.com', 'new'],
        [2, 'b.com', 'new'],
        [3, 'a.com', 'rescanned'],
        [4, 'a.com', 'new'],
      ]);
    });

    test('include no scan made while opted out, and show the host as new when it returns', async () => {
      const store = await subject.fresh();
      const host = 'a.com';
      await store.listing.set(host, { listed: false });
      await store.publish(publishedScan({ host, grade: 'B', scannedAtMs: 1_000 }));
      await store.publish(publishedScan({ host, grade: 'A', scannedAtMs: 2_000 }));
      const listChanges = async () => (await store.changes.list({ sinceMs: 0, limit: 9 })).changes;
      expect(await listChanges()).toEqual([]);
      await store.listing.set(host, { listed: true });
      expect(await listChanges()).toMatchObject([{ n: 3, changeType: 'new', grade: 'A' }]);
      await store.listing.set(host, { listed: true });
      await store.publish(publishedScan({ host, grade: 'F', scannedAtMs: 3_000 }));
      expect(await listChanges()).toMatchObject([
        { changeType: 'new' },
        { changeType: 'grade_changed', previousGrade: 'A' },
      ]);
    });

    test('continue after a restart', async () => {
      const store = await subject.fresh();
      await store.publish(publishedScan({ host: 'a.com' }));
      const again = await subject.restart(store);
      await again.publish(publishedScan({ host: 'b.com' }));
      const { changes } = await again.changes.list({ sinceMs: 0, limit: 9 });
      expect(changes.map(({ n, host }) => [n, host])).toEqual([
        [1, 'a.com'],
        [2, 'b.com'],
      ]);
    });
  });
}

export async function allPages(
  { changes }: Store,
  limit: number,
): Promise<readonly (readonly DirectoryChange[])[]> {
  const pages: (readonly DirectoryChange[])[] = [];
  for (let sinceMs = 0; ; ) {
    const page = await changes.list({ sinceMs, limit });
    pages.push(page.changes);
    sinceMs = page.changes.at(-1)?.changedAtMs ?? sinceMs;
    if (!page.hasMore) return pages;
  }
}
