/** Scan results and unpaid scans on SQLite. */
import type { ScanResult, ScanResultStore } from '../contract/results.ts';
import { packReport, unpackReport } from '../shared/packing.ts';
import { objectFromStoredJson, toStoredJson } from '../shared/stored-json.ts';
import type { SqliteContext } from './context.ts';
import type { Row } from './row.ts';

const RESULT = `SELECT results.*, reports.report
  FROM results JOIN reports ON reports.scan_id = results.scan_id`;

export function sqliteResults({ connection, now }: SqliteContext): ScanResultStore {
  return {
    async save({ scanId, host, scannedAtMs, submittedUrl, report }) {
      const packed = await packReport(toStoredJson(report, `the report of ${host}`));
      connection.transaction(() => {
        connection.run(
          `INSERT INTO reports (scan_id, scanned_at_ms, report) VALUES (?, ?, ?)
           ON CONFLICT DO NOTHING`,
          scanId,
          scannedAtMs,
          packed,
        );
        connection.run(
          `INSERT INTO results (scan_id, host, scanned_at_ms, submitted_url)
           VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`,
          scanId,
          host,
          scannedAtMs,
          submittedUrl,
        );
      });
    },

    async byScan(scanId) {
      return toResult(connection.get(`${RESULT} WHERE results.scan_id = ?`, scanId));
    },

    async waiting(host, sinceMs) {
      const row = connection.get(
        `${RESULT} WHERE results.host = ? AND results.scanned_at_ms >= ?
           AND NOT EXISTS (SELECT 1 FROM changes WHERE changes.scan_id = results.scan_id)
         ORDER BY results.scanned_at_ms DESC, results.scan_id DESC LIMIT 1`,
        host,
        sinceMs,
      );
      return toResult(row);
    },

    async published(host) {
      const row = connection.get(
        `${RESULT} JOIN records ON records.scan_id = results.scan_id WHERE records.host = ?`,
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

async function toResult(row: Row | null): Promise<ScanResult | null> {
  if (!row) return null;
  const json = await unpackReport(row.bytes('report'));
  return {
    scanId: row.text('scan_id'),
    host: row.text('host'),
    scannedAtMs: row.integer('scanned_at_ms'),
    submittedUrl: row.text('submitted_url'),
    report: objectFromStoredJson(json.toString()),
  };
}
