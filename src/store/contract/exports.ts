import type { DirectoryRecord } from './directory.ts';
import type { HistoryRow } from './history.ts';

/** A record and all its history, oldest first. */
export type ExportRecord = DirectoryRecord & {
  readonly history: readonly HistoryRow[];
};

export type ExportSnapshot = {
  /** Records that `records` will yield. */
  readonly count: number;
  /** True: the directory has more than the limit; those scanned most recently are included. */
  readonly truncated: boolean;
  readonly exportedAtMs: number;
  /** Read in batches; what is published after the snapshot was taken does not show. Once only. */
  readonly records: AsyncIterable<ExportRecord>;
};

/** The whole directory in one consistent piece, opted-out hosts left out. */
export type ExportStore = {
  /** Newest scan first, at most `limit` records. */
  snapshot(limit: number): Promise<ExportSnapshot>;
};
