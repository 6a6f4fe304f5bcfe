/** The history of a host on SQLite. */
import { HISTORY_ROWS_PER_HOST, type HistoryRow, type HistoryStore } from '../contract/history.ts';
import { gradeFromText } from '../shared/stored-json.ts';
import type { SqliteContext } from './context.ts';
import type { Row } from './row.ts';

export function sqliteHistory(context: SqliteContext): HistoryStore {
  return {
    async list(host, limit = HISTORY_ROWS_PER_HOST) {
      return readHistory(context, host, limit, Number.MAX_SAFE_INTEGER);
    },
  };
}

/** Oldest first; only rows up to the given number, for a reader of an earlier state. */
export function readHistory(
  { connection }: SqliteContext,
  host: string,
  limit: number,
  upToSeq: number,
): readonly HistoryRow[] {
  const rows = connection.all(
    `SELECT scan_id, grade, score, scanned_at_ms, checks_version FROM history
     WHERE host = ? AND seq <= ? ORDER BY scanned_at_ms DESC, scan_id DESC LIMIT ?`,
    host,
    upToSeq,
    Math.min(limit, HISTORY_ROWS_PER_HOST),
  );
  return rows.map(toHistoryRow).reverse();
}

function toHistoryRow(row: Row): HistoryRow {
  return {
    scanId: row.text('scan_id'),
    grade: gradeFromText(row.text('grade')),
    score: row.integer('score'),
    scannedAtMs: row.integer('scanned_at_ms'),
    checksVersion: row.text('checks_version'),
  };
}
