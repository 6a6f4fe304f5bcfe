/** Snapshots of the whole directory on MongoDB. */
import type { DirectoryRecord } from '../contract/directory.ts';
import type { ExportRecord, ExportStore } from '../contract/exports.ts';
import { HISTORY_ROWS_PER_HOST } from '../contract/history.ts';
import type { MongoContext } from './context.ts';
import { listedOnly, notIn } from './directory.ts';
import type { RecordDocument } from './documents.ts';
import { toHistoryRow } from './history.ts';
import { optedOutHosts } from './owner-preferences.ts';

const RECORDS_BATCH = 500;
/** Hosts whose history is read together: up to 400 rows each. */
const HISTORY_BATCH = 25;

export function mongoExports(context: MongoContext): ExportStore {
  return {
    async snapshot(limit) {
      const hosts = await hostsByRecency(context);
      const records = await readRecords(context, hosts.slice(0, limit));
      return {
        count: records.length,
        truncated: hosts.length > limit,
        exportedAtMs: context.now(),
        records: withHistory(context, records),
      };
    },
  };
}

/**
 * Read in the order of `_id`, which never changes, and sorted here: a cursor in the order of time
 * would pass by a host that is scanned anew meanwhile.
 */
async function hostsByRecency(context: MongoContext): Promise<readonly string[]> {
  const filter = notIn(await optedOutHosts(context));
  const projection = { scannedAtMs: 1 };
  const found = await context.records.all(filter, { sort: { _id: 1 }, projection });
  return found
    .toSorted((a, b) => b.scannedAtMs - a.scannedAtMs || (a._id < b._id ? -1 : 1))
    .map((record) => record._id);
}

/** All at once, so that the snapshot is of one moment and not of the whole time of streaming. */
async function readRecords(
  context: MongoContext,
  hosts: readonly string[],
): Promise<readonly DirectoryRecord[]> {
  const found = new Map<string, RecordDocument>();
  for (let at = 0; at < hosts.length; at += RECORDS_BATCH) {
    const ids = hosts.slice(at, at + RECORDS_BATCH);
    const rows = await context.records.all({ _id: { $in: ids } });
    for (const row of rows) found.set(row._id, row);
  }
  const inOrder = hosts.map((host) => found.get(host)).filter((row) => row !== undefined);
  return listedOnly(context, inOrder);
}

async function* withHistory(
  { history }: MongoContext,
  records: readonly DirectoryRecord[],
): AsyncGenerator<ExportRecord> {
  for (let at = 0; at < records.length; at += HISTORY_BATCH) {
    const batch = records.slice(at, at + HISTORY_BATCH);
    const hosts = batch.map((record) => record.host);
    const rows = await history.all(
      { host: { $in: hosts } },
      { sort: { scannedAtMs: 1, scanId: 1 }, projection: { scan: 0 } },
    );
    const byHost = Map.groupBy(rows, (row) => row.host);
    for (const record of batch) {
      const upToThen = (byHost.get(record.host) ?? []).filter(({ seq }) => seq <= record.scanCount);
      yield { ...record, history: upToThen.slice(-HISTORY_ROWS_PER_HOST).map(toHistoryRow) };
    }
  }
}
