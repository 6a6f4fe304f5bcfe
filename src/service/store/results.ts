import { randomUUID } from 'node:crypto';
import type { JsonObject, JsonValue } from '../../scanner/model/json.ts';
import { toCensusMembers } from './census.ts';
import { announce, HostHistory, requireNewestScan } from './changes.ts';
import { RETENTION_MS, type StoreContext } from './context.ts';
import { HISTORY_ROWS_PER_HOST } from './directory.ts';
import { findShownRecord } from './exclusions.ts';
import {
  type PublishedScan,
  publishedScanFromJson,
  publishedScanToJson,
  toScanMembers,
} from './published-scan.ts';
import { insertHostDay, type Tally } from './statistics.ts';
import {
  fromStoredJson,
  objectFromStoredJson,
  pack,
  toStoredJson,
  unpack,
} from './stored-values.ts';
import { orderByScan, waitJitter } from './table.ts';
import type { Row } from './tables.ts';

export type ScanResult = Row<'results'> & {
  /** The whole report with the results of all checks, at most 8 MiB as JSON. */
  readonly report: JsonObject;
};

export type StoredRecording = {
  /** JSON; null if it is too large to be kept. */
  readonly text: string | null;
};

/**
 * Finished scans with the results of all checks. A result is private until `Store.publish` publishes its scan. Then it
 * is the host's current report until a newer scan is published. It is purged after 24 h, or after the last payment that
 * names its scan has finished, whichever is later.
 */
export function createResultStore(context: StoreContext) {
  const { tables, now } = context;
  const { results, reports, recordings, changes, unpaid } = tables;

  async function toResult(row: Row<'results'> | null): Promise<ScanResult | null> {
    if (row === null) return null;
    const json = await findReport(context, row.scanId);
    if (json === null) return null;
    return { ...row, report: objectFromStoredJson(Buffer.from(json).toString()) };
  }

  return {
    /** Stores a result, unless a result with the same scan id is stored. */
    async save({ scanId, host, scannedAtMs, submittedUrl, report }: ScanResult): Promise<void> {
      const packed = await pack(toStoredJson(report, `the report of ${host}`));
      // The report is stored first, so that every stored result has a report.
      await reports.insert({ scanId, scannedAtMs, report: packed });
      await results.insert({ scanId, host, scannedAtMs, submittedUrl });
    },

    async findByScan(scanId: string): Promise<ScanResult | null> {
      return toResult(await results.get(scanId));
    },

    /** Keeps the recording of a scan for an hour, unless a recording with the same scan id is stored. */
    async keepRecording(scanId: string, { text }: StoredRecording): Promise<void> {
      const recording = text === null ? null : await pack(text);
      await recordings.insert({ scanId, keptAtMs: now(), recording });
    },

    /** Returns null if the recording was not kept, or was purged. */
    async findRecording(scanId: string): Promise<StoredRecording | null> {
      const row = await recordings.get(scanId);
      if (row === null) return null;
      const { recording } = row;
      return { text: recording && (await unpack(recording)).toString() };
    },

    /** Finds the newest unpublished result since `sinceMs`. A caller that disconnected or got 504 may pay for it. */
    async findUnpublished(host: string, sinceMs: number): Promise<ScanResult | null> {
      const whereRecent = { host, scannedAtMs: { from: sinceMs } };
      const rows = await results.all(whereRecent, { order: orderByScan('desc') });
      if (rows.length === 0) return null;
      const published = await changes.all({ scanId: { in: rows.map((row) => row.scanId) } });
      const publishedIds = new Set(published.map((change) => change.scanId));
      return toResult(rows.find((row) => !publishedIds.has(row.scanId)) ?? null);
    },

    /** Finds the result of the host's newest published scan, however old; null if there is none or it was purged. */
    async findPublished(host: string) {
      const record = await findShownRecord(context, host);
      if (record === null) return null;
      const result = await toResult(await results.get(record.scanId));
      return result && { ...result, paidBy: publishedScanFromJson(record.scan).paidBy ?? 'payer' };
    },

    /** Marks a scan as unpaid. A second call may make the mark a debt, which renews `atMs`. A debt stays a debt. */
    async noteUnpaid(mark: Omit<Row<'unpaid'>, 'atMs'>): Promise<void> {
      const { payer, scanId, host, isDebt } = mark;
      const atMs = now();
      const isNew = await unpaid.insert({ payer, scanId, host, isDebt, atMs });
      if (isNew || !isDebt) return;
      await unpaid.set({ payer, scanId }, { isDebt, atMs }, { isDebt: false });
    },

    async clearUnpaid({ payer, scanId }: Pick<Row<'unpaid'>, 'payer' | 'scanId'>): Promise<void> {
      await unpaid.remove({ payer, scanId });
    },

    /** Finds the marks of this payer since `sinceMs`, newest first. A mark is kept for 24 h. */
    async findUnpaid(payer: string, sinceMs: number): Promise<readonly Row<'unpaid'>[]> {
      return unpaid.all({ payer, atMs: { from: sinceMs } }, { order: [['atMs', 'desc']] });
    },
  };
}

/** Finds the report to which a new answer may refer; null if the report is so old that a purge may remove it. */
export async function findReferableReport(
  context: StoreContext,
  scanId: string,
): Promise<Uint8Array | null> {
  const result = await context.tables.results.get(scanId);
  const isKept = result !== null && result.scannedAtMs > context.now() - RETENTION_MS.result;
  return isKept ? findReport(context, scanId) : null;
}

/** Reads the JSON of a report; null if it was purged. */
export async function findReport(
  { tables }: StoreContext,
  scanId: string,
): Promise<Uint8Array | null> {
  const row = await tables.reports.get(scanId);
  return row && (await unpack(row.report));
}

type EcosystemSnapshot = Omit<Row<'snapshots'>, 'data'> & {
  /** At most 8 MiB as JSON; otherwise `put` rejects `too_large`. */
  readonly data: JsonValue;
};

/** The last valid answers of indexes and other third parties. */
export function createSnapshotStore({ tables: { snapshots } }: StoreContext) {
  return {
    /** Stores a snapshot for 90 days, unless a newer one of the same source and key is stored. */
    async put({ source, key, takenAtMs, data: value }: EcosystemSnapshot): Promise<void> {
      const data = toStoredJson(value, `the snapshot ${source} ${key}`);
      if (await snapshots.insert({ source, key, takenAtMs, data })) return;
      const whereOlder = { takenAtMs: { upTo: takenAtMs } };
      await snapshots.set({ source, key }, { takenAtMs, data }, whereOlder);
    },

    async get(source: string, key: string): Promise<EcosystemSnapshot | null> {
      const row = await snapshots.get(source, key);
      return row && { source, key, takenAtMs: row.takenAtMs, data: fromStoredJson(row.data) };
    },
  };
}

/** Each step inserts a row that is unique for the scan, or rebuilds one, so any instance may run all steps again. */
export async function publishScan(
  context: StoreContext,
  scan: PublishedScan,
  tally?: Tally,
): Promise<void> {
  const { tables, now } = context;
  const { host, scanId } = scan;
  const history = await HostHistory.read(context, host);
  // A long history loses its oldest rows, and this scan's row may be among them. Changes are never removed.
  const isLong = history.seq >= HISTORY_ROWS_PER_HOST;
  if (isLong && (await tables.changes.first({ scanId }))) return;
  // A host that never answered a scan is neither listed nor counted.
  const isReached = history.reached || scan.reached !== false;
  if (tally !== undefined && isReached) await insertHostDay(context, scan, tally);
  const previousSeq = history.seq;
  await insertHistory(context, history, scan);
  await rebuildRecord(context, history);
  const isQuiet = scan.paidBy === 'census';
  await announce(context, history, { scanId, isListing: false, isQuiet });
  if (isLong) {
    await tables.history.remove({ host, seq: { upTo: history.seq - HISTORY_ROWS_PER_HOST } });
  }
  // The record includes the scans of earlier rows. No publication takes an hour, so nobody still reads such a scan.
  const olderThanAnHour = { scannedAtMs: { before: now() - RETENTION_MS.historyScan } };
  await tables.history.set({ host, seq: previousSeq }, { scan: null }, olderThanAnHour);
}

/** Inserts the scan with the next number into the history of its host, unless the scan has a row. */
async function insertHistory(
  { tables }: StoreContext,
  history: HostHistory,
  scan: PublishedScan,
): Promise<void> {
  const { scanId, host, scannedAtMs, grade, score, checksVersion, payableBy } = scan;
  const attempt = randomUUID();
  const paidBy = scan.paidBy === 'census' ? scan.paidBy : null;
  const { scannerVersion = null } = scan;
  const verdict = { grade, score, checksVersion, scannerVersion, payableBy };
  const facts = { scanId, scannedAtMs, ...verdict, paidBy };
  for (;;) {
    const seq = history.seq + 1;
    const row = { ...facts, host, seq, attempt, scan: publishedScanToJson(scan) };
    const outcome = await tables.history.insertContended(row);
    await history.readNewRows();
    if (outcome === 'won') return;
    // The insert was lost because another scan took the number, or because this scan has a row already.
    if (await tables.history.first({ scanId })) return;
    await waitJitter();
  }
}

/** Rewrites the record until no row was added meanwhile: of several writers, the last one has read all rows. */
async function rebuildRecord({ tables }: StoreContext, history: HostHistory): Promise<void> {
  do {
    const { seq, firstSeenAtMs, reached, newestPaidScan } = history;
    const newestScan = requireNewestScan(history);
    const { host } = newestScan;
    const paidScan = newestPaidScan && publishedScanToJson(newestPaidScan);
    const scanMembers = toScanMembers(newestScan, paidScan);
    const members = { ...scanMembers, firstSeenAtMs, scanCount: seq, reached };
    const censusMembers = toCensusMembers(await tables.census.get(host));
    const isNew = await tables.records.insert({ host, ...members, ...censusMembers });
    if (!isNew) await tables.records.set({ host }, members);
  } while (await history.readNewRows());
}
