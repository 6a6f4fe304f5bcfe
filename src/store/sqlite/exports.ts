/** Snapshots of the whole directory on SQLite. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DirectoryRecord } from '../contract/directory.ts';
import type { ExportRecord, ExportStore } from '../contract/exports.ts';
import { HISTORY_ROWS_PER_HOST } from '../contract/history.ts';
import type { SqliteContext } from './context.ts';
import { readHistory } from './history.ts';
import { IS_LISTED, RECORD_COLUMNS, toDirectoryRecord } from './record-sql.ts';

/** Hosts between two turns of the event loop. */
const TURN_AFTER_HOSTS = 50;

export function sqliteExports(context: SqliteContext): ExportStore {
  const { connection, now } = context;
  return {
    async snapshot(limit) {
      // One statement fixes what is exported; history rows never change, and those that come
      // later have greater numbers than the record's scan count.
      const rows = connection.all(
        `SELECT ${RECORD_COLUMNS} FROM records r WHERE ${IS_LISTED}
         ORDER BY r.scanned_at_ms DESC, r.host LIMIT ?`,
        limit + 1,
      );
      const records = rows.slice(0, limit).map((row) => toDirectoryRecord(row, now()));
      return {
        count: records.length,
        truncated: rows.length > limit,
        exportedAtMs: now(),
        records: withHistory(context, records),
      };
    },
  };
}

async function* withHistory(
  context: SqliteContext,
  records: readonly DirectoryRecord[],
): AsyncGenerator<ExportRecord> {
  for (const [index, record] of records.entries()) {
    if (index % TURN_AFTER_HOSTS === 0) await nextTurn();
    const history = readHistory(context, record.host, HISTORY_ROWS_PER_HOST, record.scanCount);
    yield { ...record, history };
  }
}
