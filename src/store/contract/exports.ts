import type { DirectoryRecord } from './directory.ts';
import type { HistoryRow } from './history.ts';

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
