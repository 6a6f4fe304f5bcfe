/** Scan results and unpaid scans on SQLite. */
import type { ScanResult, ScanResultStore } from '../contract/results.ts';
import { objectFromStoredJson, toStoredJson } from '../shared/stored-json.ts';
import type { SqliteContext } from './context.ts';
import type { Row } from './row.ts';

export function sqliteResults({ connection, now }: SqliteContext): ScanResultStore {
  return {
    async save({ scanId, host, scannedAtMs, submittedUrl, report }) {
      connection.run(
        `INSERT INTO results (scan_id, host, scanned_at_ms, submitted_url, report)
         VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
        scanId,
        host,
        scannedAtMs,
        submittedUrl,
        toStoredJson(report, `the report of ${host}`),
      );
    },

    async byScan(scanId) {
      return toResult(connection.get('SELECT * FROM results WHERE scan_id = ?', scanId));
    },

    async waiting(host, sinceMs) {
      const row = connection.get(
        `SELECT * FROM results WHERE host = ? AND scanned_at_ms >= ?
           AND NOT EXISTS (SELECT 1 FROM changes WHERE changes.scan_id = results.scan_id)
         ORDER BY scanned_at_ms DESC, scan_id DESC LIMIT 1`,
        host,
        sinceMs,
      );
      return toResult(row);
    },

    async published(host) {
      const row = connection.get(
        `SELECT results.* FROM records JOIN results ON results.scan_id = records.scan_id
         WHERE records.host = ?`,
        host,
      );
      return toResult(row);
    },

    async noteUnpaid({ payer, scanId, host, isDebt }) {
      connection.run(
        `INSERT INTO unpaid (payer, scan_id, host, is_debt, at_ms) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET is_debt = 1, at_ms = excluded.at_ms
         WHERE unpaid.is_debt = 0 AND excluded.is_debt = 1`,
        payer,
        scanId,
        host,
        isDebt ? 1 : 0,
        now(),
      );
    },

    async clearUnpaid({ payer, scanId }) {
      connection.run('DELETE FROM unpaid WHERE payer = ? AND scan_id = ?', payer, scanId);
    },

    async unpaid(payer, sinceMs) {
      const rows = connection.all(
        `SELECT scan_id, host, is_debt, at_ms FROM unpaid WHERE payer = ? AND at_ms >= ?
         ORDER BY at_ms DESC`,
        payer,
        sinceMs,
      );
      return rows.map((row) => ({
        scanId: row.text('scan_id'),
        host: row.text('host'),
        isDebt: row.integer('is_debt') === 1,
        atMs: row.integer('at_ms'),
      }));
    },
  };
}

function toResult(row: Row | null): ScanResult | null {
  if (!row) return null;
  return {
    scanId: row.text('scan_id'),
    host: row.text('host'),
    scannedAtMs: row.integer('scanned_at_ms'),
    submittedUrl: row.text('submitted_url'),
    report: objectFromStoredJson(row.text('report')),
  };
}
