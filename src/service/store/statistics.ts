import { randomUUID } from 'node:crypto';
import type { DayWord } from '../../scanner/model/payability.ts';
import { RETENTION_MS, type TablesContext } from './context.ts';
import { findOwnerStates } from './owners.ts';
import type { PublishedScan } from './published-scan.ts';
import { StoreError } from './store-error.ts';
import { fromStoredJson, objectFromStoredJson, toStoredJson } from './stored-values.ts';

const DAY_MS = 24 * 3_600_000;

/** UTC days since the epoch. */
export function utcDay(ms: number): number {
  return Math.floor(ms / DAY_MS);
}

/** Name of the counter of origins, which every tally contains. */
export const ORIGINS_COUNTER = 'origins';

/** Name of the counter of days in a stored sum. Sums of older versions lack it. */
const DAYS_COUNTER = 'days';

/** Names of counters. The first published scan of a host in a UTC day adds one to each of them. */
export type Tally = readonly string[];

/** A day with fewer origins is not a block. It becomes part of the block of a later day. */
export const MIN_ORIGINS_PER_BLOCK = 10;

export type Counts = ReadonlyMap<string, number>;

type BlockSums = {
  /** Sums of all blocks. */
  readonly total: Counts;
  /** Sums of each block that is a single day, in which every host counts once. */
  readonly singleDays: readonly Counts[];
};

/** Statistics over hosts and days. They name no host. */
export function createStatisticsStore({ tables }: TablesContext) {
  return {
    /**
     * Sums each counter over the blocks whose last day is between `fromDay` and `toDay` (inclusive). A block is a day
     * together with the days before it that are in no earlier block. It has at least `MIN_ORIGINS_PER_BLOCK` origins. A
     * purge folds each day a few minutes after its end, without the hosts that are opted out at that time.
     */
    async sumCounters({ fromDay, toDay }: { fromDay: number; toDay: number }): Promise<BlockSums> {
      const rows = await tables.daySums.all({ day: { from: fromDay, upTo: toDay } });
      const blocks = rows.map(({ sums }) => sumsFromJson(sums)).filter(isBlock);
      return {
        total: withoutDays(addCounts(blocks)),
        singleDays: blocks.filter((block) => block.get(DAYS_COUNTER) === 1).map(withoutDays),
      };
    },
  };
}

/** Call it before the scan gets its history row: a publication that is run again on a later day then adds nothing. */
export async function insertHostDay(
  { tables, now }: TablesContext,
  { host, scanId }: PublishedScan,
  tally: Tally,
): Promise<void> {
  if (await tables.history.first({ scanId })) return;
  const text = toStoredJson([...tally], `the tally of ${host}`);
  await tables.hostDays.insert({ day: utcDay(now()), host, scanId, tally: text });
}

/** Removes the counters of a host from days that are not folded yet. */
export async function removeHostDays({ tables, now }: TablesContext, host: string): Promise<void> {
  const today = utcDay(now());
  // Older days are usually folded. If they are not, their fold leaves out hosts that are opted out.
  await tables.hostDays.remove({ host, day: { in: [today - 1, today] } });
}

/**
 * Folds finished days into sums, oldest first, and removes their rows. The sum of a day is one row with the day as
 * its key, so the first instance to insert it decides. If a fold was interrupted after the insert, the next fold only
 * removes the rows. A sum includes the previous sum if the previous sum was not a block.
 */
export async function foldDays(context: TablesContext, nowMs: number): Promise<number> {
  const { hostDays, daySums } = context.tables;
  const whereFinished = { day: { before: utcDay(nowMs - RETENTION_MS.lateRows) } };
  let removedCount = 0;
  for (;;) {
    const oldest = await hostDays.first(whereFinished, { order: [['day', 'asc']] });
    if (oldest === null) break;
    const { day } = oldest;
    const last = await findLastSum(context);
    // Rows of a day before the last sum came too late, and are only removed.
    if (last === null || last.day < day) {
      const openCounts = last === null || isBlock(last.counts) ? [] : [withDays(last.counts)];
      const counts = addCounts([...openCounts, withDays(await countRows(context, day))]);
      const sums = toStoredJson(Object.fromEntries(counts), 'the sums of a day');
      await daySums.insertContended({ day, attempt: randomUUID(), sums });
    }
    removedCount += await hostDays.removeInBatches({ day });
  }
  const last = await findLastSum(context);
  const oldestDay = utcDay(nowMs - RETENTION_MS.daySum);
  // A sum that is not a block is kept until a later sum includes it.
  const isOpen = last !== null && !isBlock(last.counts);
  const before = isOpen ? Math.min(oldestDay, last.day) : oldestDay;
  return removedCount + (await daySums.removeInBatches({ day: { before } }));
}

async function findLastSum({ tables }: TablesContext) {
  const last = await tables.daySums.first({}, { order: [['day', 'desc']] });
  return last && { day: last.day, counts: sumsFromJson(last.sums) };
}

/** Adds the counter of days. Counts without it count as one day. */
function withDays(counts: Counts): Counts {
  return counts.has(DAYS_COUNTER) ? counts : new Map([...counts, [DAYS_COUNTER, 1]]);
}

function withoutDays(counts: Counts): Counts {
  return new Map([...counts].filter(([name]) => name !== DAYS_COUNTER));
}

function isBlock(counts: Counts): boolean {
  return (counts.get(ORIGINS_COUNTER) ?? 0) >= MIN_ORIGINS_PER_BLOCK;
}

/** Sums the counters of a day, without those of hosts that are opted out now. */
async function countRows(context: TablesContext, day: number): Promise<Counts> {
  const counts = new Map<string, number>();
  for await (const rows of context.tables.hostDays.batches({ day })) {
    const stateOf = await findOwnerStates(context, rows);
    for (const { host, tally } of rows) {
      if (!stateOf(host).listed) continue;
      for (const name of tallyFromJson(tally)) counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }
  return counts;
}

function addCounts(summands: Iterable<Counts>): Counts {
  const total = new Map<string, number>();
  for (const counts of summands) {
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
  const counts = new Map<string, number>();
  for (const [name, count] of Object.entries(objectFromStoredJson(text))) {
    if (typeof count !== 'number') {
      const message = `the stored sum of ${name} is not a number; restore a backup`;
      throw new StoreError('corrupt', message);
    }
    counts.set(name, count);
  }
  return counts;
}

/** Number of hosts with each word on one day. */
export type WordCounts = Readonly<Record<DayWord, number>>;

export async function countWordsOfLastDay({ tables }: TablesContext): Promise<WordCounts | null> {
  const sums = await tables.censusSums.all({}, { order: [['day', 'desc']] });
  // `foldCensusDays` is the only writer of this text.
  const counts = sums.map(({ sums: text }) => objectFromStoredJson(text) as WordCounts);
  return counts.find((dayCounts) => countHosts(dayCounts) >= MIN_ORIGINS_PER_BLOCK) ?? null;
}

export function countHosts({ payable, not_payable, down, not_checked }: WordCounts): number {
  return payable + not_payable + down + not_checked;
}
