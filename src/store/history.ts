import type { PayableState } from '../model/payability.ts';
import type { Grade } from '../model/report.ts';
import type { StoreContext } from './context.ts';
import { type DirectoryRecord, readListed } from './directory.ts';
import { byScan } from './table.ts';
import type { Row } from './tables.ts';

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

/** Hosts whose history is read together: up to 400 rows each. */
const HISTORY_BATCH = 25;

/** Published scans of a host, the newest 400 of them. */
export function historyOn({ tables }: StoreContext) {
  return {
    /** Oldest first; the newest `limit` rows (default and maximum 400). */
    async list(
      host: string,
      limit: number = HISTORY_ROWS_PER_HOST,
    ): Promise<readonly HistoryRow[]> {
      const newest = { order: byScan('desc'), limit: Math.min(limit, HISTORY_ROWS_PER_HOST) };
      const rows = await tables.history.all({ host }, newest);
      return rows.map(toHistoryRow).reverse();
    },
  };
}

/** Reads a consistent snapshot of the directory, without opted-out hosts. */
export function exportsOn(context: StoreContext) {
  return {
    /** Newest scan first, at most `limit` records. */
    async snapshot(limit: number): Promise<ExportSnapshot> {
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
