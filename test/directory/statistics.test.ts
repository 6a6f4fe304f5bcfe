/** Statistics tell nothing of one seller; what they tell is a sum of blocks, rounded down. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  readStatistics,
  STATISTICS_DAYS,
  type Statistics,
} from '../../src/directory/statistics.ts';
import { PAYABLE_STATES } from '../../src/model/payability.ts';
import { ALL_GRADES } from '../../src/model/report.ts';
import { MEMORY } from '../../src/store/sqlite/connection.ts';
import { openSqlite } from '../../src/store/sqlite/store.ts';
import type { Store } from '../../src/store/store.ts';
import { publishedScan } from '../store/contract/samples.ts';
import { DAY_MS, TestClock } from '../store/contract/test-clock.ts';

const CHECKS = ['P1', 'D1'];
const STATES = ['pass', 'warn', 'fail', 'notDetermined'];

/** What one host adds: its grade, who can pay, each check, its offers, its price. */
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

async function statisticsOf(tallies: readonly (readonly string[])[]) {
  const counts = new Map<string, number>();
  for (const name of tallies.flat()) counts.set(name, (counts.get(name) ?? 0) + 1);
  const store = {
    statistics: { sumCounters: async () => counts },
    census: { countWordsOfLastDay: async () => null },
    now: () => Date.UTC(2026, 8, 1),
  };
  return { counts, told: await readStatistics(store, 7, CHECKS) };
}

/** Every answer that a caller can have now, without the time of it. */
async function answersOf(store: Store): Promise<readonly Statistics[]> {
  const answers = STATISTICS_DAYS.map((days) => readStatistics(store, days, CHECKS));
  return (await Promise.all(answers)).map((answer) => ({ ...answer, asOf: '' }));
}

/** Groups of counts that add up to the number of origins. */
function wholesOf({ grades, payableBy, checks }: Statistics) {
  return [grades, payableBy, ...checks.map(({ id, ...group }) => group)];
}

/** Every count of an answer, by name. */
function countsOf(answer: Statistics): ReadonlyMap<string, number> {
  const { origins, grades, payableBy, checks, offers, prices } = answer;
  const named = (group: string, counts: Readonly<Record<string, number>>) =>
    Object.entries(counts).map(([name, count]) => [`${group} ${name}`, count] as const);
  return new Map([
    ['origins', origins],
    ...named('grade', grades),
    ...named('payable', payableBy),
    ...checks.flatMap(({ id, ...group }) => named(`check ${id}`, group)),
    ...named('scheme', offers.byScheme),
    ...named('price', { count: prices.count }),
  ]);
}

test('every count is rounded down to a multiple of five; a name without a count is left out', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(tally, { maxLength: 40 }), async (tallies) => {
      const { counts, told } = await statisticsOf(tallies);
      const priced = tallies.flat().filter((name) => name.startsWith('price ')).length;
      for (const [name, count] of countsOf(told)) {
        const exact = name === 'price count' ? priced : (counts.get(name) ?? 0);
        expect([name, count]).toEqual([name, Math.floor(exact / 5) * 5]);
      }
      expect(Object.values(told.offers.byScheme)).not.toContain(0);
      const { count, ...percentiles } = told.prices;
      for (const price of Object.values(percentiles)) expect(price !== null).toBe(count > 0);
    }),
  );
});

test('subtraction within a group cannot isolate one host: each count may be three or more, or none', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(tally, { minLength: 10, maxLength: 40 }), async (tallies) => {
      const { told } = await statisticsOf(tallies);
      for (const group of wholesOf(told)) {
        const shown = Object.values(group);
        const sum = shown.reduce((all, count) => all + count, 0);
        // All that a caller can conclude: the group adds up to `origins`, and to four more at most.
        for (const count of shown) {
          const most = Math.min(count + 4, told.origins + 4 - (sum - count));
          const least = Math.max(count, told.origins - (sum - count) - 4 * (shown.length - 1));
          expect(most).toBe(count + 4);
          expect([count, count + 3, count + 4]).toContain(least);
        }
      }
    }),
  );
});

/** A day of an instance: who is published, and which of them, by place, wishes to be left out. */
const day = fc.record({
  tallies: fc.oneof(fc.array(tally, { maxLength: 3 }), fc.array(tally, { maxLength: 25 })),
  leaves: fc.option(fc.nat(24)),
});

type Day = typeof day extends fc.Arbitrary<infer T> ? T : never;

/** Publishes all of a day, and sets the wish; answers how many origins the day has, once it is folded. */
async function liveThrough(store: Store, clock: TestClock, { tallies, leaves }: Day) {
  const before = await answersOf(store);
  for (const [n, one] of tallies.entries()) {
    await store.publish(publishedScan({ host: `h${n}.com`, scannedAtMs: clock.now() }), one);
    expect(await answersOf(store)).toEqual(before);
  }
  const isLeft = leaves !== null && leaves < tallies.length;
  if (isLeft) await store.listing.set(`h${leaves}.com`, { listed: false });
  expect(await answersOf(store)).toEqual(before);
  clock.advance(DAY_MS);
  await store.purge(clock.now());
  if (isLeft) await store.listing.set(`h${leaves}.com`, { listed: true });
  return tallies.length - (isLeft ? 1 : 0);
}

test('an answer changes only by a fold, which adds blocks of at least ten; publications and opt-outs change none', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(day, { minLength: 2, maxLength: 9 }), async (days) => {
      const clock = new TestClock();
      const store = openSqlite(MEMORY, { clock: clock.now });
      try {
        let waiting = 0;
        for (const one of days) {
          waiting += await liveThrough(store, clock, one);
          const [yesterday] = await answersOf(store);
          expect(yesterday?.origins).toBe(waiting < 10 ? 0 : waiting - (waiting % 5));
          if (waiting >= 10) waiting = 0;
        }
      } finally {
        await store.close();
      }
    }),
    { numRuns: 25 },
  );
});

test('percentiles use the nearest rank', async () => {
  const priced = (price: number, hosts: number) =>
    Array.from({ length: hosts }, () => [`price ${price}`]);
  const at = async (...tallies: string[][][]) => (await statisticsOf(tallies.flat())).told.prices;
  expect(await at(priced(0.01, 9), priced(5, 1))).toEqual({
    p10: 0.01,
    p50: 0.01,
    p90: 0.01,
    count: 10,
  });
  expect(await at(priced(10, 7), priced(2, 7), priced(1, 56))).toMatchObject({ p50: 1, p90: 2 });
  expect(await at(priced(0.5, 5))).toMatchObject({ p10: 0.5, p50: 0.5, p90: 0.5 });
  expect(await at(priced(0.5, 4))).toEqual({ p10: null, p50: null, p90: null, count: 0 });
});

test('names are sorted by alphabet, which reveals no counts', async () => {
  const selling = (network: string, hosts: number) =>
    Array.from({ length: hosts }, () => [`network ${network}`]);
  const { told } = await statisticsOf([
    ...selling('eip155:8453', 9),
    ...selling('eip155:137', 5),
    ...selling('eip155:10', 4),
  ]);
  expect(Object.entries(told.offers.byNetwork)).toEqual([
    ['eip155:137', 5],
    ['eip155:8453', 5],
  ]);
});
