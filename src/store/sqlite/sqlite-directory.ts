import type { SQLInputValue } from 'node:sqlite';
import type { DirectoryQuery, DirectoryStore } from '../directory-store.ts';
import { GRAM_LENGTH } from '../rules/grams.ts';
import { hostSubstring } from '../rules/host-substring.ts';
import { IS_LISTED, IS_VERIFIED, RECORD_COLUMNS, toDirectoryRecord } from './record-sql.ts';
import type { SqliteContext } from './sqlite-context.ts';

const ORDERS = {
  recent: 'r.scanned_at_ms DESC, r.host',
  grade: 'r.grade, r.score DESC, r.scanned_at_ms DESC, r.host',
} as const;

export function sqliteDirectory({ connection }: SqliteContext): DirectoryStore {
  return {
    async get(host) {
      const row = connection.get(`SELECT ${RECORD_COLUMNS} FROM records r WHERE r.host = ?`, host);
      return row && toDirectoryRecord(row);
    },

    async list(query) {
      const matches = directoryMatches(query);
      if (!matches) return { count: 0, records: [] };
      const { from, values } = matches;
      const count = connection.get(`SELECT count(*) AS count ${from}`, ...values);
      const rows = connection.all(
        `SELECT ${RECORD_COLUMNS} ${from} ORDER BY ${ORDERS[query.sort]} LIMIT ? OFFSET ?`,
        ...values,
        query.pageSize,
        query.page * query.pageSize,
      );
      return { count: count?.integer('count') ?? 0, records: rows.map(toDirectoryRecord) };
    },

    async featured({ sinceMs, limit }) {
      const from = `FROM records r WHERE r.grade = 'A' AND r.scanned_at_ms >= ? AND ${IS_LISTED}`;
      const count = connection.get(`SELECT count(*) AS count ${from}`, sinceMs);
      const rows = connection.all(
        `SELECT ${RECORD_COLUMNS} ${from} ORDER BY ${ORDERS.recent} LIMIT ?`,
        sinceMs,
        limit,
      );
      return { count: count?.integer('count') ?? 0, records: rows.map(toDirectoryRecord) };
    },
  };
}

/** The FROM and WHERE of a directory query with its values; null when nothing can match. */
function directoryMatches(
  query: DirectoryQuery,
): { readonly from: string; readonly values: readonly SQLInputValue[] } | null {
  const q = hostSubstring(query.q ?? '');
  if (q === null) return null;
  const sources = ['records r'];
  const conditions = [IS_LISTED];
  const values: SQLInputValue[] = [];
  if (q.length >= GRAM_LENGTH) {
    sources.push('JOIN host_trigrams t ON t.rowid = r.id');
    // A quoted phrase of trigrams is a literal substring; q has no quote character.
    conditions.push('t.host MATCH ?');
    values.push(`"${q}"`);
  } else if (q !== '') {
    sources.push('JOIN host_grams g ON g.id = r.id');
    conditions.push('g.gram = ?');
    values.push(q);
  }
  if (query.category !== undefined) {
    conditions.push('r.category = ?');
    values.push(query.category);
  }
  if (query.verified) conditions.push(IS_VERIFIED);
  return { from: `FROM ${sources.join(' ')} WHERE ${conditions.join(' AND ')}`, values };
}
