import type { DirectoryRecord } from '../contract/directory.ts';
import type { ExportRecord, ExportStore, HistoryRow, HistoryStore } from '../contract/history.ts';
import { HISTORY_ROWS_PER_HOST } from '../contract/history.ts';
import type { StoreContext } from './context.ts';
import { readListed } from './directory.ts';
import { byScan } from './table.ts';
import type { Row } from './tables.ts';

/** Hosts whose history is read together: up to 400 rows each. */
const HISTORY_BATCH = 25;

export function historyOn({ tables }: StoreContext): HistoryStore {
  return {
    async list(host, limit = HISTORY_ROWS_PER_HOST) {
      const newest = { order: byScan('desc'), limit: Math.min(limit, HISTORY_ROWS_PER_HOST) };
      const rows = await tables.history.all({ host }, newest);
      return rows.map(toHistoryRow).reverse();
    },
  };
}

export function exportsOn(context: StoreContext): ExportStore {
  return {
    async snapshot(limit) {
      const hosts = await context.lists.hostsByRecency(limit + 1);
      // All records are read before streaming begins, so that the snapshot is of one moment.
      const records = await readListed(context, hosts.slice(0, limit));
      return {
        count: records.length,
        truncated: hosts.length > limit,
        exportedAtMs: context.now(),
        records: withHistory(context, records),
      };
    },
  };
}

async function* withHistory(
  { tables }: StoreContext,
  records: readonly DirectoryRecord[],
): AsyncGenerator<ExportRecord> {
  for (let at = 0; at < records.length; at += HISTORY_BATCH) {
    const batch = records.slice(at, at + HISTORY_BATCH);
    const host = { in: batch.map((record) => record.host) };
    const rows = await tables.history.all({ host }, { order: byScan('asc') });
    const byHost = Map.groupBy(rows, (row) => row.host);
    for (const record of batch) {
      // Rows that were added after the snapshot have greater numbers.
      const upToThen = (byHost.get(record.host) ?? []).filter(({ seq }) => seq <= record.scanCount);
      yield { ...record, history: upToThen.slice(-HISTORY_ROWS_PER_HOST).map(toHistoryRow) };
    }
  }
}

function toHistoryRow(row: Row<'history'>): HistoryRow {
  const { scanId, grade, score, scannedAtMs, checksVersion, payableBy } = row;
  return { scanId, grade, score, scannedAtMs, checksVersion, ...(payableBy && { payableBy }) };
}
