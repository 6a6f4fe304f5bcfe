import { type DayWord, PAYABLE_STATES } from '../../scanner/model/payability.ts';
import { ALL_GRADES } from '../../scanner/model/report.ts';
import {
  type Counts,
  MIN_ORIGINS_PER_BLOCK,
  ORIGINS_COUNTER,
  utcDay,
} from '../store/statistics.ts';
import type { Store } from '../store/store.ts';
import { NOTICES } from './project.ts';

export const STATISTICS_DAYS = [1, 7, 30] as const;
type StatisticsDays = (typeof STATISTICS_DAYS)[number];

/** An unknown or missing number selects the default, 7. */
export function toStatisticsDays(text: string | undefined): StatisticsDays {
  return STATISTICS_DAYS.find((days) => String(days) === text) ?? 7;
}

/** Every count is rounded down to a multiple of this number, so that no count reveals a single seller. */
export const ROUNDING = 5 as const;

/**
 * A percentile is shown only if, on one day, so many hosts are at or below its price, at or above it, and near it.
 * Otherwise it would be the price of one seller. On a single day a host counts once, so no seller counts as several.
 */
const MIN_HOSTS_AT_PRICE = 5;

const UNIT = `host-days: a host counts once a UTC day, with the result of its first published scan of that day. Each count is rounded down to a multiple of ${ROUNDING}, so the counts of a group may add up to less than the total. A day is counted some minutes after its end. A day of fewer than ${MIN_ORIGINS_PER_BLOCK} host-days is counted together with later days, on the last of these days. Prices are in US dollars: the median price of each host, exact to 10 %. A percentile is null unless on a single day at least ${MIN_HOSTS_AT_PRICE} hosts ask at most this price, ${MIN_HOSTS_AT_PRICE} at least this price, and ${MIN_HOSTS_AT_PRICE} a price within 10 % of it. availability counts the hosts of the daily census, on the newest full day with at least ${MIN_ORIGINS_PER_BLOCK} hosts.`;

const CHECK_STATES = ['pass', 'warn', 'fail', 'notDetermined'] as const;

/** Totals over all sellers, without a fact about a single seller. */
export type Statistics = Awaited<ReturnType<typeof readStatistics>>;

export type CheckStatistics = Statistics['checks'][number];

type HostsAtPrice = readonly [dollars: number, hosts: number];

type StatisticsStore = Pick<Store, 'statistics' | 'now'> & {
  readonly census: Pick<Store['census'], 'countWordsOfLastDay'>;
};

/** @param checkIds in the order of the answer */
export async function readStatistics(
  { statistics, census, now }: StatisticsStore,
  days: StatisticsDays,
  checkIds: readonly string[],
) {
  const nowMs = now();
  const today = utcDay(nowMs);
  const [{ total: counts, singleDays }, wordCounts] = await Promise.all([
    statistics.sumCounters({ fromDay: today - days, toDay: today - 1 }),
    census.countWordsOfLastDay(),
  ]);
  return {
    asOf: new Date(nowMs).toISOString(),
    days,
    unit: UNIT,
    rounding: ROUNDING,
    ...NOTICES,
    origins: roundDown(counts.get(ORIGINS_COUNTER) ?? 0),
    grades: roundGroup(counts, 'grade', ALL_GRADES),
    payableBy: roundGroup(counts, 'payable', PAYABLE_STATES),
    availability: toAvailabilityCounts(wordCounts),
    checks: checkIds.map((id) => ({ id, ...roundGroup(counts, `check ${id}`, CHECK_STATES) })),
    offers: {
      byScheme: roundSeenNames(counts, 'scheme'),
      byNetwork: roundSeenNames(counts, 'network'),
      byAsset: roundSeenNames(counts, 'asset'),
    },
    prices: toPrices(counts, singleDays),
  };
}

function toAvailabilityCounts(counts: Readonly<Record<DayWord, number>> | null) {
  return {
    payable: roundDown(counts?.payable ?? 0),
    notPayable: roundDown(counts?.not_payable ?? 0),
    down: roundDown(counts?.down ?? 0),
    notChecked: roundDown(counts?.not_checked ?? 0),
  };
}

function roundDown(count: number): number {
  return count - (count % ROUNDING);
}

function roundGroup<Name extends string>(
  counts: Counts,
  group: string,
  names: readonly Name[],
): Record<Name, number> {
  const sums = names.map((name) => [name, roundDown(counts.get(`${group} ${name}`) ?? 0)]);
  // Every name is a key of `sums`.
  return Object.fromEntries(sums) as Record<Name, number>;
}

/** Leaves out names with a rounded count of 0: such a name would reveal one to four sellers. */
function roundSeenNames(counts: Counts, group: string): Readonly<Record<string, number>> {
  const sums = findGroupCounts(counts, group)
    .map(([name, count]) => [name, roundDown(count)] as const)
    .filter(([, count]) => count > 0);
  // An order by count would reveal more than the rounded counts.
  return Object.fromEntries(sums.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function toPrices(counts: Counts, singleDays: readonly Counts[]) {
  const prices = listPrices(counts);
  const days = singleDays.map(listPrices);
  const count = roundDown(sumHosts(prices));
  const priceAt = (percent: number) => {
    const price = findPercentile(prices, percent);
    return price !== null && days.some((day) => hidesSellers(day, price)) ? price : null;
  };
  return { p10: priceAt(10), p50: priceAt(50), p90: priceAt(90), count };
}

/** Lowest price first. */
function listPrices(counts: Counts): readonly HostsAtPrice[] {
  return findGroupCounts(counts, 'price')
    .map(([name, hosts]): HostsAtPrice => [Number(name), hosts])
    .toSorted(([a], [b]) => a - b);
}

/** True if enough hosts of the day are near the price, above it and below it. */
function hidesSellers(day: readonly HostsAtPrice[], price: number): boolean {
  const conditions = [
    (dollars: number) => dollars <= price,
    (dollars: number) => dollars >= price,
    // The factor is a little larger than 0.1, because `1.1 - 1` is larger than 0.1 as a binary number.
    (dollars: number) => Math.abs(dollars - price) <= price * 0.100_000_1,
  ];
  return conditions.every(
    (isMet) => sumHosts(day.filter(([dollars]) => isMet(dollars))) >= MIN_HOSTS_AT_PRICE,
  );
}

/** Finds a percentile by nearest rank: the lowest price that `percent` of the hosts do not exceed. Null if none. */
function findPercentile(prices: readonly HostsAtPrice[], percent: number): number | null {
  const total = sumHosts(prices);
  let countedHosts = 0;
  for (const [dollars, hosts] of prices) {
    countedHosts += hosts;
    if (countedHosts * 100 >= percent * total) return dollars;
  }
  return null;
}

function sumHosts(prices: readonly HostsAtPrice[]): number {
  return prices.reduce((sum, [, hosts]) => sum + hosts, 0);
}

function findGroupCounts(counts: Counts, group: string): [name: string, count: number][] {
  const prefix = `${group} `;
  return [...counts]
    .filter(([name]) => name.startsWith(prefix))
    .map(([name, count]) => [name.slice(prefix.length), count]);
}
