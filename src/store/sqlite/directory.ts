/** The directory on SQLite. */
import type { DirectoryStore } from '../contract/directory.ts';
import { countsOf } from '../shared/grade-counts.ts';
import { hostSubstring } from '../shared/host-ngrams.ts';
import { publishedScanFromJson } from '../shared/published-scan.ts';
import type { SqliteContext } from './context.ts';
import { recordsOfIds } from './listed-records.ts';
import { findListed } from './listed-search.ts';
import { RECORD_COLUMNS, toDirectoryRecord, toHostGrade } from './record-sql.ts';
import type { Row } from './row.ts';
import { readVersions } from './versions.ts';

const GRADE_OF_HOST = `SELECT scanned_at_ms, grade, score, scan -> '$.counts' AS counts
  FROM records WHERE host = ?`;
const RECORD_OF_HOST = `SELECT ${RECORD_COLUMNS} FROM records r WHERE r.host = ?`;

export function sqliteDirectory(context: SqliteContext): DirectoryStore {
  const { connection, now, recordRows } = context;
  const read = (row: Row) => toDirectoryRecord(row, now());

  return {
    async versions() {
      return readVersions(context);
    },

    async get(host) {
      // A closed store answers nothing, whatever is in memory.
      const kept = connection.isOpen ? recordRows.get(host) : undefined;
      if (kept !== undefined) return toDirectoryRecord(kept.row, now(), kept.scan);
      const row = connection.get(RECORD_OF_HOST, host);
      if (row === null) return null;
      const scan = publishedScanFromJson(row.text('scan'));
      recordRows.keep(host, { row, scan });
      return toDirectoryRecord(row, now(), scan);
    },

    gradeOf(host) {
      const kept = connection.isOpen ? recordRows.grade(host) : undefined;
      if (kept !== undefined) return kept;
      const row = connection.get(GRADE_OF_HOST, host);
      if (row === null) return null;
      const grade = toHostGrade(row);
      recordRows.keepGrade(host, grade);
      return grade;
    },

    async list(query) {
      const q = hostSubstring(query.q ?? '');
      if (q === null) return { count: 0, records: [] };
      const { page, pageSize } = query;
      const range = { offset: page * pageSize, size: pageSize };
      const { count, rows } = await findListed(context, query, q, range);
      return { count, records: rows.map(read) };
    },

    async grades() {
      const rows = connection.all(
        'SELECT grade, sum(n) AS count FROM listed_counts GROUP BY grade',
      );
      const counts = new Map(rows.map((row) => [row.text('grade'), row.integer('count')]));
      return countsOf((grade) => counts.get(grade) ?? 0);
    },

    async featured({ sinceMs, limit }) {
      const from = "FROM listed INDEXED BY listed_best WHERE grade = 'A' AND recency <= ?";
      const count = connection.get(`SELECT count(*) AS count ${from}`, -sinceMs);
      const ids = connection
        .all(`SELECT id ${from} ORDER BY recency, host LIMIT ?`, -sinceMs, limit)
        .map((row) => row.integer('id'));
      return {
        count: count?.integer('count') ?? 0,
        records: recordsOfIds(connection, ids).map(read),
      };
    },
  };
}
