/** SQL of directory queries. */
import type { SQLInputValue } from 'node:sqlite';
import type { DirectoryQuery } from '../contract/directory.ts';
import { verifiedSinceMs } from '../contract/ownership.ts';
import { hostSubstring, NGRAM_LENGTH } from '../rules/host-ngrams.ts';
import { IS_LISTED, IS_VERIFIED, RECORD_COLUMNS } from './record-sql.ts';

export const NEWEST_FIRST = 'r.scanned_at_ms DESC, r.host';

const ORDERS = {
  recent: NEWEST_FIRST,
  grade: 'r.grade, r.score DESC, r.scanned_at_ms DESC, r.host',
} as const;

/**
 * The statements of a directory query; null when nothing can match. What the caller sent is in
 * `values` alone. `page` takes two more: the page size and the rows to skip.
 */
export function directoryStatements(
  query: DirectoryQuery,
  nowMs: number,
): {
  readonly count: string;
  readonly page: string;
  readonly values: readonly SQLInputValue[];
} | null {
  const q = hostSubstring(query.q ?? '');
  if (q === null) return null;
  const sources = ['records r'];
  const conditions = [IS_LISTED];
  const values: SQLInputValue[] = [];
  if (q.length >= NGRAM_LENGTH) {
    sources.push('JOIN host_trigrams t ON t.rowid = r.id');
    // A quoted phrase of trigrams is a literal substring; q has no quote character.
    conditions.push('t.host MATCH ?');
    values.push(`"${q}"`);
  } else if (q !== '') {
    sources.push('JOIN host_ngrams g ON g.id = r.id');
    conditions.push('g.ngram = ?');
    values.push(q);
  }
  if (query.category !== undefined) {
    conditions.push('r.category = ?');
    values.push(query.category);
  }
  if (query.verified) {
    conditions.push(IS_VERIFIED);
    values.push(verifiedSinceMs(nowMs));
  }
  const from = `FROM ${sources.join(' ')} WHERE ${conditions.join(' AND ')}`;
  return {
    count: `SELECT count(*) AS count ${from}`,
    page: `SELECT ${RECORD_COLUMNS} ${from} ORDER BY ${ORDERS[query.sort]} LIMIT ? OFFSET ?`,
    values,
  };
}
