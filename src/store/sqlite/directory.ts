import type { DirectoryStore } from '../contract/directory.ts';
import { countsOf } from '../shared/grade-counts.ts';
import { hostSubstring } from '../shared/host-substring.ts';
import type { SqliteContext } from './context.ts';
import { countRecords, hiddenRecords, listRecords, pageStatement } from './record-lists.ts';
import { RECORD_COLUMNS, toDirectoryRecord, toHostGrade } from './record-sql.ts';
import { readVersions } from './versions.ts';

const GRADE_OF_HOST = `SELECT scanned_at_ms, grade, score, scan -> '$.counts' AS counts
  FROM records WHERE host = ?`;
const RECORD_OF_HOST = `SELECT ${RECORD_COLUMNS} FROM records r WHERE r.host = ?`;

export function sqliteDirectory(context: SqliteContext): DirectoryStore {
  const { connection, now } = context;
  return {
    async versions() {
      return readVersions(context);
    },

    async get(host) {
      const row = connection.get(RECORD_OF_HOST, host);
      return row && toDirectoryRecord(row, now());
    },

    async gradeOf(host) {
      const row = connection.get(GRADE_OF_HOST, host);
      return row && toHostGrade(row);
    },

    async list(query) {
      const q = hostSubstring(query.q ?? '');
      if (q === null) return { count: 0, records: [] };
      const nowMs = now();
      const { count, rows } = listRecords(connection, { ...query, q }, nowMs);
      return { count, records: rows.map((row) => toDirectoryRecord(row, nowMs)) };
    },

    async grades() {
      const rows = connection.all(
        `SELECT grade, sum(n) AS count FROM (
           SELECT grade, count(*) AS n FROM records GROUP BY grade UNION ALL
           SELECT grade, -1 FROM json_each(?) AS hidden CROSS JOIN records r
             ON r.id = hidden.value)
         GROUP BY grade`,
        hiddenRecords(connection),
      );
      const counts = new Map(rows.map((row) => [row.text('grade'), row.integer('count')]));
      return countsOf((grade) => counts.get(grade) ?? 0);
    },

    async featured({ sinceMs, limit }) {
      const best = {
        from: 'records r INDEXED BY records_recent',
        conditions: ["r.grade = 'A'", 'r.scanned_at_ms >= ?'],
        values: [sinceMs],
      };
      const hidden = hiddenRecords(connection);
      const count = countRecords(connection, best, hidden);
      const rows = connection.all(pageStatement(best, 'recent'), sinceMs, hidden, limit, 0);
      return { count, records: rows.map((row) => toDirectoryRecord(row, now())) };
    },
  };
}
