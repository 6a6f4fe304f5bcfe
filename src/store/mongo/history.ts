/** The history of a host on MongoDB. */
import { HISTORY_ROWS_PER_HOST, type HistoryRow, type HistoryStore } from '../contract/history.ts';
import type { MongoContext } from './context.ts';
import type { HistoryDocument } from './documents.ts';

export function mongoHistory({ history }: MongoContext): HistoryStore {
  return {
    async list(host, limit = HISTORY_ROWS_PER_HOST) {
      const rows = await history.all(
        { host },
        {
          sort: { scannedAtMs: -1, scanId: -1 },
          limit: Math.min(limit, HISTORY_ROWS_PER_HOST),
          projection: { scan: 0 },
        },
      );
      return rows.map(toHistoryRow).reverse();
    },
  };
}

export function toHistoryRow({
  scanId,
  grade,
  score,
  scannedAtMs,
  checksVersion,
}: HistoryDocument): HistoryRow {
  return { scanId, grade, score, scannedAtMs, checksVersion };
}
