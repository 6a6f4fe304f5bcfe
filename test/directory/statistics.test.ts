import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readStatistics } from '../../src/directory/statistics.ts';
import { PAYABLE_STATES } from '../../src/model/payability.ts';
import { ALL_GRADES } from '../../src/model/report.ts';

const CHECKS = ['P1', 'D1'];
const STATES = ['pass', 'warn', 'fail', 'notDetermined'];

/** What one host adds: its grade, who can pay, each check, its offers, its price. */
const hostDay = fc
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
  const store = { statistics: { counts: async () => counts }, now: () => Date.UTC(2026, 8, 1) };
  return { counts, told: await readStatistics(store, 7, CHECKS) };
}

type Shown = Readonly<Record<string, number | null>>;

const hiddenOf = (shown: Shown) => Object.values(shown).filter((count) => count === null).length;

function expectShown(group: string, shown: Shown, counts: ReadonlyMap<string, number>): void {
  const told = Object.entries(shown).filter(([, count]) => count !== null);
  for (const [name, count] of told) {
    expect([name, counts.get(`${group} ${name}`) ?? 0]).toEqual([name, count]);
    expect(count === 0 || (count ?? 0) >= 5).toBe(true);
  }
  // One hidden count alone is what the others leave of the sum.
  if (told.some(([, count]) => count !== 0))
    expect([group, hiddenOf(shown)]).not.toEqual([group, 1]);
}

test('no hidden number follows from the others by subtraction', async () => {
  const tallies = fc.array(hostDay, { maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(tallies, async (all) => {
      const { counts, told } = await statisticsOf(all);
      const { origins, grades, payableBy, checks, offers, prices } = told;
      expect(origins).toBe(all.length > 0 && all.length < 5 ? null : all.length);
      const groups = [
        ['grade', grades],
        ['payable', payableBy],
        ...checks.map(({ id, ...group }) => [`check ${id}`, group] as const),
        ['scheme', offers.byScheme],
      ] as const;
      for (const [group, shown] of groups) {
        expectShown(group, shown, counts);
        // A host may have no offer at all; of every other group the sum is the number of origins.
        if (origins !== null && group !== 'scheme') expect(hiddenOf(shown)).not.toBe(1);
      }
      const { count, ...percentiles } = prices;
      const isTold = (count ?? 0) > 0;
      for (const price of Object.values(percentiles)) expect(price !== null).toBe(isTold);
    }),
  );
});

test('percentiles go by nearest rank', async () => {
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
  expect(await at(priced(0.5, 4))).toEqual({ p10: null, p50: null, p90: null, count: null });
});

test('names stand in the order of the alphabet, which tells nothing of hidden counts', async () => {
  const { told } = await statisticsOf([
    ...Array.from({ length: 9 }, () => ['network eip155:8453']),
    ['network eip155:137'],
  ]);
  expect(Object.entries(told.offers.byNetwork)).toEqual([
    ['eip155:137', null],
    ['eip155:8453', null],
  ]);
});
