import { randomUUID } from 'node:crypto';
import type { PublishedScan } from '../contract/published-scan.ts';
import { type StatisticsStore, type Tally, utcDay } from '../contract/statistics.ts';
import { StoreError } from '../contract/store-error.ts';
import type { StoreContext } from './context.ts';
import { findOwners } from './owners.ts';
import { RETENTION_MS } from './retention.ts';
import { fromStoredJson, objectFromStoredJson, toStoredJson } from './stored-json.ts';
import type { Where } from './table.ts';
import type { Row } from './tables.ts';

type StatisticsContext = Pick<StoreContext, 'tables' | 'now'>;
type Counts = Map<string, number>;

export function statisticsOn(context: StatisticsContext): StatisticsStore {
  return {
    async counts({ fromDay, toDay }) {
      const day = { from: fromDay, upTo: toDay };
      // Rows are read before sums, so that a day that is folded meanwhile is still counted.
      const unfolded = await countRows(context, { day });
      const sums = await context.tables.daySums.all({ day });
      const folded = sums.map((sum): [number, Counts] => [sum.day, sumsFromJson(sum.sums)]);
      return added(new Map([...unfolded, ...folded]).values());
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

/**
 * Folds the days that are over into sums and removes their rows. The sum of a day is one insert under the day, so
 * whoever folds it first decides, and a fold that broke off before its rows were removed is only finished.
 */
export async function foldDays(context: StatisticsContext, nowMs: number): Promise<number> {
  const { hostDays, daySums } = context.tables;
  const over = { day: { before: utcDay(nowMs - RETENTION_MS.closedDay) } };
  let removed = 0;
  for (;;) {
    const oldest = await hostDays.first(over, { order: [['day', 'asc']] });
    if (oldest === null) break;
    const { day } = oldest;
    if (!(await daySums.get(day))) {
      const counts = (await countRows(context, { day })).get(day) ?? new Map();
      const sums = toStoredJson(Object.fromEntries(counts), 'the sums of a day');
      await daySums.decide({ day, attempt: randomUUID(), sums });
    }
    removed += await hostDays.removeInBatches({ day });
  }
  const old = { day: { before: utcDay(nowMs - RETENTION_MS.daySum) } };
  return removed + (await daySums.removeInBatches(old));
}

/** Sums the counters of each day, without those of hosts that are opted out now. */
async function countRows(
  context: StatisticsContext,
  where: Where<Row<'hostDays'>>,
): Promise<ReadonlyMap<number, Counts>> {
  const days = new Map<number, Counts>();
  for await (const rows of context.tables.hostDays.batches(where)) {
    const stateOf = await findOwners(
      context,
      rows.map(({ host }) => host),
    );
    for (const { day, host, tally } of rows) {
      const counts = days.get(day) ?? new Map<string, number>();
      days.set(day, counts);
      if (!stateOf(host).listed) continue;
      for (const name of tallyFromJson(tally)) counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }
  return days;
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
  throw new StoreError('corrupt', 'a stored tally is no list of names; restore a backup');
}

function sumsFromJson(text: string): Counts {
  const counts: Counts = new Map();
  for (const [name, count] of Object.entries(objectFromStoredJson(text))) {
    if (typeof count !== 'number') {
      throw new StoreError('corrupt', `the stored sum of ${name} is no number; restore a backup`);
    }
    counts.set(name, count);
  }
  return counts;
}
