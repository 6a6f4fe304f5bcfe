import type { PayableState } from '../../model/payability.ts';
import type { Grade } from '../../model/report.ts';
import type { DirectoryRecord } from './directory.ts';

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

/** A record and all its history, oldest first. */
export type ExportRecord = DirectoryRecord & {
  readonly history: readonly HistoryRow[];
};

export type ExportSnapshot = {
  /** Number of `records`. */
  readonly count: number;
  /** True where the directory has more records than the limit; the most recently scanned are included. */
  readonly truncated: boolean;
  readonly exportedAtMs: number;
  /** Can be iterated once. Read in batches; later publications are left out. */
  readonly records: AsyncIterable<ExportRecord>;
};

/** Reads a consistent snapshot of the directory, without opted-out hosts. */
export type ExportStore = {
  /** Newest scan first, at most `limit` records. */
  snapshot(limit: number): Promise<ExportSnapshot>;
};
