/** Counters of listed hosts: by category, grade and proof, and by each run of characters that is counted. */
import { allNgramsOf, NGRAM_LENGTH } from '../shared/host-ngrams.ts';
import { longerRunsOf } from './common-runs.ts';
import type { Connection } from './connection.ts';
import type { SqliteContext } from './context.ts';
import type { ListedMove, ListedRow } from './listed-move.ts';
import { addToRun, type CountFilter } from './run-counts.ts';
import { extendCommonRuns } from './run-extensions.ts';

/** Of the hosts that make a run common: one in so many looks whether it is, as that is a sum. */
const LOOKS = 64;

/** In the transaction that moved the row: the counters are exact whatever breaks off. */
export function applyToCounts(context: SqliteContext, { before, after }: ListedMove): void {
  const { connection } = context;
  const isSameGroup = before?.category === after?.category && before?.isProved === after?.isProved;
  if (!isSameGroup || before?.grade !== after?.grade) {
    if (before) addToGrade(connection, before, -1);
    if (after) addToGrade(connection, after, 1);
  }
  if (isSameGroup) return;
  if (before) addToRuns(context, before, -1);
  if (after) addToRuns(context, after, 1);
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

function addToRuns(context: SqliteContext, row: ListedRow, change: 1 | -1): void {
  const { connection, commonRuns, search } = context;
  commonRuns.load();
  const longer = longerRunsOf(row.host, (run) => commonRuns.has(run));
  const lookEvery = Math.max(1, Math.floor(search.candidates / LOOKS));
  const maybeCommon: string[] = [];
  for (const run of [...allNgramsOf(row.host), ...longer]) {
    const n = addToRun(connection, run, row, change);
    if (change === 1 && run.length >= NGRAM_LENGTH && n % lookEvery === 0) maybeCommon.push(run);
  }
  extendCommonRuns({ connection, commonRuns, commonAbove: search.candidates }, maybeCommon);
}
