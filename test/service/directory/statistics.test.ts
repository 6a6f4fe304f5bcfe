/** Statistics must not reveal a single seller. Each count covers whole batches of hosts, and is rounded down. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PAYABLE_STATES } from '../../../src/scanner/model/payability.ts';
import { ALL_GRADES } from '../../../src/scanner/model/report.ts';
import {
  readStatistics,
  STATISTICS_DAYS,
  type Statistics,
} from '../../../src/service/directory/statistics.ts';
import { MEMORY, openSqlite } from '../../../src/service/store/sqlite/store.ts';
import type { Store } from '../../../src/service/store/store.ts';
import { publishedScan } from '../store/contract/samples.ts';
import { DAY_MS, TestClock } from '../store/contract/test-clock.ts';

const CHECKS = ['P1', 'D1'];
const STATES = ['pass', 'warn', 'fail', 'notDetermined'];

/** The names of all counters that one host adds 1 to. */
const tally = fc
  .record({
    grade: fc.constantFrom(...ALL_GRADES),
    payable: fc.constantFrom(...PAYABLE_STATES),
    checks: fc.tuple(fc.constantFrom(...STATES), fc.constantFrom(...STATES)),
    schemes: fc.uniqueArray(fc.constantFrom('exact', 'upto', 'other')),
    price: fc.option(fc.constantFrom('0.001', '0.01', '0.25', '3')),
  })
  .map(({ grade, payable, checks, schemes, price }) => [
    'origins',
    `grade ${grade}`,
    `payable ${payable}`,
    ...CHECKS.map((id, index) => `check ${id} ${checks[index]}`),
    ...schemes.map((scheme) => `scheme ${scheme}`),
    ...(price === null ? [] : [`price ${price}`]),
  ]);

function countNames(tallies: readonly (readonly string[])[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const name of tallies.flat()) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

/** All tallies are of one day, unless `singleDays` says otherwise. */
async function computeStatistics(tallies: readonly (readonly string[])[], singleDays = [tallies]) {
  const counts = countNames(tallies);
  const sums = { total: counts, singleDays: singleDays.map(countNames) };
  const store = {
    statistics: { sumCounters: async () => sums },
    census: { countWordsOfLastDay: async () => null },
    now: () => Date.UTC(2026, 8, 1),
  };
  return { counts, answer: await readStatistics(store, 7, CHECKS) };
}

/** Reads the statistics of every possible period, without their time. */
async function readAllPeriods(store: Store): Promise<readonly Statistics[]> {
  const answers = STATISTICS_DAYS.map((days) => readStatistics(store, days, CHECKS));
  return (await Promise.all(answers)).map((answer) => ({ ...answer, asOf: '' }));
}

/** Groups of counts that add up to the number of origins. */
function listGroups({ grades, payableBy, checks }: Statistics) {
  return [grades, payableBy, ...checks.map(({ id, ...group }) => group)];
}

/** Every count of an answer, by name. */
function listCounts(answer: Statistics): ReadonlyMap<string, number> {
  const { origins, grades, payableBy, checks, offers, prices } = answer;
  const toNamedCounts = (group: string, counts: Readonly<Record<string, number>>) =>
    Object.entries(counts).map(([name, count]) => [`${group} ${name}`, count] as const);
  return new Map([
    ['origins', origins],
    ...toNamedCounts('grade', grades),
    ...toNamedCounts('payable', payableBy),
    ...checks.flatMap(({ id, ...group }) => toNamedCounts(`check ${id}`, group)),
    ...toNamedCounts('scheme', offers.byScheme),
    ...toNamedCounts('price', { count: prices.count }),
  ]);
}

test('every count is rounded down to a multiple of five, and schemes with a count of 0 are left out', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(tally, { maxLength: 40 }), async (tallies) => {
      const { counts, answer } = await computeStatistics(tallies);
      const priced = tallies.flat().filter((name) => name.startsWith('price ')).length;
      for (const [name, count] of listCounts(answer)) {
        const exact = name === 'price count' ? priced : (counts.get(name) ?? 0);
        expect([name, count]).toEqual([name, Math.floor(exact / 5) * 5]);
      }
      expect(Object.values(answer.offers.byScheme)).not.toContain(0);
    }),
  );
});

test('a caller who subtracts the counts of a group still has at least four possible values for each true count', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(tally, { minLength: 10, maxLength: 40 }), async (tallies) => {
      const { answer } = await computeStatistics(tallies);
      for (const group of listGroups(answer)) {
        const shownCounts = Object.values(group);
        const sum = shownCounts.reduce((all, count) => all + count, 0);
        // A caller knows only that the true counts add up to between `origins` and `origins + 4`.
        for (const count of shownCounts) {
          const highest = Math.min(count + 4, answer.origins + 4 - (sum - count));
          const lowest = Math.max(
            count,
            answer.origins - (sum - count) - 4 * (shownCounts.length - 1),
          );
          expect(highest).toBe(count + 4);
          expect([count, count + 3, count + 4]).toContain(lowest);
        }
      }
    }),
  );
});

/** One day: the tallies of the published hosts, and the index of the host that opts out. */
const day = fc.record({
  tallies: fc.oneof(fc.array(tally, { maxLength: 3 }), fc.array(tally, { maxLength: 25 })),
  optOutIndex: fc.option(fc.nat(24)),
});

type Day = typeof day extends fc.Arbitrary<infer T> ? T : never;

/** Publishes the hosts of one day, opts a host out, and purges. Returns how many origins the day adds. */
async function simulateDay(store: Store, clock: TestClock, { tallies, optOutIndex }: Day) {
  const answersBefore = await readAllPeriods(store);
  for (const [n, counters] of tallies.entries()) {
    await store.publish(publishedScan({ host: `h${n}.com`, scannedAtMs: clock.now() }), counters);
    expect(await readAllPeriods(store)).toEqual(answersBefore);
  }
  const hasOptOut = optOutIndex !== null && optOutIndex < tallies.length;
  if (hasOptOut) await store.listing.set(`h${optOutIndex}.com`, { listed: false });
  expect(await readAllPeriods(store)).toEqual(answersBefore);
  clock.advance(DAY_MS);
  await store.purge(clock.now());
  if (hasOptOut) await store.listing.set(`h${optOutIndex}.com`, { listed: true });
  return tallies.length - (hasOptOut ? 1 : 0);
}

test('statistics change only at the daily purge, which adds batches of at least ten origins', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(day, { minLength: 2, maxLength: 9 }), async (days) => {
      const clock = new TestClock();
      const store = openSqlite(MEMORY, { clock: clock.now });
      try {
        let uncountedOrigins = 0;
        for (const oneDay of days) {
          uncountedOrigins += await simulateDay(store, clock, oneDay);
          const [yesterday] = await readAllPeriods(store);
          expect(yesterday?.origins).toBe(
            uncountedOrigins < 10 ? 0 : uncountedOrigins - (uncountedOrigins % 5),
          );
          if (uncountedOrigins >= 10) uncountedOrigins = 0;
        }
      } finally {
        await store.close();
      }
    }),
    { numRuns: 25 },
  );
});

/** Tallies of hosts with one price each. */
const hostsWithPrice = (price: number, hosts: number) =>
  Array.from({ length: hosts }, () => [`price ${price}`]);
const computePrices = async (tallies: string[][], singleDays?: string[][][]) =>
  (await computeStatistics(tallies, singleDays)).answer.prices;

test('price percentiles use the nearest rank', async () => {
  const tallies = [...hostsWithPrice(10, 7), ...hostsWithPrice(2, 7), ...hostsWithPrice(1, 56)];
  expect(await computePrices(tallies)).toEqual({ p10: 1, p50: 1, p90: 2, count: 70 });
  const same = { p10: 0.5, p50: 0.5, p90: 0.5 };
  expect(await computePrices(hostsWithPrice(0.5, 5))).toEqual({ ...same, count: 5 });
  const none = { p10: null, p50: null, p90: null };
  expect(await computePrices(hostsWithPrice(0.5, 4))).toEqual({ ...none, count: 0 });
});

describe('a percentile is told only if it is not the price of one seller', () => {
  test.each([
    ['one seller between five and five of a stranger', { 0.0001: 5, 0.37: 1, 900: 5 }, null],
    ['four sellers near it', { 0.0001: 5, 0.37: 4, 900: 5 }, null],
    ['five sellers with its price', { 0.0001: 5, 0.37: 5, 900: 5 }, 0.37],
    ['five sellers within 10 % of it', { 0.0001: 5, 0.9: 1, 1: 2, 1.1: 2, 900: 5 }, 1],
    ['four within 10 % of it, and one beyond', { 0.0001: 5, 0.89: 1, 1: 2, 1.1: 2, 900: 5 }, null],
    ['only four at or above it', { 0.95: 5, 1: 4 }, 0.95],
  ])('%s', async (_name, hostsByPrice, p50) => {
    const tallies = Object.entries(hostsByPrice).flatMap(([price, hosts]) =>
      hostsWithPrice(Number(price), hosts),
    );
    expect((await computePrices(tallies)).p50).toBe(p50);
  });

  test('at both ends', async () => {
    const tallies = [
      ...hostsWithPrice(0.1, 4),
      ...hostsWithPrice(0.11, 30),
      ...hostsWithPrice(5, 4),
    ];
    // Only four hosts ask at most p10, and only four ask at least p90.
    expect(await computePrices(tallies)).toEqual({ p10: null, p50: 0.11, p90: null, count: 35 });
    const cheap = [...hostsWithPrice(0.1, 60), ...hostsWithPrice(5, 7)];
    expect((await computePrices(cheap)).p90).toBe(5);
  });

  test('on a single day, because a host stands in several days of a window', async () => {
    const day = [...hostsWithPrice(0.1, 1), ...hostsWithPrice(3, 4)];
    const week = Array.from({ length: 7 }, () => day);
    expect(await computePrices(week.flat(), week)).toEqual({
      p10: null,
      p50: null,
      p90: null,
      count: 35,
    });
    const manyDay = hostsWithPrice(3, 5);
    const weekWithIt = [...week, manyDay];
    expect((await computePrices(weekWithIt.flat(), weekWithIt)).p50).toBe(3);
    // A block of several days is not a single day.
    expect((await computePrices(manyDay, [])).p50).toBeNull();
  });
});

test('networks are sorted by name, so that their order reveals no counts', async () => {
  const hostsSellingOn = (network: string, hosts: number) =>
    Array.from({ length: hosts }, () => [`network ${network}`]);
  const { answer } = await computeStatistics([
    ...hostsSellingOn('eip155:8453', 9),
    ...hostsSellingOn('eip155:137', 5),
    ...hostsSellingOn('eip155:10', 4),
  ]);
  expect(Object.entries(answer.offers.byNetwork)).toEqual([
    ['eip155:137', 5],
    ['eip155:8453', 5],
  ]);
});
