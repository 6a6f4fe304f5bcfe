/** Both stores: sums over hosts and days, against counting by hand. */
import { describe, expect, it } from 'vitest';
import { readStatistics, type StatisticsDays } from '../../../src/directory/statistics.ts';
import { type OfferPayability, PAYABLE_BY } from '../../../src/model/payability.ts';
import { ALL_GRADES, type CheckResult, type ScanReport } from '../../../src/model/report.ts';
import { toTally } from '../../../src/scan/tally.ts';
import { utcDay } from '../../../src/store/contract/statistics.ts';
import type { Store } from '../../../src/store/contract/store.ts';
import { type Dice, diceOf, oneOf } from '../../fixtures/dice.ts';
import { publishedScan } from './samples.ts';
import type { ContractSubject } from './subject.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, TestClock } from './test-clock.ts';

const CHECKS = ['P1', 'S5', 'D1'];
const TALLY = ['origins', 'grade B'];
/** The test clock begins at noon. */
const TO_MIDNIGHT_MS = 12 * HOUR_MS;
const CLOSED_MS = 5 * MINUTE_MS;

export function statisticsSum(subject: ContractSubject): void {
  describe('statistics', () => {
    it('are those of counting the same scans by hand, before and after folding', async () => {
      const clock = new TestClock();
      let store = await subject.fresh({ clock: clock.now });
      const dice = diceOf(29);
      const firstOfDay = new Map<string, ScanReport>();
      for (let day = 0; day < 9; day += 1) {
        for (let scan = 0; scan < 24; scan += 1) {
          const host = `h${dice.below(16)}.example.com`;
          const report = reportOf(dice);
          const key = `${utcDay(clock.now())} ${host}`;
          if (!firstOfDay.has(key)) firstOfDay.set(key, report);
          const scannedAtMs = clock.now();
          await store.publish(publishedScan({ host, scannedAtMs }), toTally(report));
          clock.advance(dice.below(30) * MINUTE_MS);
        }
        await expectRecount(store, clock, firstOfDay);
        clock.advance((utcDay(clock.now()) + 1) * DAY_MS + CLOSED_MS - clock.now());
        await expectRecount(store, clock, firstOfDay);
        await store.purge(clock.now());
        if (day % 4 === 3) store = await subject.restart(store, { clock: clock.now });
        await expectRecount(store, clock, firstOfDay);
      }
    });

    it('count a host once a UTC day, by its first publication, however often it is repeated', async () => {
      const clock = new TestClock();
      const store = await subject.fresh({ clock: clock.now });
      const scan = publishedScan({ scannedAtMs: clock.now() });
      await Promise.all([store.publish(scan, ['a']), store.publish(scan, ['a'])]);
      await store.publish(publishedScan({ scannedAtMs: clock.now() + 1 }), ['b']);
      expect(await countsOf(store, clock)).toEqual({ a: 1 });
      await store.purge(clock.advance(DAY_MS));
      // Another payer of the same scan, on another day.
      await store.publish(scan, ['a']);
      expect(await countsOf(store, clock)).toEqual({ a: 1 });
      await store.publish(publishedScan({ scannedAtMs: clock.now() }), ['c']);
      expect(await countsOf(store, clock)).toEqual({ a: 1, c: 1 });
    });

    it('count no scan of a host that was never reached, and each one of a host that was', async () => {
      const clock = new TestClock();
      const store = await subject.fresh({ clock: clock.now });
      const publish = (reached: boolean) =>
        store.publish(publishedScan({ scannedAtMs: clock.advance(1), reached }), TALLY);
      await publish(false);
      expect(await countsOf(store, clock)).toEqual({});
      await publish(true);
      expect(await countsOf(store, clock)).toEqual({ origins: 1, 'grade B': 1 });
      clock.advance(DAY_MS);
      await publish(false);
      expect(await countsOf(store, clock)).toEqual({ origins: 2, 'grade B': 2 });
    });

    it('fold a day some minutes after midnight, not before', async () => {
      const clock = new TestClock();
      const store = await subject.fresh({ clock: clock.now });
      await publishHosts(store, clock, 3);
      const hide = (host: string) => store.listing.set(host, { listed: false });
      await store.purge(clock.advance(TO_MIDNIGHT_MS + CLOSED_MS - 1));
      await hide('h0.com');
      expect(await countsOf(store, clock)).toMatchObject({ origins: 2 });
      expect((await store.purge(clock.advance(1))).other).toBeGreaterThanOrEqual(3);
      expect(await countsOf(store, clock)).toMatchObject({ origins: 2 });
      // The sum has no hosts any more.
      await hide('h1.com');
      expect(await countsOf(store, clock)).toMatchObject({ origins: 2 });
    });

    it('leave an opted-out host out at once, and for good when it is out as its day is folded', async () => {
      const clock = new TestClock();
      const store = await subject.fresh({ clock: clock.now });
      await publishHosts(store, clock, 2);
      await store.listing.set('h0.com', { listed: false });
      expect(await countsOf(store, clock)).toMatchObject({ origins: 1 });
      await store.publish(publishedScan({ host: 'h0.com' }), TALLY);
      expect(await countsOf(store, clock)).toMatchObject({ origins: 1 });
      await store.purge(clock.advance(DAY_MS));
      await store.listing.set('h0.com', { listed: true });
      expect(await countsOf(store, clock)).toMatchObject({ origins: 1 });
    });

    it('add nothing to a day that is folded already', async () => {
      const clock = new TestClock();
      const store = await subject.fresh({ clock: clock.now });
      await publishHosts(store, clock, 2);
      await store.purge(clock.advance(DAY_MS));
      // As rows look that a fold could not remove before it was killed, or that came far too late.
      clock.advance(-DAY_MS);
      await publishHosts(store, clock, 3);
      clock.advance(DAY_MS);
      for (let again = 0; again < 2; again += 1) {
        expect(await countsOf(store, clock)).toMatchObject({ origins: 2 });
        await store.purge(clock.now());
      }
    });

    it('fold once when several fold and read at once', async () => {
      const clock = new TestClock();
      const store = await subject.fresh({ clock: clock.now });
      await publishHosts(store, clock, 20);
      clock.advance(DAY_MS);
      const folding = Array.from({ length: 4 }, () => store.purge(clock.now()));
      const reading = Array.from({ length: 4 }, () => countsOf(store, clock));
      for (const counts of await Promise.all(reading))
        expect(counts).toMatchObject({ origins: 20 });
      await Promise.all(folding);
      expect(await countsOf(store, clock)).toMatchObject({ origins: 20 });
    });

    it('forget sums that no window reaches', async () => {
      const clock = new TestClock();
      const store = await subject.fresh({ clock: clock.now });
      await publishHosts(store, clock, 1);
      const ever = { fromDay: 0, toDay: utcDay(clock.now()) };
      await store.purge(clock.advance(31 * DAY_MS));
      expect((await store.statistics.counts(ever)).get('origins')).toBe(1);
      await store.purge(clock.advance(DAY_MS));
      expect(await store.statistics.counts(ever)).toEqual(new Map());
    });
  });
}

async function publishHosts(store: Store, clock: TestClock, hosts: number): Promise<void> {
  for (let n = 0; n < hosts; n += 1) {
    const scan = publishedScan({ host: `h${n}.com`, scannedAtMs: clock.now() });
    await store.publish(scan, TALLY);
  }
}

async function countsOf(store: Store, clock: TestClock) {
  const toDay = utcDay(clock.now());
  return Object.fromEntries(await store.statistics.counts({ fromDay: toDay - 29, toDay }));
}

async function expectRecount(
  store: Store,
  clock: TestClock,
  firstOfDay: ReadonlyMap<string, ScanReport>,
): Promise<void> {
  for (const days of [1, 7, 30] as const) {
    const { origins, grades, payableBy, checks, offers, prices } = await readStatistics(
      store,
      days,
      CHECKS,
    );
    const told = { origins, grades, payableBy, checks, offers, prices };
    expect(told, `${days} days`).toEqual(recount(clock, days, firstOfDay));
  }
}

/** The statistics, counted from the reports themselves. */
function recount(
  clock: TestClock,
  days: StatisticsDays,
  firstOfDay: ReadonlyMap<string, ScanReport>,
) {
  const since = utcDay(clock.now()) - days;
  const reports = [...firstOfDay]
    .filter(([key]) => Number(key.split(' ')[0]) > since)
    .map(([, report]) => report);
  const count = (is: (report: ScanReport) => boolean) => reports.filter(is).length;
  const group = (names: readonly string[], is: (report: ScanReport, name: string) => boolean) =>
    hidden(Object.fromEntries(names.map((name) => [name, count((one) => is(one, name))])));
  const sells = (report: ScanReport, member: 'scheme' | 'network' | 'asset', value: string) =>
    offersOf(report).some((offer) => offer[member] === value);
  const seen = (member: 'scheme' | 'network' | 'asset', names: readonly string[]) => {
    const known = names.filter((name) => count((one) => sells(one, member, name)) > 0);
    return group(known, (one, name) => sells(one, member, name));
  };
  const prices = reports
    .flatMap((report) => offersOf(report).slice(0, 1))
    .map(({ amount }) => Number(amount) / 1e6)
    .sort((a, b) => a - b);
  const few = prices.length > 0 && prices.length < 5;
  const at = (share: number) =>
    few ? null : (prices[Math.ceil((prices.length * share) / 100) - 1] ?? null);
  return {
    origins: hidden({ all: reports.length })['all'],
    grades: group(ALL_GRADES, ({ grade }, name) => grade === name),
    payableBy: group(
      [...PAYABLE_BY, 'noChallenge'],
      (one, name) => (one.payableBy ?? 'noChallenge') === name,
    ),
    checks: CHECKS.map((id) => ({
      id,
      ...group(['pass', 'warn', 'fail', 'notDetermined'], (report, name) => {
        const result = report.results.find((each) => each.id === id);
        const isOpen = result?.basis === 'not_determined';
        return name === 'notDetermined' ? isOpen : !isOpen && result?.status === name;
      }),
    })),
    offers: {
      byScheme: seen('scheme', ['exact']),
      byNetwork: seen('network', [...NETWORKS.keys()]),
      byAsset: seen('asset', [...NETWORKS.values()]),
    },
    prices: { p10: at(10), p50: at(50), p90: at(90), count: few ? null : prices.length },
  };
}

/** The rule as it is written down, step by step. */
function hidden(counts: Readonly<Record<string, number>>): Record<string, number | null> {
  const entries = Object.entries(counts);
  const small = entries.filter(([, count]) => count >= 1 && count <= 4);
  const others = entries.filter(([, count]) => count > 4);
  const least = Math.min(...others.map(([, count]) => count));
  const with_ = small.length === 1 ? others.find(([, count]) => count === least) : undefined;
  const gone = new Set([...small, ...(with_ ? [with_] : [])].map(([name]) => name));
  return Object.fromEntries(entries.map(([name, count]) => [name, gone.has(name) ? null : count]));
}

const NETWORKS = new Map([
  ['eip155:8453', '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'],
  ['eip155:137', '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359'],
  ['solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp', 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'],
]);

function offersOf({ payability }: ScanReport): readonly OfferPayability[] {
  return (payability ?? []).flatMap(({ offers }) => offers);
}

function reportOf(dice: Dice): ScanReport {
  const amount = String((1 + dice.below(99)) * 10 ** dice.below(5));
  const offers = [...NETWORKS]
    .filter(() => dice.below(2) === 0)
    .map(([network, asset], n): OfferPayability => {
      const pointer = `/accepts/${n}`;
      const signed = { client: null, verdict: 'signs', words: null } as const;
      return { pointer, scheme: 'exact', network, asset, amount, ...signed };
    });
  const payableBy = oneOf(dice, [...PAYABLE_BY, null]);
  const resource = { method: 'GET', path: '/', payableBy: 'default', words: null, offers } as const;
  return {
    origin: 'https://api.example.com',
    grade: oneOf(dice, ALL_GRADES),
    score: 50,
    subScores: { protocol: 50, docs: 50, standing: null },
    checksVersion: '2026-08-14.2',
    scannedAt: '2026-09-01T12:00:00.000Z',
    results: CHECKS.map((id) => resultOf(id, dice)),
    payability: [resource],
    payableBy,
    clients: [],
    advice: [],
    indexed: [],
  };
}

function resultOf(id: string, dice: Dice): CheckResult {
  return {
    id,
    title: 'a-check',
    category: 'protocol',
    severity: 'major',
    status: oneOf(dice, ['pass', 'warn', 'fail']),
    basis: oneOf(dice, ['measured', 'not_determined', 'not_evaluated']),
    outcome: 'seen',
    evidence: 'Seen.',
    fix: 'Nothing to do.',
  };
}
