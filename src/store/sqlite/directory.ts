/** The directory on SQLite. */
import type { DirectoryStore } from '../contract/directory.ts';
import type { PublishedScan } from '../contract/published-scan.ts';
import { countsOf } from '../rules/grade-counts.ts';
import { publishedScanFromJson } from '../rules/published-scan.ts';
import type { SqliteContext } from './context.ts';
import { directoryStatements, NEWEST_FIRST } from './directory-statements.ts';
import { IS_LISTED, RECORD_COLUMNS, toDirectoryRecord } from './record-sql.ts';
import type { Row } from './row.ts';
import { readVersions } from './versions.ts';

/** Some 2 KiB each, as text and as an object. */
const MAX_REMEMBERED = 1_000;
const RECORD_OF_HOST = `SELECT ${RECORD_COLUMNS} FROM records r WHERE r.host = ?`;

export function sqliteDirectory(context: SqliteContext): DirectoryStore {
  const { connection, now, recordRows } = context;
  const parse = rememberingParser();
  const read = (row: Row) => toDirectoryRecord(row, now(), parse);
  return {
    async versions() {
      return readVersions(context);
    },

    async get(host) {
      // A closed store answers nothing, whatever is in memory.
      const kept = connection.isOpen ? recordRows.get(host) : undefined;
      if (kept !== undefined) return read(kept);
      const row = connection.get(RECORD_OF_HOST, host);
      if (row === null) return null;
      recordRows.keep(host, row);
      return read(row);
    },

    async list(query) {
      const statements = directoryStatements(query, now());
      if (!statements) return { count: 0, records: [] };
      const { values, page } = statements;
      const count = connection.get(statements.count, ...values);
      const rows = connection.all(page, ...values, query.pageSize, query.page * query.pageSize);
      return { count: count?.integer('count') ?? 0, records: rows.map(read) };
    },

    async grades() {
      const rows = connection.all(
        `SELECT r.grade AS grade, count(*) AS count FROM records r WHERE ${IS_LISTED} GROUP BY r.grade`,
      );
      const counts = new Map(rows.map((row) => [row.text('grade'), row.integer('count')]));
      return countsOf((grade) => counts.get(grade) ?? 0);
    },

    async featured({ sinceMs, limit }) {
      const from = `FROM records r WHERE r.grade = 'A' AND r.scanned_at_ms >= ? AND ${IS_LISTED}`;
      const count = connection.get(`SELECT count(*) AS count ${from}`, sinceMs);
      const rows = connection.all(
        `SELECT ${RECORD_COLUMNS} ${from} ORDER BY ${NEWEST_FIRST} LIMIT ?`,
        sinceMs,
        limit,
      );
      return { count: count?.integer('count') ?? 0, records: rows.map(read) };
    },
  };
}

/** Parses a text once: the same few hundred hosts are asked for over and over. */
function rememberingParser(): (text: string) => PublishedScan {
  const known = new Map<string, PublishedScan>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    const scan = publishedScanFromJson(text);
    const oldest = known.size < MAX_REMEMBERED ? undefined : known.keys().next().value;
    if (oldest !== undefined) known.delete(oldest);
    known.set(text, scan);
    return scan;
  };
}
