/** Snapshots of the whole directory on SQLite. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ExportRecord, ExportStore } from '../contract/exports.ts';
import { HISTORY_ROWS_PER_HOST } from '../contract/history.ts';
import type { Connection } from './connection.ts';
import type { SqliteContext } from './context.ts';
import { readHistory } from './history.ts';
import { hiddenRecords } from './record-lists.ts';
import { RECORD_COLUMNS, toDirectoryRecord } from './record-sql.ts';
import type { Row } from './row.ts';

/** Hosts between two turns of the event loop. */
const TURN_AFTER_HOSTS = 50;
const ROWS_AT_ONCE = 500;

export function sqliteExports(context: SqliteContext): ExportStore {
  return {
    async snapshot(limit) {
      const rows = await readAtOneMoment(context, limit + 1);
      const exportedAtMs = context.now();
      const included = rows.slice(0, limit);
      return {
        count: included.length,
        truncated: rows.length > limit,
        exportedAtMs,
        records: withHistory(context, included, exportedAtMs),
      };
    },
  };
}

/**
 * A reader of its own sees the file as it was when its transaction began, so the rows may be read
 * piece by piece. History rows never change, and later ones have greater numbers than the record's
 * scan count. Texts are parsed as they are written out.
 */
async function readAtOneMoment(context: SqliteContext, limit: number): Promise<readonly Row[]> {
  const { connection } = context;
  const reader = connection.openReader();
  // What is in memory alone has one connection, and is not large.
  if (reader === null) return readRows(connection, idsByRecency(connection, limit));
  try {
    reader.exec('BEGIN');
    const ids = idsByRecency(reader, limit);
    const rows: Row[] = [];
    for (let at = 0; at < ids.length; at += ROWS_AT_ONCE) {
      rows.push(...readRows(reader, ids.slice(at, at + ROWS_AT_ONCE)));
      await nextTurn();
    }
    return rows;
  } finally {
    reader.close();
  }
}

function idsByRecency(connection: Connection, limit: number): readonly number[] {
  const rows = connection.all(
    `SELECT r.id FROM records r INDEXED BY records_recent 
       WHERE r.id NOT IN (SELECT value FROM json_each(?))
     ORDER BY r.scanned_at_ms DESC, r.host LIMIT ?`,
    hiddenRecords(connection),
    limit,
  );
  return rows.map((row) => row.integer('id'));
}

function readRows(connection: Connection, ids: readonly number[]): readonly Row[] {
  return connection.all(
    `SELECT ${RECORD_COLUMNS} FROM json_each(?) AS wanted CROSS JOIN records r ON r.id = wanted.value
     ORDER BY wanted.key`,
    JSON.stringify(ids),
  );
}

async function* withHistory(
  context: SqliteContext,
  rows: readonly Row[],
  takenAtMs: number,
): AsyncGenerator<ExportRecord> {
  for (const [index, row] of rows.entries()) {
    if (index % TURN_AFTER_HOSTS === 0) await nextTurn();
    const record = toDirectoryRecord(row, takenAtMs);
    const history = readHistory(context, record.host, HISTORY_ROWS_PER_HOST, record.scanCount);
    yield { ...record, history };
  }
}
