import type { PayableState } from '../../model/payability.ts';
import type { Grade } from '../../model/report.ts';

/** Rows of history that are kept of a host. */
export const HISTORY_ROWS_PER_HOST = 400;

export type HistoryRow = {
  readonly scanId: string;
  readonly grade: Grade;
  readonly score: number;
  readonly scannedAtMs: number;
  readonly checksVersion: string;
  /** Absent in rows that an older release wrote. */
  readonly payableBy?: PayableState | undefined;
};

/** Published scans of a host, the newest 400 of them. */
export type HistoryStore = {
  /** Oldest first; the newest `limit` rows (default and maximum 400). */
  list(host: string, limit?: number): Promise<readonly HistoryRow[]>;
};
