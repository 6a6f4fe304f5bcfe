import { HISTORY_ROWS_PER_HOST, type HistoryRow, type HistoryStore } from '../contract/history.ts';
import type { StoreContext } from './context.ts';
import { byScan } from './table.ts';
import type { Row } from './tables.ts';

export function historyOn({ tables }: StoreContext): HistoryStore {
  return {
    async list(host, limit = HISTORY_ROWS_PER_HOST) {
      const newest = { order: byScan('desc'), limit: Math.min(limit, HISTORY_ROWS_PER_HOST) };
      const rows = await tables.history.all({ host }, newest);
      return rows.map(toHistoryRow).reverse();
    },
  };
}

export function toHistoryRow(row: Row<'history'>): HistoryRow {
  const { scanId, grade, score, scannedAtMs, checksVersion, payableBy } = row;
  return { scanId, grade, score, scannedAtMs, checksVersion, ...(payableBy && { payableBy }) };
}
