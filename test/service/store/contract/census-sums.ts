/** Both stores add up the words of the census, and announce its scans. */
import { describe, expect, test } from 'vitest';
import { DAY_WORDS, type DayWord } from '../../../../src/scanner/model/payability.ts';
import { openCensus, say } from './census.ts';
import { publishedScan } from './samples.ts';
import type { ContractSubject } from './subject.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from './test-clock.ts';

const HOST = 'api.example.com';
/** The test clock begins at noon. */
const TO_FOLD_MS = 12 * HOUR_MS + 30 * MINUTE_MS;

export function censusAddsUp(subject: ContractSubject): void {
  describe('words of the last day', () => {
    test('are counted when the day is over, without hosts that are opted out at that time', async () => {
      const hosts = Array.from({ length: 14 }, (_, n) => `h${n}.example.com`);
      const { clock, store } = await openCensus(subject, hosts);
      expect(await store.census.countWordsOfLastDay()).toBeNull();
      for (const [n, host] of hosts.entries()) {
        await say(store, clock, host, DAY_WORDS[Math.floor(n / 4)] ?? 'down');
      }
      await store.purge(clock.now());
      expect(await store.census.countWordsOfLastDay()).toBeNull();
      await store.listing.set('h0.example.com', { listed: false });
      await store.purge(clock.advance(TO_FOLD_MS - 1));
      expect(await store.census.countWordsOfLastDay()).toBeNull();
      await store.purge(clock.advance(1));
      const counts = { payable: 3, not_payable: 4, down: 4, not_checked: 2 };
      expect(await store.census.countWordsOfLastDay()).toEqual(counts);
      // Later changes of words and listing do not change the count of the day.
      await store.listing.set('h0.example.com', { listed: true });
      await store.census.remove('h1.example.com');
      await store.purge(clock.advance(HOUR_MS));
      expect(await store.census.countWordsOfLastDay()).toEqual(counts);
    });

    test('are those of the newest day with 10 origins, for a month', async () => {
      const hosts = Array.from({ length: 10 }, (_, n) => `h${n}.example.com`);
      const { clock, store } = await openCensus(subject, hosts);
      const sayAll = async (some: readonly string[], word: DayWord) => {
        for (const host of some) await say(store, clock, host, word);
        await store.purge(clock.advance(DAY_MS));
      };
      await sayAll(hosts.slice(0, 9), 'payable');
      expect(await store.census.countWordsOfLastDay()).toBeNull();
      await sayAll(hosts, 'down');
      const counts = { payable: 0, not_payable: 0, down: 10, not_checked: 0 };
      expect(await store.census.countWordsOfLastDay()).toEqual(counts);
      await sayAll(hosts.slice(1), 'payable');
      expect(await store.census.countWordsOfLastDay()).toEqual(counts);
      await Promise.all([store.purge(clock.now()), store.purge(clock.now())]);
      expect(await store.census.countWordsOfLastDay()).toEqual(counts);
      await store.purge(clock.advance(29 * DAY_MS));
      expect(await store.census.countWordsOfLastDay()).toEqual(counts);
      await store.purge(clock.advance(DAY_MS));
      expect(await store.census.countWordsOfLastDay()).toBeNull();
    });
  });

  describe("a census's scan", () => {
    test('is stored in record and history as an unpaid scan', async () => {
      const store = await subject.fresh();
      await store.publish(publishedScan({ host: HOST, scannedAtMs: 1_000, paidBy: 'census' }));
      expect((await store.directory.get(HOST))?.paidBy).toBe('census');
      await store.publish(publishedScan({ host: HOST, scannedAtMs: 2_000 }));
      expect((await store.directory.get(HOST))?.paidBy).toBeUndefined();
      expect(await store.history.list(HOST)).toHaveLength(2);
    });

    test('adds a change that readers see only if the host is new or its grade moved', async () => {
      const store = await subject.fresh();
      const scans = [
        { grade: 'B', paidBy: 'census' },
        { grade: 'B', paidBy: 'census' },
        { grade: 'C', paidBy: 'census' },
        { grade: 'C', paidBy: 'census' },
        { grade: 'C' },
        { grade: 'B' },
        { grade: 'B', paidBy: 'census' },
      ] as const;
      for (const [n, scan] of scans.entries()) {
        await store.publish(publishedScan({ host: HOST, scannedAtMs: 1_000 + n, ...scan }));
      }
      const expected = [
        [1, 'new', 'B'],
        [3, 'grade_changed', 'C'],
        [5, 'rescanned', 'C'],
        [6, 'grade_changed', 'B'],
      ];
      const { changes } = await store.changes.list({ sinceMs: 0, limit: 10 });
      expect(changes.map(({ n, changeType, grade }) => [n, changeType, grade])).toEqual(expected);
      const newest = await store.changes.findNewest(10);
      expect(newest.map(({ n }) => n)).toEqual([6, 5, 3, 1]);
      expect((await store.directory.get(HOST))?.scanCount).toBe(7);
      // The scan still makes cached answers outdated.
      expect((await store.directory.readVersions()).published).toBe('7');
    });

    test('is announced as new when its host is listed again', async () => {
      const store = await subject.fresh();
      await store.publish(publishedScan({ host: HOST, scannedAtMs: 1_000, paidBy: 'census' }));
      await store.listing.set(HOST, { listed: false });
      await store.publish(publishedScan({ host: HOST, scannedAtMs: 2_000, paidBy: 'census' }));
      await store.listing.set(HOST, { listed: true });
      const { changes } = await store.changes.list({ sinceMs: 0, limit: 10 });
      expect(changes.map(({ n, changeType }) => [n, changeType])).toEqual([
        [1, 'new'],
        [3, 'new'],
      ]);
    });
  });
}
