import { PAYABLE_STATES, type PayableState } from '../model/payability.ts';
import { ALL_GRADES, type Grade } from '../model/report.ts';
import { utcDay } from '../store/contract/statistics.ts';
import type { Store } from '../store/contract/store.ts';
import { DISCLAIMER, PROVENANCE } from './provenance.ts';
import { type Count, shownCount, shownCounts } from './suppress.ts';

export const STATISTICS_DAYS = [1, 7, 30] as const;
export type StatisticsDays = (typeof STATISTICS_DAYS)[number];
export const DEFAULT_STATISTICS_DAYS: StatisticsDays = 7;

const UNIT =
  'host-days: a host counts once a UTC day, as its first published scan of that day found it. null is a count of 1 to 4, or one that would tell such a count. Prices are US dollars, the middle one of a host, exact to 10 %.';

const CHECK_STATES = ['pass', 'warn', 'fail', 'notDetermined'] as const;
type CheckState = (typeof CHECK_STATES)[number];

export type CheckStatistics = { readonly id: string } & Readonly<Record<CheckState, Count>>;

/** Statistics of sellers; they hold only aggregates. */
export type Statistics = {
  /** ISO 8601, UTC. */
  readonly asOf: string;
  /** UTC days, the present one included. */
  readonly days: StatisticsDays;
  readonly unit: string;
  readonly disclaimer: string;
  readonly provenance: string;
  readonly origins: Count;
  readonly grades: Readonly<Record<Grade, Count>>;
  readonly payableBy: Readonly<Record<PayableState, Count>>;
  readonly checks: CheckStatistics[];
  /** "other" stands for what the catalog does not know. */
  readonly offers: {
    readonly byScheme: Readonly<Record<string, Count>>;
    /** By CAIP-2 name. */
    readonly byNetwork: Readonly<Record<string, Count>>;
    /** By address. */
    readonly byAsset: Readonly<Record<string, Count>>;
  };
  /** US dollars; null where too few hosts have a price. */
  readonly prices: {
    readonly p10: number | null;
    readonly p50: number | null;
    readonly p90: number | null;
    readonly count: Count;
  };
};

type Counts = ReadonlyMap<string, number>;
type HostsAtPrice = readonly [dollars: number, hosts: number];

/** @param checkIds in the order in which they are to be told */
export async function readStatistics(
  { statistics, now }: Pick<Store, 'statistics' | 'now'>,
  days: StatisticsDays,
  checkIds: readonly string[],
): Promise<Statistics> {
  const nowMs = now();
  const toDay = utcDay(nowMs);
  const counts = await statistics.counts({ fromDay: toDay - days + 1, toDay });
  return {
    asOf: new Date(nowMs).toISOString(),
    days,
    unit: UNIT,
    disclaimer: DISCLAIMER,
    provenance: PROVENANCE,
    origins: shownCount(counts.get('origins') ?? 0),
    grades: shownGroup(counts, 'grade', ALL_GRADES),
    payableBy: shownGroup(counts, 'payable', PAYABLE_STATES),
    checks: checkIds.map((id) => ({ id, ...shownGroup(counts, `check ${id}`, CHECK_STATES) })),
    offers: {
      byScheme: shownNames(counts, 'scheme'),
      byNetwork: shownNames(counts, 'network'),
      byAsset: shownNames(counts, 'asset'),
    },
    prices: shownPrices(counts),
  };
}

function shownGroup<Name extends string>(
  counts: Counts,
  group: string,
  names: readonly Name[],
): Record<Name, Count> {
  const found = names.map((name) => [name, counts.get(`${group} ${name}`) ?? 0] as const);
  // Each of the names is a key.
  return shownCounts(Object.fromEntries(found) as Record<Name, number>);
}

/** A group whose names are those that were seen, by name: an order by count would tell of hidden ones. */
function shownNames(counts: Counts, group: string): Readonly<Record<string, Count>> {
  const found = namesOf(counts, group).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return shownCounts(Object.fromEntries(found));
}

function shownPrices(counts: Counts) {
  const prices = namesOf(counts, 'price')
    .map(([name, hosts]): HostsAtPrice => [Number(name), hosts])
    .toSorted(([a], [b]) => a - b);
  const count = shownCount(sumOf(prices));
  const at = (percent: number) => (count === null ? null : findPercentile(prices, percent));
  return { p10: at(10), p50: at(50), p90: at(90), count };
}

/** Finds a percentile by nearest rank: the least price that `percent` of the hosts do not exceed; null without prices. */
function findPercentile(prices: readonly HostsAtPrice[], percent: number): number | null {
  const total = sumOf(prices);
  let hosts = 0;
  for (const [dollars, more] of prices) {
    hosts += more;
    if (hosts * 100 >= percent * total) return dollars;
  }
  return null;
}

function sumOf(prices: readonly HostsAtPrice[]): number {
  return prices.reduce((sum, [, hosts]) => sum + hosts, 0);
}

function namesOf(counts: Counts, group: string): [name: string, count: number][] {
  const prefix = `${group} `;
  return [...counts]
    .filter(([name]) => name.startsWith(prefix))
    .map(([name, count]) => [name.slice(prefix.length), count]);
}
