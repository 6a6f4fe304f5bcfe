/** Packed reports on SQLite: of results, and of the answers that repeat them. */
import { unpackReport } from '../shared/packing.ts';
import { RETENTION_MS } from '../shared/retention.ts';
import type { SqliteContext } from './context.ts';

/**
 * The report that a new answer may refer to; null where its result is about to be purged, and the
 * report with it.
 */
export async function findReferableReport(
  { connection, now }: SqliteContext,
  scanId: string,
): Promise<Uint8Array | null> {
  const row = connection.get(
    `SELECT report FROM reports JOIN results USING (scan_id)
     WHERE scan_id = ? AND results.scanned_at_ms > ?`,
    scanId,
    now() - RETENTION_MS.result,
  );
  return row && (await unpackReport(row.bytes('report')));
}

/** Null where there is none. */
export async function findReport(
  { connection }: SqliteContext,
  scanId: string,
): Promise<Uint8Array | null> {
  const row = connection.get('SELECT report FROM reports WHERE scan_id = ?', scanId);
  return row && (await unpackReport(row.bytes('report')));
}
