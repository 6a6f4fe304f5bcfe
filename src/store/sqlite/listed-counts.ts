/** Counters of listed hosts: by category, grade and proof, and by each short run of characters. */
import { allNgramsOf, NGRAM_LENGTH, ngramsOfSubstring } from '../rules/host-ngrams.ts';
import type { Connection } from './connection.ts';
import type { ListedMove, ListedRow } from './listed-move.ts';

/** What is counted. `proved`: hosts with a confirm alone, old ones included. */
export type CountFilter = {
  readonly category: string | undefined;
  readonly proved: boolean;
};

/** In the transaction that moved the row: the counters are exact whatever breaks off. */
export function applyToCounts(connection: Connection, { before, after }: ListedMove): void {
  const isSameGroup = before?.category === after?.category && before?.isProved === after?.isProved;
  if (!isSameGroup || before?.grade !== after?.grade) {
    if (before) addToGrade(connection, before, -1);
    if (after) addToGrade(connection, after, 1);
  }
  if (isSameGroup) return;
  if (before) addToNgrams(connection, before, -1);
  if (after) addToNgrams(connection, after, 1);
}

/** Of all listed hosts. */
export function countListed(connection: Connection, { category, proved }: CountFilter): number {
  const row = connection.get(
    `SELECT COALESCE(sum(n), 0) AS count FROM listed_counts
     WHERE (?1 IS NULL OR category = ?1) AND (?2 = 0 OR proved = 1)`,
    category ?? null,
    proved ? 1 : 0,
  );
  return row?.integer('count') ?? 0;
}

/** Of listed hosts with these one to three characters in a row. */
export function countNgram(
  connection: Connection,
  ngram: string,
  { category, proved }: CountFilter,
): number {
  const row = connection.get(
    `SELECT COALESCE(sum(n), 0) AS count FROM ngram_counts
     WHERE ngram = ?1 AND (?2 IS NULL OR category = ?2) AND (?3 = 0 OR proved = 1)`,
    ngram,
    category ?? null,
    proved ? 1 : 0,
  );
  return row?.integer('count') ?? 0;
}

/** At most so many listed hosts can have a substring; exact up to three characters. */
export function countAtMost(connection: Connection, q: string, filter: CountFilter): number {
  return Math.min(...ngramsOfSubstring(q).map((ngram) => countNgram(connection, ngram, filter)));
}

export function isCountedExactly(q: string): boolean {
  return q.length <= NGRAM_LENGTH;
}

function addToGrade(connection: Connection, row: ListedRow, change: 1 | -1): void {
  connection.run(
    `INSERT INTO listed_counts (category, grade, proved, n) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET n = n + excluded.n`,
    row.category,
    row.grade,
    row.isProved ? 1 : 0,
    change,
  );
}

function addToNgrams(connection: Connection, row: ListedRow, change: 1 | -1): void {
  for (const ngram of allNgramsOf(row.host)) {
    connection.run(
      `INSERT INTO ngram_counts (ngram, category, proved, n) VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET n = n + excluded.n`,
      ngram,
      row.category,
      row.isProved ? 1 : 0,
      change,
    );
  }
}
