/** Counts the words of the census on finished days. */
import { randomUUID } from 'node:crypto';
import type { DayWord } from '../model/payability.ts';
import { RETENTION_MS, type StoreContext } from './context.ts';
import { MIN_ORIGINS_PER_BLOCK, utcDay } from './statistics.ts';
import { objectFromStoredJson, toStoredJson } from './stored-values.ts';
import { findWithheld } from './withheld.ts';

/** Number of hosts with each word on one day. */
export type WordCounts = Readonly<Record<DayWord, number>>;

export async function countWordsOfLastDay({ tables }: StoreContext): Promise<WordCounts | null> {
  const sums = await tables.censusSums.all({}, { order: [['day', 'desc']] });
  const counts = sums.map(({ sums: text }) => toCounts(text));
  return counts.find((dayCounts) => countHosts(dayCounts) >= MIN_ORIGINS_PER_BLOCK) ?? null;
}

function toCounts(text: string): WordCounts {
  const { payable, not_payable, down, not_checked } = objectFromStoredJson(text);
  return {
    payable: Number(payable),
    not_payable: Number(not_payable),
    down: Number(down),
    not_checked: Number(not_checked),
  };
}

function countHosts({ payable, not_payable, down, not_checked }: WordCounts): number {
  return payable + not_payable + down + not_checked;
}

/**
 * Counts the words of each finished day once, without hosts that are opted out at that time. Removes old sums and
 * imports, and returns the number of removed rows.
 */
export async function foldCensusDays(context: StoreContext, nowMs: number): Promise<number> {
  const { censusWords, censusSums, censusImports } = context.tables;
  const lastSum = await censusSums.first({}, { order: [['day', 'desc']] });
  const oldestWord = await censusWords.first({}, { order: [['day', 'asc']] });
  const endDay = utcDay(nowMs - RETENTION_MS.lateWords);
  const firstDay = Math.max((lastSum?.day ?? 0) + 1, oldestWord?.day ?? endDay);
  for (let day = firstDay; day < endDay; day += 1) {
    const counts = await countWords(context, day);
    if (countHosts(counts) === 0) continue;
    const sums = toStoredJson({ ...counts }, 'the words of a day');
    await censusSums.insertContended({ day, attempt: randomUUID(), sums });
  }
  const whereOld = { day: { before: utcDay(nowMs - RETENTION_MS.daySum) } };
  const removedSums = await censusSums.removeInBatches(whereOld);
  return removedSums + (await censusImports.removeInBatches(whereOld));
}

async function countWords(context: StoreContext, day: number): Promise<WordCounts> {
  const counts = { payable: 0, not_payable: 0, down: 0, not_checked: 0 };
  for await (const rows of context.tables.censusWords.batches({ day })) {
    const isWithheld = await findWithheld(context, rows);
    for (const { host, word } of rows) if (!isWithheld(host)) counts[word] += 1;
  }
  return counts;
}
