/** Publication of a scan: history, record, change on SQLite. */
import { HISTORY_ROWS_PER_HOST } from '../contract/history.ts';
import type { PublishedScan } from '../contract/published-scan.ts';
import { nextChange } from '../shared/changes.ts';
import { publishedScanFromJson, publishedScanToJson } from '../shared/published-scan.ts';
import { gradeFromText } from '../shared/stored-json.ts';
import type { SqliteContext } from './context.ts';

/** History row, record and change in one transaction; nothing is left to do a second time. */
export function publishToSqlite(context: SqliteContext, scan: PublishedScan): void {
  const { connection } = context;
  connection.transaction(() => {
    if (connection.get('SELECT n FROM changes WHERE scan_id = ?', scan.scanId)) return;
    const known = readRecord(context, scan.host);
    const seq = (known?.scanCount ?? 0) + 1;
    insertHistory(context, scan, seq);
    const current = known && !isNewer(scan, known.scan) ? known.scan : scan;
    const firstSeenAtMs = Math.min(known?.firstSeenAtMs ?? scan.scannedAtMs, scan.scannedAtMs);
    writeRecord(context, { scan: current, firstSeenAtMs, scanCount: seq });
    insertChange(context, scan.scanId, current);
  });
}

type StoredRecord = {
  /** The one with the greatest time of all that were published. */
  readonly scan: PublishedScan;
  readonly firstSeenAtMs: number;
  readonly scanCount: number;
};

function readRecord({ connection }: SqliteContext, host: string): StoredRecord | null {
  const row = connection.get(
    'SELECT scan, first_seen_at_ms, scan_count FROM records WHERE host = ?',
    host,
  );
  return (
    row && {
      scan: publishedScanFromJson(row.text('scan')),
      firstSeenAtMs: row.integer('first_seen_at_ms'),
      scanCount: row.integer('scan_count'),
    }
  );
}

/** Sorts by time, and by id where two scans ended in one millisecond. */
function isNewer(a: PublishedScan, b: PublishedScan): boolean {
  if (a.scannedAtMs !== b.scannedAtMs) return a.scannedAtMs > b.scannedAtMs;
  return a.scanId > b.scanId;
}

function insertHistory({ connection }: SqliteContext, scan: PublishedScan, seq: number): void {
  connection.run(
    `INSERT INTO history (host, seq, scan_id, scanned_at_ms, grade, score, checks_version)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
    scan.host,
    seq,
    scan.scanId,
    scan.scannedAtMs,
    scan.grade,
    scan.score,
    scan.checksVersion,
  );
  connection.run(
    'DELETE FROM history WHERE host = ? AND seq <= ?',
    scan.host,
    seq - HISTORY_ROWS_PER_HOST,
  );
}

function writeRecord(
  { connection }: SqliteContext,
  { scan, firstSeenAtMs, scanCount }: StoredRecord,
): void {
  connection.run(
    `INSERT INTO records (host, scan_id, scanned_at_ms, grade, score, category, first_seen_at_ms,
       scan_count, scan) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (host) DO UPDATE SET scan_id = excluded.scan_id,
       scanned_at_ms = excluded.scanned_at_ms, grade = excluded.grade, score = excluded.score,
       category = excluded.category, first_seen_at_ms = excluded.first_seen_at_ms,
       scan_count = excluded.scan_count, scan = excluded.scan`,
    scan.host,
    scan.scanId,
    scan.scannedAtMs,
    scan.grade,
    scan.score,
    scan.branding.category,
    firstSeenAtMs,
    scanCount,
    publishedScanToJson(scan),
  );
}

function insertChange(
  { connection, now }: SqliteContext,
  scanId: string,
  current: PublishedScan,
): void {
  const tail = connection.get('SELECT n, changed_at_ms FROM changes ORDER BY n DESC LIMIT 1');
  const last = connection.get(
    'SELECT grade, score FROM changes WHERE host = ? ORDER BY n DESC LIMIT 1',
    current.host,
  );
  const change = nextChange({
    scanId,
    current,
    tail: tail && { n: tail.integer('n'), changedAtMs: tail.integer('changed_at_ms') },
    lastOfHost: last && {
      grade: gradeFromText(last.text('grade')),
      score: last.integer('score'),
    },
    nowMs: now(),
  });
  connection.run(
    `INSERT INTO changes (n, scan_id, change_type, changed_at_ms, host, grade, score,
       checks_version, previous_grade, previous_score) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    change.n,
    change.scanId,
    change.changeType,
    change.changedAtMs,
    change.host,
    change.grade,
    change.score,
    change.checksVersion,
    change.previousGrade ?? null,
    change.previousScore ?? null,
  );
}
