/** How many listed hosts have a run of characters. */
import type { Connection } from './connection.ts';
import type { ListedGroup } from './listed-move.ts';

/** What is counted. `proved`: hosts with a confirm alone, old ones included. */
export type CountFilter = {
  readonly category: string | undefined;
  readonly proved: boolean;
};

export const ALL_LISTED: CountFilter = { category: undefined, proved: false };

/** Of listed hosts with these characters in a row: one to three, or a longer run that is counted. */
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

/** How many there are of its group then. */
export function addToRun(
  connection: Connection,
  run: string,
  { category, isProved }: ListedGroup,
  change: number,
): number {
  const row = connection.get(
    `INSERT INTO ngram_counts (ngram, category, proved, n) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET n = n + excluded.n RETURNING n`,
    run,
    category,
    isProved ? 1 : 0,
    change,
  );
  return row?.integer('n') ?? 0;
}
