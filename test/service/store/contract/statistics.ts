/** Both stores: sums over hosts and days equal a count by hand. */
import { describe, expect, test } from 'vitest';
import type { ScanReport } from '../../../../src/scanner/model/report.ts';
import { readStatistics } from '../../../../src/service/directory/statistics.ts';
import { toTally } from '../../../../src/service/scans/finished-scan.ts';
import { utcDay } from '../../../../src/service/store/statistics.ts';
import type { Store } from '../../../../src/service/store/store.ts';
import { diceOf } from '../../../fixtures/dice.ts';
import { publishedScan } from './samples.ts';
import {
  type Block,
  blocksOf,
  CHECKS,
  MIN_BLOCK_ORIGINS,
  recount,
  reportOf,
} from './statistics-by-hand.ts';
import type { ContractSubject } from './subject.ts';
import { DAY_MS, freshWithClock, HOUR_MS, MINUTE_MS, type TestClock } from './test-clock.ts';

const TALLY = ['origins', 'grade B'];
/** The test clock begins at noon. */
const TO_MIDNIGHT_MS = 12 * HOUR_MS;
const CLOSED_MS = 5 * MINUTE_MS;
/** Number of publications on each day. Some days have few origins. */
const SCANS = [30, 4, 24, 3, 3, 2, 40, 0, 5, 24, 6, 24] as const;

export function statisticsSum(subject: ContractSubject): void {
  describe('statistics', () => {
    test('equal a count by hand of the same scans, in blocks of folded days', async () => {
      let { clock, store } = await freshWithClock(subject);
      const dice = diceOf(29);
      const days = new Map<number, Map<string, ScanReport>>();
      let foldedBefore = utcDay(clock.now());
      const expectRecount = () => expectAnswers(store, clock, blocksOf(days, foldedBefore));
      for (const [day, scans] of SCANS.entries()) {
        const firstOfHost = new Map<string, ScanReport>();
        days.set(utcDay(clock.now()), firstOfHost);
        for (let scan = 0; scan < scans; scan += 1) {
          const host = `h${dice.below(16)}.example.com`;
          const report = reportOf(dice);
          if (!firstOfHost.has(host)) firstOfHost.set(host, report);
          const scannedAtMs = clock.now();
          await store.publish(publishedScan({ host, scannedAtMs }), toTally(report));
          clock.advance(dice.below(20) * MINUTE_MS);
        }
        await expectRecount();
        clock.advance((utcDay(clock.now()) + 1) * DAY_MS + CLOSED_MS - clock.now());
        await expectRecount();
        await store.purge(clock.now());
        foldedBefore = utcDay(clock.now());
        if (day % 4 === 3) store = await subject.restart(store, { clock: clock.now });
        await expectRecount();
      }
    });

    test('count a host once a UTC day, by its first publication, even if it is repeated', async () => {
      const { clock, store } = await freshWithClock(subject);
      const scan = publishedScan({ scannedAtMs: clock.now() });
      const tally = (name: string) => ['origins', name];
      await Promise.all([store.publish(scan, tally('a')), store.publish(scan, tally('a'))]);
      await store.publish(publishedScan({ scannedAtMs: clock.now() + 1 }), tally('b'));
      await publishHosts(store, clock, MIN_BLOCK_ORIGINS - 1);
      await store.purge(clock.advance(DAY_MS));
      expect(await countsOf(store)).toEqual({
        origins: MIN_BLOCK_ORIGINS,
        'grade B': MIN_BLOCK_ORIGINS - 1,
        a: 1,
      });
      // Another payer buys the same scan on another day.
      await store.publish(scan, tally('a'));
      await publishHosts(store, clock, MIN_BLOCK_ORIGINS - 1);
      await store.publish(publishedScan({ scannedAtMs: clock.now() }), tally('c'));
      await store.purge(clock.advance(DAY_MS));
      const twice = { origins: 2 * MIN_BLOCK_ORIGINS, 'grade B': 2 * MIN_BLOCK_ORIGINS - 2 };
      expect(await countsOf(store)).toEqual({ ...twice, a: 1, c: 1 });
    });

    test('count no scan of a host that was never reached, and each one of a host that was', async () => {
      const { clock, store } = await freshWithClock(subject);
      const publish = (reached: boolean) =>
        store.publish(publishedScan({ scannedAtMs: clock.advance(1), reached }), TALLY);
      const publishDay = async (reached: readonly boolean[]) => {
        await publishHosts(store, clock, MIN_BLOCK_ORIGINS - 1);
        for (const each of reached) await publish(each);
        await store.purge(clock.advance(DAY_MS));
        return await countsOf(store);
      };
      expect(await publishDay([false])).toEqual({});
      // The nine origins of the day before are in the same block.
      expect(await publishDay([true])).toEqual({ origins: 19, 'grade B': 19 });
      expect(await publishDay([false])).toEqual({ origins: 29, 'grade B': 29 });
    });

    test('fold a day some minutes after midnight, not before', async () => {
      const { clock, store } = await freshWithClock(subject);
      await publishHosts(store, clock, MIN_BLOCK_ORIGINS);
      expect(await countsOf(store)).toEqual({});
      await store.purge(clock.advance(TO_MIDNIGHT_MS + CLOSED_MS - 1));
      expect(await countsOf(store)).toEqual({});
      expect((await store.purge(clock.advance(1))).other).toBeGreaterThanOrEqual(MIN_BLOCK_ORIGINS);
      expect(await countsOf(store)).toMatchObject({ origins: MIN_BLOCK_ORIGINS });
    });

    test('join days of few origins, under the last of them', async () => {
      const { clock, store } = await freshWithClock(subject);
      const firstDay = utcDay(clock.now());
      const originsOf = async (day: number) =>
        (await store.statistics.sumCounters({ fromDay: day, toDay: day })).total.get('origins');
      // Days without scans are a part of the block.
      for (const [hosts, days] of [
        [4, 1],
        [5, 60],
        [1, 1],
        [9, 1],
        [30, 1],
        [10, 1],
      ] as const) {
        await publishHosts(store, clock, hosts);
        await store.purge(clock.advance(days * DAY_MS));
      }
      const origins = await Promise.all(
        [0, 1, 61, 62, 63, 64].map((day) => originsOf(firstDay + day)),
      );
      expect(origins).toEqual([undefined, undefined, 10, undefined, 39, 10]);
    });

    test('tell which blocks are a single day, in which a host counts once', async () => {
      const { clock, store } = await freshWithClock(subject);
      const singleDays = async () => {
        const all = { fromDay: 0, toDay: 1_000_000 };
        const sums = await store.statistics.sumCounters(all);
        return sums.singleDays.map((day) => Object.fromEntries(day));
      };
      for (const hosts of [MIN_BLOCK_ORIGINS + 1, 1, MIN_BLOCK_ORIGINS + 2, MIN_BLOCK_ORIGINS]) {
        await publishHosts(store, clock, hosts);
        await store.purge(clock.advance(DAY_MS));
      }
      expect(await singleDays()).toEqual(
        [MIN_BLOCK_ORIGINS + 1, MIN_BLOCK_ORIGINS].map((hosts) => ({
          origins: hosts,
          'grade B': hosts,
        })),
      );
    });

    test("lose an opted-out host's unfolded days at once, and keep its sums", async () => {
      const { clock, store } = await freshWithClock(subject);
      const list = (host: string, listed: boolean) => store.listing.set(host, { listed });
      await publishHosts(store, clock, MIN_BLOCK_ORIGINS + 1);
      await store.purge(clock.advance(DAY_MS));
      await publishHosts(store, clock, MIN_BLOCK_ORIGINS + 3);
      for (const host of ['h0.com', 'h1.com', 'h2.com']) await list(host, false);
      await list('h0.com', true);
      // One host stays opted out while its day is folded; the other host returns before.
      for (const host of ['h1.com', 'h2.com'])
        await store.publish(publishedScan({ host, scannedAtMs: clock.now() }), TALLY);
      await list('h2.com', true);
      await store.purge(clock.advance(DAY_MS));
      expect(await countsOf(store)).toMatchObject({
        origins: MIN_BLOCK_ORIGINS + 1 + MIN_BLOCK_ORIGINS + 1,
      });
    });

    test('add nothing to a day that is folded already, or to one before it', async () => {
      const { clock, store } = await freshWithClock(subject);
      clock.advance(DAY_MS);
      await publishHosts(store, clock, MIN_BLOCK_ORIGINS);
      await store.purge(clock.advance(DAY_MS));
      // A killed fold, or a late publication, leaves such rows.
      for (const days of [1, 2]) {
        clock.advance(-days * DAY_MS);
        await publishHosts(store, clock, 20 * days);
        clock.advance(days * DAY_MS);
      }
      for (let again = 0; again < 2; again += 1) {
        await store.purge(clock.now());
        expect(await countsOf(store)).toMatchObject({ origins: MIN_BLOCK_ORIGINS });
      }
    });

    test('fold once if several fold and read at once', async () => {
      const { clock, store } = await freshWithClock(subject);
      await publishHosts(store, clock, 7);
      clock.advance(DAY_MS);
      await publishHosts(store, clock, 20);
      clock.advance(DAY_MS);
      const folding = Array.from({ length: 4 }, () => store.purge(clock.now()));
      const reading = Array.from({ length: 4 }, () => countsOf(store));
      for (const { origins } of await Promise.all(reading))
        expect([undefined, 27]).toContain(origins);
      await Promise.all(folding);
      expect(await countsOf(store)).toMatchObject({ origins: 27 });
    });

    test('delete blocks that no window reaches', async () => {
      const { clock, store } = await freshWithClock(subject);
      await publishHosts(store, clock, MIN_BLOCK_ORIGINS);
      await store.purge(clock.advance(31 * DAY_MS));
      expect(await countsOf(store)).toMatchObject({ origins: MIN_BLOCK_ORIGINS });
      await store.purge(clock.advance(DAY_MS));
      expect(await countsOf(store)).toEqual({});
    });
  });
}

async function publishHosts(store: Store, clock: TestClock, hosts: number): Promise<void> {
  for (let n = 0; n < hosts; n += 1) {
    const scan = publishedScan({ host: `h${n}.com`, scannedAtMs: clock.now() });
    await store.publish(scan, TALLY);
  }
}

/** The counters of all blocks. */
async function countsOf(store: Store): Promise<Readonly<Record<string, number>>> {
  const { total } = await store.statistics.sumCounters({ fromDay: 0, toDay: 1_000_000 });
  return Object.fromEntries(total);
}

async function expectAnswers(
  store: Store,
  clock: TestClock,
  blocks: readonly Block[],
): Promise<void> {
  const today = utcDay(clock.now());
  for (const days of [1, 7, 30] as const) {
    const { origins, grades, payableBy, checks, offers, prices } = await readStatistics(
      store,
      days,
      CHECKS,
    );
    const sums = { origins, grades, payableBy, checks, offers, prices };
    const inWindow = blocks.filter(({ lastDay }) => lastDay >= today - days && lastDay < today);
    expect(sums, `${days} days`).toEqual(recount(inWindow));
  }
}
