import { randomUUID } from 'node:crypto';
import { RETENTION_MS, type StoreContext } from './context.ts';
import { StoreError } from './errors.ts';
import { findOwnerStates } from './owners.ts';
import type { PublishedScan } from './published-scan.ts';
import { fromStoredJson, objectFromStoredJson, toStoredJson } from './stored-values.ts';

const DAY_MS = 24 * 3_600_000;

/** UTC days since the epoch. */
export function utcDay(ms: number): number {
  return Math.floor(ms / DAY_MS);
}

/** The counter that every tally raises. */
export const ORIGINS_COUNTER = 'origins';

/** Names of the counters that a host's first publication of a UTC day raises by one each. */
export type Tally = readonly string[];

/** Days with fewer origins are part of the block of a later day. */
export const MIN_ORIGINS_PER_BLOCK = 10;

type StatisticsContext = Pick<StoreContext, 'tables' | 'now'>;
type Days = { readonly fromDay: number; readonly toDay: number };
type Counts = Map<string, number>;

/** Sums over hosts and days, without any host. */
export function statisticsOn({ tables }: StatisticsContext) {
  return {
    /**
     * Sums each counter over the blocks whose last day is one of `fromDay` to `toDay`, both included. The first purge a
     * few minutes after its end folds a day, without hosts that are opted out by then. A block is a day with the folded
     * days before it that were in no block; it has at least `MIN_ORIGINS_PER_BLOCK` origins.
     */
    async sumCounters(days: Days): Promise<ReadonlyMap<string, number>> {
      const { fromDay, toDay } = days;
      const rows = await tables.daySums.all({ day: { from: fromDay, upTo: toDay } });
      return added(rows.map(({ sums }) => sumsFromJson(sums)).filter(isBlock));
    },
  };
}

/**
 * Inserts the counters of a host for a day, once per host and day. It precedes the history row of the scan: a
 * publication that is run again on a later day finds that row, and adds nothing to that day.
 */
export async function insertHostDay(
  { tables, now }: StatisticsContext,
  { host, scanId }: PublishedScan,
  tally: Tally,
): Promise<void> {
  if (await tables.history.first({ scanId })) return;
  const text = toStoredJson([...tally], `the tally of ${host}`);
  await tables.hostDays.insert({ day: utcDay(now()), host, scanId, tally: text });
}

/** Removes what a host adds to days that are not folded yet. */
export async function removeHostDays(
  { tables, now }: StatisticsContext,
  host: string,
): Promise<void> {
  const today = utcDay(now());
  // Rows of older days are there only while no purge runs, and the fold leaves out whoever is opted out.
  await tables.hostDays.remove({ host, day: { in: [today - 1, today] } });
}

/**
 * Folds the days that are over into sums, oldest first, and removes their rows. The sum of a day is one insert under the
 * day, so whoever folds it first decides, and a fold that broke off before its rows were removed is only finished. It
 * includes the sum before it, if that was not a block.
 */
export async function foldDays(context: StatisticsContext, nowMs: number): Promise<number> {
  const { hostDays, daySums } = context.tables;
  const over = { day: { before: utcDay(nowMs - RETENTION_MS.lateRows) } };
  let removed = 0;
  for (;;) {
    const oldest = await hostDays.first(over, { order: [['day', 'asc']] });
    if (oldest === null) break;
    const { day } = oldest;
    const last = await lastSum(context);
    // Rows of an earlier day came a day late; the open sum before them is part of a later one.
    if (last === null || last.day < day) {
      const open = last === null || isBlock(last.counts) ? [] : [last.counts];
      const counts = added([...open, await countRows(context, day)]);
      const sums = toStoredJson(Object.fromEntries(counts), 'the sums of a day');
      await daySums.insertContended({ day, attempt: randomUUID(), sums });
    }
    removed += await hostDays.removeInBatches({ day });
  }
  const last = await lastSum(context);
  const oldestDay = utcDay(nowMs - RETENTION_MS.daySum);
  // An open sum waits for further days, however long they take.
  const isOpen = last !== null && !isBlock(last.counts);
  const before = isOpen ? Math.min(oldestDay, last.day) : oldestDay;
  return removed + (await daySums.removeInBatches({ day: { before } }));
}

async function lastSum({ tables }: StatisticsContext) {
  const last = await tables.daySums.first({}, { order: [['day', 'desc']] });
  return last && { day: last.day, counts: sumsFromJson(last.sums) };
}

function isBlock(counts: Counts): boolean {
  return (counts.get(ORIGINS_COUNTER) ?? 0) >= MIN_ORIGINS_PER_BLOCK;
}

/** Sums the counters of a day, without those of hosts that are opted out now. */
async function countRows(context: StatisticsContext, day: number): Promise<Counts> {
  const counts: Counts = new Map();
  for await (const rows of context.tables.hostDays.batches({ day })) {
    const stateOf = await findOwnerStates(
      context,
      rows.map(({ host }) => host),
    );
    for (const { host, tally } of rows) {
      if (!stateOf(host).listed) continue;
      for (const name of tallyFromJson(tally)) counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }
  return counts;
}

function added(all: Iterable<Counts>): Counts {
  const total: Counts = new Map();
  for (const counts of all) {
    for (const [name, count] of counts) total.set(name, (total.get(name) ?? 0) + count);
  }
  return total;
}

function tallyFromJson(text: string): Tally {
  const value = fromStoredJson(text);
  const isText = (name: unknown): name is string => typeof name === 'string';
  if (Array.isArray(value) && value.every(isText)) return value;
  throw new StoreError('corrupt', 'a stored tally is not a list of names; restore a backup');
}

function sumsFromJson(text: string): Counts {
  const counts: Counts = new Map();
  for (const [name, count] of Object.entries(objectFromStoredJson(text))) {
    if (typeof count !== 'number') {
      throw new StoreError(
        'corrupt',
        `the stored sum of ${name} is not a number; restore a backup`,
      );
    }
    counts.set(name, count);
  }
  return counts;
}
