import { HISTORY_ROWS_PER_HOST, type HistoryRow, type HistoryStore } from '../contract/history.ts';
import type { StoreContext } from './context.ts';
import type { HistoryTableRow } from './rows.ts';

export function historyOn({ tables }: StoreContext): HistoryStore {
  return {
    async list(host, limit = HISTORY_ROWS_PER_HOST) {
      const rows = await tables.history.all(
        { host },
        {
          order: [
            ['scannedAtMs', 'desc'],
            ['scanId', 'desc'],
          ],
          limit: Math.min(limit, HISTORY_ROWS_PER_HOST),
        },
      );
      return rows.map(toHistoryRow).reverse();
    },
  };
}

export function toHistoryRow(row: HistoryTableRow): HistoryRow {
  const { scanId, grade, score, scannedAtMs, checksVersion } = row;
  return { scanId, grade, score, scannedAtMs, checksVersion };
}
